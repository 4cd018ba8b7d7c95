// SPDX-License-Identifier: MIT
// Defines the executorch dialect: the kernels of ExecuTorch's runtime, as ops.
#ifndef HEADRACE_DIALECT_EXECUTORCH_HPP
#define HEADRACE_DIALECT_EXECUTORCH_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>

namespace headrace::executorch {

struct dialect;

/// The element types that a kernel supports. `all`: uint8, int8 to int64, bool, float16 to float64 and
/// bfloat16.
enum class kernel_types : std::uint8_t {
    all,
    numbers,      ///< all except bool
    floats,       ///< for operand and result
    wide_floats,  ///< float32 and float64
    floats_or_int64,
    real_results,  ///< any operand if the result is float32, else as `floats`
    bits           ///< integers and bool
};

namespace detail {
template <class Op>
auto functional_form() {
    if constexpr (op_variant<Op>) {
        return std::type_identity<base_of<Op>>{};
    } else {
        return std::type_identity<Op>{};
    }
}
}  // namespace detail

/// The kernel that the runtime registers as `Name`, "namespace::op.overload". It takes the arguments of `Op`.
/// All kernels of the runtime write into tensors that they are given; here, those are the results. The kernel
/// for a view is that of the view's copying variant.
template <op_tag Op, fixed_string Name, kernel_types Types = kernel_types::all>
struct kernel {
    using functional = typename decltype(detail::functional_form<Op>())::type;
    using dialect_type = dialect;
    using args = headrace::args<Op>;
    static constexpr std::string_view name = Name.view();
    static constexpr std::string_view field_list = Op::field_list;
    static constexpr int results = Op::results;
    static constexpr std::uint64_t trait_bits = static_cast<std::uint64_t>(trait::variant | trait::synonym) |
        (functional::trait_bits & static_cast<std::uint64_t>(trait::impure));
    static constexpr std::string_view out_name{};
    static constexpr kernel_types types = Types;
    static constexpr auto variant_base() { return std::type_identity<functional>{}; }
};

/// Gives the elements of its operand a different shape. No kernel runs: both tensors have the same memory.
using reshape = kernel<aten::view, "executorch.reshape">;

/// Calls the delegate with index `number` in the program, whose backend takes `operands`. It replaces
/// delegate.call_delegate once the delegate's own graph has been lowered.
struct call_delegate : op<dialect, "executorch.call_delegate", "number, operands", variadic_results> {
    struct args {
        std::int64_t number;
        list<value> operands;
    };
};

/// The kernels of ExecuTorch 1.5 for ops of our dialects, from its portable, optimized and quantized
/// libraries. Copies that only change the shape are not listed.
using kernels = ops<kernel<aten::convolution, "aten::convolution.out", kernel_types::numbers>,
    kernel<aten::_adaptive_avg_pool2d, "aten::_adaptive_avg_pool2d.out", kernel_types::floats>,
    kernel<aten::avg_pool2d, "aten::avg_pool2d.out", kernel_types::floats_or_int64>,
    kernel<aten::max_pool2d_with_indices, "aten::max_pool2d_with_indices.out", kernel_types::numbers>,
    kernel<aten::addmm, "aten::addmm.out", kernel_types::numbers>,
    kernel<aten::bmm, "aten::bmm.out", kernel_types::numbers>,
    kernel<aten::linear, "aten::linear.out", kernel_types::numbers>,
    kernel<aten::mm, "aten::mm.out", kernel_types::numbers>,
    kernel<aten::_log_softmax, "aten::_log_softmax.out", kernel_types::floats>,
    kernel<aten::_softmax, "aten::_softmax.out", kernel_types::floats>,
    kernel<aten::_native_batch_norm_legit_no_stats, "aten::_native_batch_norm_legit.no_stats_out",
        kernel_types::floats>,
    kernel<aten::_native_batch_norm_legit_no_training, "aten::_native_batch_norm_legit_no_training.out",
        kernel_types::floats>,
    kernel<aten::native_group_norm, "aten::native_group_norm.out", kernel_types::floats>,
    kernel<aten::native_layer_norm, "aten::native_layer_norm.out", kernel_types::floats>,
    kernel<aten::elu, "aten::elu.out", kernel_types::floats>,
    kernel<aten::gelu, "aten::gelu.out", kernel_types::floats>,
    kernel<aten::glu, "aten::glu.out", kernel_types::floats>,
    kernel<aten::hardtanh, "aten::hardtanh.out", kernel_types::numbers>,
    kernel<aten::leaky_relu, "aten::leaky_relu.out", kernel_types::floats>,
    kernel<aten::logit, "aten::logit.out", kernel_types::wide_floats>,
    kernel<aten::relu, "aten::relu.out", kernel_types::numbers>,
    kernel<aten::sigmoid, "aten::sigmoid.out", kernel_types::real_results>,
    kernel<aten::tanh, "aten::tanh.out", kernel_types::real_results>,
    kernel<aten::abs, "aten::abs.out", kernel_types::numbers>,
    kernel<aten::acos, "aten::acos.out", kernel_types::real_results>,
    kernel<aten::acosh, "aten::acosh.out", kernel_types::real_results>,
    kernel<aten::asin, "aten::asin.out", kernel_types::real_results>,
    kernel<aten::asinh, "aten::asinh.out", kernel_types::real_results>,
    kernel<aten::atan, "aten::atan.out", kernel_types::real_results>,
    kernel<aten::atanh, "aten::atanh.out", kernel_types::real_results>, kernel<aten::ceil, "aten::ceil.out">,
    kernel<aten::cos, "aten::cos.out", kernel_types::real_results>,
    kernel<aten::cosh, "aten::cosh.out", kernel_types::real_results>,
    kernel<aten::erf, "aten::erf.out", kernel_types::real_results>,
    kernel<aten::exp, "aten::exp.out", kernel_types::real_results>,
    kernel<aten::expm1, "aten::expm1.out", kernel_types::real_results>,
    kernel<aten::floor, "aten::floor.out">, kernel<aten::isinf, "aten::isinf.out">,
    kernel<aten::isnan, "aten::isnan.out">, kernel<aten::log, "aten::log.out", kernel_types::real_results>,
    kernel<aten::log10, "aten::log10.out", kernel_types::real_results>,
    kernel<aten::log1p, "aten::log1p.out", kernel_types::real_results>,
    kernel<aten::log2, "aten::log2.out", kernel_types::real_results>,
    kernel<aten::neg, "aten::neg.out", kernel_types::numbers>,
    kernel<aten::reciprocal, "aten::reciprocal.out", kernel_types::real_results>,
    kernel<aten::round, "aten::round.out">,
    kernel<aten::rsqrt, "aten::rsqrt.out", kernel_types::real_results>, kernel<aten::sign, "aten::sign.out">,
    kernel<aten::sin, "aten::sin.out", kernel_types::real_results>,
    kernel<aten::sinh, "aten::sinh.out", kernel_types::real_results>,
    kernel<aten::sqrt, "aten::sqrt.out", kernel_types::real_results>,
    kernel<aten::tan, "aten::tan.out", kernel_types::real_results>, kernel<aten::trunc, "aten::trunc.out">,
    kernel<aten::add_scalar, "aten::add.Scalar_out">, kernel<aten::add_tensor, "aten::add.out">,
    kernel<aten::atan2, "aten::atan2.out", kernel_types::real_results>,
    kernel<aten::div_scalar, "aten::div.Scalar_out", kernel_types::real_results>,
    kernel<aten::div_scalar_mode, "aten::div.Scalar_mode_out">,
    kernel<aten::div_tensor, "aten::div.out", kernel_types::real_results>,
    kernel<aten::div_tensor_mode, "aten::div.out_mode">, kernel<aten::floor_divide, "aten::floor_divide.out">,
    kernel<aten::fmod_scalar, "aten::fmod.Scalar_out">, kernel<aten::fmod_tensor, "aten::fmod.Tensor_out">,
    kernel<aten::maximum, "aten::maximum.out">, kernel<aten::minimum, "aten::minimum.out">,
    kernel<aten::mul_scalar, "aten::mul.Scalar_out">, kernel<aten::mul_tensor, "aten::mul.out">,
    kernel<aten::pow_scalar, "aten::pow.Scalar_out", kernel_types::numbers>,
    kernel<aten::pow_tensor_scalar, "aten::pow.Tensor_Scalar_out", kernel_types::numbers>,
    kernel<aten::pow_tensor_tensor, "aten::pow.Tensor_Tensor_out", kernel_types::numbers>,
    kernel<aten::remainder_scalar, "aten::remainder.Scalar_out">,
    kernel<aten::remainder_tensor, "aten::remainder.Tensor_out">,
    kernel<aten::rsub_scalar, "aten::rsub.Scalar_out", kernel_types::numbers>,
    kernel<aten::sub_scalar, "aten::sub.Scalar_out", kernel_types::numbers>,
    kernel<aten::sub_tensor, "aten::sub.out", kernel_types::numbers>,
    kernel<aten::clamp, "aten::clamp.out", kernel_types::numbers>,
    kernel<aten::clamp_tensor, "aten::clamp.Tensor_out">, kernel<aten::eq_scalar, "aten::eq.Scalar_out">,
    kernel<aten::eq_tensor, "aten::eq.Tensor_out">, kernel<aten::ge_scalar, "aten::ge.Scalar_out">,
    kernel<aten::ge_tensor, "aten::ge.Tensor_out">, kernel<aten::gt_scalar, "aten::gt.Scalar_out">,
    kernel<aten::gt_tensor, "aten::gt.Tensor_out">, kernel<aten::le_scalar, "aten::le.Scalar_out">,
    kernel<aten::le_tensor, "aten::le.Tensor_out">, kernel<aten::lt_scalar, "aten::lt.Scalar_out">,
    kernel<aten::lt_tensor, "aten::lt.Tensor_out">, kernel<aten::ne_scalar, "aten::ne.Scalar_out">,
    kernel<aten::ne_tensor, "aten::ne.Tensor_out">,
    kernel<aten::bitwise_and_scalar, "aten::bitwise_and.Scalar_out", kernel_types::bits>,
    kernel<aten::bitwise_and_tensor, "aten::bitwise_and.Tensor_out", kernel_types::bits>,
    kernel<aten::bitwise_left_shift_tensor, "aten::bitwise_left_shift.Tensor_out">,
    kernel<aten::bitwise_left_shift_tensor_scalar, "aten::bitwise_left_shift.Tensor_Scalar_out">,
    kernel<aten::bitwise_not, "aten::bitwise_not.out", kernel_types::bits>,
    kernel<aten::bitwise_or_scalar, "aten::bitwise_or.Scalar_out", kernel_types::bits>,
    kernel<aten::bitwise_or_tensor, "aten::bitwise_or.Tensor_out", kernel_types::bits>,
    kernel<aten::bitwise_right_shift_tensor, "aten::bitwise_right_shift.Tensor_out">,
    kernel<aten::bitwise_right_shift_tensor_scalar, "aten::bitwise_right_shift.Tensor_Scalar_out">,
    kernel<aten::bitwise_xor_scalar, "aten::bitwise_xor.Scalar_out", kernel_types::bits>,
    kernel<aten::bitwise_xor_tensor, "aten::bitwise_xor.Tensor_out", kernel_types::bits>,
    kernel<aten::logical_and, "aten::logical_and.out">, kernel<aten::logical_not, "aten::logical_not.out">,
    kernel<aten::logical_or, "aten::logical_or.out">, kernel<aten::logical_xor, "aten::logical_xor.out">,
    kernel<aten::amax, "aten::amax.out">, kernel<aten::amin, "aten::amin.out">,
    kernel<aten::any, "aten::any.all_out">, kernel<aten::any_dim, "aten::any.out">,
    kernel<aten::any_dims, "aten::any.dims_out">, kernel<aten::prod, "aten::prod.out">,
    kernel<aten::argmax, "aten::argmax.out", kernel_types::numbers>,
    kernel<aten::argmin, "aten::argmin.out", kernel_types::numbers>, kernel<aten::cumsum, "aten::cumsum.out">,
    kernel<aten::topk, "aten::topk.values", kernel_types::numbers>, kernel<aten::max, "aten::max.unary_out">,
    kernel<aten::max_dim, "aten::max.dim_max">,
    kernel<aten::mean, "aten::mean.dtype_out", kernel_types::floats>,
    kernel<aten::mean_dim, "aten::mean.out", kernel_types::floats>, kernel<aten::min, "aten::min.unary_out">,
    kernel<aten::min_dim, "aten::min.dim_min">, kernel<aten::prod_dim_int, "aten::prod.int_out">,
    kernel<aten::sum_dim_intlist, "aten::sum.IntList_out">,
    kernel<aten::var_correction, "aten::var.correction_out", kernel_types::floats>,
    kernel<aten::var_dim, "aten::var.out", kernel_types::floats>,
    kernel<aten::var_mean_correction, "aten::var_mean.correction_out", kernel_types::floats>,
    kernel<aten::expand_copy, "aten::expand_copy.out">, kernel<aten::narrow_copy, "aten::narrow_copy.out">,
    kernel<aten::permute_copy, "aten::permute_copy.out">,
    kernel<aten::select_copy_int, "aten::select_copy.int_out">,
    kernel<aten::slice_copy_tensor, "aten::slice_copy.Tensor_out">,
    kernel<aten::transpose_copy_int, "aten::transpose_copy.int_out">,
    kernel<aten::unfold_copy, "aten::unfold_copy.out">,
    kernel<aten::split_copy_tensor, "aten::split_copy.Tensor_out">,
    kernel<aten::split_with_sizes_copy, "aten::split_with_sizes_copy.out">,
    kernel<aten::unbind_copy_int, "aten::unbind_copy.int_out">, kernel<aten::cat, "aten::cat.out">,
    kernel<aten::flip, "aten::flip.out">, kernel<aten::pixel_shuffle, "aten::pixel_shuffle.out">,
    kernel<aten::pixel_unshuffle, "aten::pixel_unshuffle.out">, kernel<aten::repeat, "aten::repeat.out">,
    kernel<aten::roll, "aten::roll.out">, kernel<aten::stack, "aten::stack.out">,
    kernel<aten::tril, "aten::tril.out">, kernel<aten::constant_pad_nd, "aten::constant_pad_nd.out">,
    kernel<aten::reflection_pad1d, "aten::reflection_pad1d.out">,
    kernel<aten::reflection_pad2d, "aten::reflection_pad2d.out">,
    kernel<aten::reflection_pad3d, "aten::reflection_pad3d.out">,
    kernel<aten::replication_pad1d, "aten::replication_pad1d.out">,
    kernel<aten::replication_pad2d, "aten::replication_pad2d.out">,
    kernel<aten::replication_pad3d, "aten::replication_pad3d.out">,
    kernel<aten::embedding, "aten::embedding.out">, kernel<aten::gather, "aten::gather.out">,
    kernel<aten::index_put, "aten::index_put.out">, kernel<aten::index_select, "aten::index_select.out">,
    kernel<aten::index_tensor, "aten::index.Tensor_out">,
    kernel<aten::masked_fill_scalar, "aten::masked_fill.Scalar_out">,
    kernel<aten::scatter_add, "aten::scatter_add.out">, kernel<aten::scatter_src, "aten::scatter.src_out">,
    kernel<aten::scatter_value, "aten::scatter.value_out">,
    kernel<aten::select_scatter, "aten::select_scatter.out">,
    kernel<aten::slice_scatter, "aten::slice_scatter.out">, kernel<aten::where_self, "aten::where.self_out">,
    kernel<aten::_cdist_forward, "aten::_cdist_forward.out", kernel_types::floats>,
    kernel<aten::masked_scatter, "aten::masked_scatter.out">,
    kernel<aten::repeat_interleave_tensor, "aten::repeat_interleave.Tensor_out">,
    kernel<aten::rand, "aten::rand.out", kernel_types::floats>,
    kernel<aten::randn, "aten::randn.out", kernel_types::floats>,
    kernel<aten::grid_sampler_2d, "aten::grid_sampler_2d.out", kernel_types::floats>,
    kernel<aten::upsample_bilinear2d_vec, "aten::upsample_bilinear2d.vec_out", kernel_types::numbers>,
    kernel<aten::upsample_nearest2d_vec, "aten::upsample_nearest2d.vec_out", kernel_types::numbers>,
    kernel<aten::arange_start_step, "aten::arange.start_out">, kernel<aten::full, "aten::full.out">,
    kernel<aten::fill_scalar, "aten::fill.Scalar_out">, kernel<aten::_to_copy, "aten::_to_copy.out">,
    kernel<quantized_decomposed::quantize_per_tensor, "quantized_decomposed::quantize_per_tensor.out">,
    kernel<quantized_decomposed::dequantize_per_tensor, "quantized_decomposed::dequantize_per_tensor.out">,
    kernel<quantized_decomposed::quantize_per_tensor_tensor,
        "quantized_decomposed::quantize_per_tensor.Tensor_out">,
    kernel<quantized_decomposed::dequantize_per_tensor_tensor,
        "quantized_decomposed::dequantize_per_tensor.Tensor_out">,
    kernel<quantized_decomposed::quantize_per_token, "quantized_decomposed::quantize_per_token.out">,
    kernel<quantized_decomposed::dequantize_per_token, "quantized_decomposed::dequantize_per_token.out">,
    kernel<quantized_decomposed::choose_qparams_tensor, "quantized_decomposed::choose_qparams.Tensor_out">,
    kernel<quantized_decomposed::choose_qparams_per_token_asymmetric,
        "quantized_decomposed::choose_qparams_per_token_asymmetric.out">,
    kernel<quantized_decomposed::quantize_per_channel, "quantized_decomposed::quantize_per_channel.out">,
    kernel<quantized_decomposed::dequantize_per_channel, "quantized_decomposed::dequantize_per_channel.out">>;

namespace detail {
template <class... Kernels>
dialect_of<"executorch", reshape, Kernels..., call_delegate> dialect_with(ops<Kernels...>);
}

struct dialect : decltype(detail::dialect_with(kernels{})) {
    static constexpr bool is_pure = true;
};

namespace detail {
template <class List>
struct functional_ops_of;
template <class... Kernels>
struct functional_ops_of<ops<Kernels...>> {
    using type = ops<typename Kernels::functional...>;
    static constexpr kernel_types types[sizeof...(Kernels)] = {Kernels::types...};
    static constexpr const op_info* from[sizeof...(Kernels)] = {&info_of<typename Kernels::functional>...};
};
}  // namespace detail

/// The ops that the kernels compute, in the order of the kernels.
using kernel_ops = typename detail::functional_ops_of<kernels>::type;

struct kernel_choice {
    const op_info* kernel = nullptr;  ///< null if the runtime has no kernel
    kernel_types types = kernel_types::all;
};

/// Returns the kernel for an op.
[[nodiscard]] constexpr kernel_choice kernel_for(const op_info& op) {
    using table = detail::functional_ops_of<kernels>;
    for (std::size_t i = 0; i != kernels::size; ++i) {
        if (table::from[i] == &op) return {op_table<dialect>[i + 1], table::types[i]};
    }
    return {};
}

/// Returns the op that a kernel computes, or the op itself if it is not a kernel.
[[nodiscard]] constexpr const op_info& functional_of(const op_info& op) {
    return op.dialect == &info_of_dialect<dialect> ? op.functional() : op;
}

}  // namespace headrace::executorch

#endif
