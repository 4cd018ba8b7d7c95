// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the elementwise functions of one tensor in aten, and the
// promotion that arithmetic shares with them.
#ifndef HEADRACE_INFER_ATEN_ELEMENTWISE_HPP
#define HEADRACE_INFER_ATEN_ELEMENTWISE_HPP

#include <concepts>
#include <cstdint>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

namespace aten {

/// Matches arithmetic on `self` and `other` whose dtypes alone determine the result's.
template <class Op>
concept takes_other = requires(const args<Op>& a) {
    { a.self } -> std::convertible_to<value>;
    a.other;
} && !requires(const args<Op>& a) { a.rounding_mode; };

/// Ops whose result has the type and shape of self, with a rule of their own for the other arguments.
using like_self_ops_with_rule = ops<abs, prelu, _prelu_kernel, gelu, celu, fill_tensor, channel_shuffle, flip,
    fliplr, flipud, roll, tril, triu, index_add, index_copy, index_fill_int_scalar, index_put,
    _unsafe_index_put, scatter_add, scatter_src, scatter_value, select_scatter, slice_scatter>;

}  // namespace aten

namespace detail {

/// Returns the common dtype of the operands; refuses it if an op with these traits is not defined for it.
[[nodiscard]] inline result<dtype> promoted_for(std::uint64_t trait_bits, dtype type) {
    HEADRACE_TRY(require_type_for(trait_bits, "the common type of the operands", type));
    return type;
}
template <class Op, class... Operands>
result<dtype> promoted_for(const Operands&... operands) {
    return promoted_for(Op::trait_bits, result_type(operands...));
}

/// Infers the shape and dtype of `self`; refuses a dtype for which an op with these traits is not defined.
inline result<void> infer_like_self(std::uint64_t trait_bits, const tensor_meta& self, inference& out) {
    HEADRACE_TRY(require_type_for(trait_bits, "self", self.dtype));
    return add_result(out, self);
}
template <class Op>
result<void> infer_like_self(const tensor_meta& self, inference& out) {
    return infer_like_self(Op::trait_bits, self, out);
}

inline result<void> infer_function(std::uint64_t trait_bits, const tensor_meta& self, inference& out) {
    HEADRACE_TRY(require_type_for(trait_bits, "self", self.dtype));
    return add_result(
        out, has_any(trait_bits, trait::predicate) ? dtype::boolean : as_floating(self.dtype), self);
}

}  // namespace detail

template <op_where<aten::dialect, trait::like_self> Op>
    requires(!one_of<Op, aten::like_self_ops_with_rule>)
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_like_self<Op>(inference::of(a.self), out);
}

template <one_of<ops<aten::abs>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    return add_result(out, magnitude_of(self.dtype), self);
}
template <one_of<ops<aten::gelu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.approximate != "none" && a.approximate != "tanh")
        return invalid("approximate must be none or tanh");
    return detail::infer_like_self<Op>(inference::of(a.self), out);
}
template <one_of<ops<aten::celu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.alpha.to_double() == 0) return invalid("alpha must not be 0");
    return detail::infer_like_self<Op>(inference::of(a.self), out);
}
/// One weight for all elements, or one per channel; only tensors with a second axis have channels.
template <one_of<ops<aten::prelu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const sizes weight(inference::of(a.weight).shape);
    HEADRACE_TRY(require_dtype("weight", inference::of(a.weight).dtype, self.dtype));
    HEADRACE_TRY(require_rank("weight", weight, 0, 1));
    if (element_count(weight) != 1) {
        HEADRACE_TRY(require_rank("self", self.shape, 1, SIZE_MAX));
        HEADRACE_TRY(require_elements("weight", weight, self.rank() > 1 ? self.shape[1] : 1));
    }
    return detail::infer_like_self<Op>(self, out);
}
template <one_of<ops<aten::_prelu_kernel>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_dtype("weight", inference::of(a.weight).dtype, self.dtype));
    HEADRACE_TRY(require_expandable("weight", inference::of(a.weight).shape, self.shape));
    return detail::infer_like_self<Op>(self, out);
}
template <one_of<ops<aten::fill_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_rank("value", inference::of(a.value).shape, 0));
    return add_result(out, inference::of(a.self));
}

/// copy(self, src) is src in the type and shape of self.
template <one_of<ops<aten::copy>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(expanded_shape(inference::of(a.src).shape, self.shape));
    return add_result(out, self);
}

/// Functions of one tensor whose result has a different dtype.
template <op_where<aten::dialect, trait::unary, trait::int_to_float | trait::predicate> Op>
    requires(!aten::takes_other<Op>)
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_function(Op::trait_bits, inference::of(a.self), out);
}

/// On the CPU, the second result is kept for the gradient.
template <one_of<ops<aten::log_sigmoid_forward>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::infer_like_self<Op>(inference::of(a.self), out));
    return add_result(out, inference::of(a.self));
}

template <one_of<ops<aten::glu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    shape_builder shape(self.shape);
    HEADRACE_TRY(axis, axis_of(a.dim, self.rank()));
    if (shape.empty() || shape[axis] % 2 != 0) {
        return invalid({"axis ", axis, " of ", shape_text(self.shape), " must be even"});
    }
    shape[axis] /= 2;
    return add_result(out, self.dtype, shape);
}

}  // namespace headrace

#endif
