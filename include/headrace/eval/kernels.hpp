// SPDX-License-Identifier: MIT
// Declares the kernels of Headrace's ops: one list for each source that defines kernels.
#ifndef HEADRACE_EVAL_KERNELS_HPP
#define HEADRACE_EVAL_KERNELS_HPP

#include <array>
#include <span>
#include <type_traits>

#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>

#include <headrace/eval/evaluation.hpp>

namespace headrace::eval {

/// An op and its kernel.
struct kernel_entry {
    const op_info* op;
    evaluation_kernel kernel;
};
using kernel_list = std::span<const kernel_entry>;

namespace detail {

/// `Kernel` is a function object over the overloads of `evaluate` in one source.
template <class Kernel, class Op>
concept has_kernel = requires(const Kernel& kernel, const args<Op>& a, evaluation& e) { kernel(Op{}, a, e); };

template <class Kernel, op_tag Op>
void run_kernel(const void* arguments, evaluation& e) {
    Kernel()(Op{}, *static_cast<const args<Op>*>(arguments), e);
}

template <class Kernel>
struct has_kernel_of {
    template <class Op>
    using fn = std::bool_constant<has_kernel<Kernel, Op>>;
};
template <class Kernel, class... Ops>
consteval std::array<kernel_entry, sizeof...(Ops)> entries_for(ops<Ops...>) {
    return {kernel_entry{&info_of<Ops>, &run_kernel<Kernel, Ops>}...};
}
template <class Kernel, class Ops>
inline constexpr auto entries = entries_for<Kernel>(boost::mp11::mp_copy_if_q<Ops, has_kernel_of<Kernel>>{});

}  // namespace detail

/// Returns the kernels of the ops of some dialects that one source defines, as overloads of `evaluate` in its
/// unnamed namespace. `Kernel` is the type of a lambda there, so that each source has a list of its own:
///
///     constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
///         evaluate(op, a, e);
///     };
template <class... Dialects, class Kernel>
[[nodiscard]] consteval kernel_list kernels_of(Kernel) {
    return detail::entries<Kernel, boost::mp11::mp_append<typename Dialects::all_ops...>>;
}

extern const kernel_list aten_activation_kernels;
extern const kernel_list aten_binary_kernels;
extern const kernel_list aten_blocks_kernels;
extern const kernel_list aten_composite_kernels;
extern const kernel_list aten_conv_kernels;
extern const kernel_list aten_create_kernels;
extern const kernel_list aten_index_kernels;
extern const kernel_list aten_index_tensor_kernels;
extern const kernel_list aten_join_kernels;
extern const kernel_list aten_logic_kernels;
extern const kernel_list aten_matmul_kernels;
extern const kernel_list aten_norm_kernels;
extern const kernel_list aten_pool_kernels;
extern const kernel_list aten_recurrent_kernels;
extern const kernel_list aten_reduce_kernels;
extern const kernel_list aten_resize_kernels;
extern const kernel_list aten_softmax_kernels;
extern const kernel_list aten_unary_kernels;
extern const kernel_list aten_view_kernels;
extern const kernel_list builtin_kernels;
extern const kernel_list cortex_m_elementwise_kernels;
extern const kernel_list cortex_m_product_kernels;
extern const kernel_list cortex_m_window_kernels;
extern const kernel_list quantized_decomposed_kernels;
extern const kernel_list tosa_convert_kernels;
extern const kernel_list tosa_elementwise_kernels;
extern const kernel_list tosa_layout_kernels;
extern const kernel_list tosa_tensor_kernels;

/// Returns all of these lists. An op is in one of them at most; a variant that uses its base's kernel is in
/// none.
[[nodiscard]] std::span<const kernel_list* const> kernel_lists();

}  // namespace headrace::eval

#endif
