// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the elementwise ops of aten.
#ifndef HEADRACE_INFER_ATEN_ELEMENTWISE_HPP
#define HEADRACE_INFER_ATEN_ELEMENTWISE_HPP

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {
namespace aten {

/// Results have the shape and dtype of `self`, whatever else there is: an in-place op cannot change them.
using same_as_self_ops =
    ops<celu, celu_inplace, elu, elu_inplace, gelu, gelu_inplace, hardsigmoid, hardsigmoid_inplace, hardswish,
        hardswish_inplace, hardtanh, hardtanh_inplace, leaky_relu, leaky_relu_inplace, log_sigmoid, mish,
        mish_inplace, prelu, _prelu_kernel, relu, relu6, relu6_inplace, relu_inplace, selu, selu_inplace,
        sigmoid_inplace, silu, silu_inplace, softplus, softshrink, hardshrink, tanh_inplace, threshold,
        threshold_inplace, abs, abs_inplace, ceil, ceil_inplace, exp_inplace, floor, floor_inplace, frac,
        log_inplace, nan_to_num, neg, neg_inplace, reciprocal_inplace, round, round_decimals, round_inplace,
        rsqrt_inplace, sgn, sign, sqrt_inplace, square_inplace, trunc, bitwise_not, clamp_inplace,
        clamp_max_inplace, clamp_min_inplace, add_inplace_scalar, div_inplace_scalar, mul_inplace_scalar,
        pow_inplace_scalar, sub_inplace_scalar, ne_inplace_scalar, alias, alias_copy, detach, detach_copy,
        detach_inplace, channel_shuffle, flip, fliplr, flipud, roll, tril, triu, masked_fill_inplace_scalar,
        masked_fill_inplace_tensor, clone, contiguous, dropout_inplace, fill_inplace_scalar,
        fill_inplace_tensor, fill_scalar, fill_tensor, lift_fresh, lift_fresh_copy, zero_inplace, index_add,
        index_copy, index_copy_inplace, index_fill_int_scalar, index_put, index_put_inplace, scatter_add,
        scatter_src, scatter_value, select_scatter, slice_scatter, _unsafe_index_put>;

/// In place, with an operand that must broadcast to `self`.
using in_place_binary_ops =
    ops<add_inplace_tensor, div_inplace_tensor, mul_inplace_tensor, sub_inplace_tensor, ne_inplace_tensor>;

/// Functions of real numbers: integers become float32.
using floating_unary_ops =
    ops<logit, sigmoid, tanh, deg2rad, rad2deg, acos, acosh, asin, asinh, atan, atanh, cos, cosh, erf, erfc,
        erfinv, exp, exp2, expm1, log, log10, log1p, log2, reciprocal, rsqrt, sin, sinh, sqrt, tan>;

using predicate_ops = ops<isfinite, isinf, isnan, logical_not, signbit>;

/// Two tensors, promoted.
using binary_ops =
    ops<add_tensor, floor_divide, fmax, fmin, fmod_tensor, hypot, logaddexp, max_other, maximum, min_other,
        minimum, mul_tensor, multiply_tensor, remainder_tensor, rsub_tensor, sub_tensor, subtract_tensor,
        and_tensor, bitwise_and_tensor, bitwise_left_shift_tensor, bitwise_or_tensor,
        bitwise_right_shift_tensor, bitwise_xor_tensor, lshift_tensor, or_tensor, rshift_tensor, xor_tensor>;

/// A tensor and a Python number, in either order, promoted.
using binary_scalar_ops =
    ops<add_scalar, floor_divide_scalar, fmod_scalar, mul_scalar, remainder_scalar, rsub_scalar, sub_scalar,
        and_scalar, bitwise_and_scalar, bitwise_left_shift_tensor_scalar, bitwise_or_scalar,
        bitwise_right_shift_tensor_scalar, bitwise_xor_scalar, lshift_scalar, or_scalar, rshift_scalar,
        xor_scalar>;

/// Two tensors or a tensor and a number, with a real result.
using floating_binary_ops =
    ops<atan2, copysign_tensor, div_tensor, divide_tensor, true_divide_tensor, xlogy_tensor>;

using comparison_ops = ops<eq_tensor, ge_tensor, gt_tensor, le_tensor, lt_tensor, ne_tensor, logical_and,
                           logical_or, logical_xor>;
using comparison_scalar_ops = ops<eq_scalar, ge_scalar, gt_scalar, le_scalar, lt_scalar, ne_scalar>;

}  // namespace aten

namespace detail {

inline result<void> infer_broadcast(inference& out, dtype type, const tensor_meta& a, const tensor_meta& b) {
    BOOST_OUTCOME_TRY(shape, broadcast(a.shape, b.shape));
    return add_result(out, type, shape);
}
inline result<void> infer_broadcast(inference& out, dtype type, const tensor_meta& a, const tensor_meta& b,
                                    const tensor_meta& c) {
    BOOST_OUTCOME_TRY(shape, broadcast(a.shape, b.shape, c.shape));
    return add_result(out, type, shape);
}
inline result<void> infer_promoted(inference& out, const tensor_meta& a, const tensor_meta& b) {
    return infer_broadcast(out, result_type(a, b), a, b);
}
/// In place: the other operand must broadcast to the one that is written.
inline result<void> infer_in_place(inference& out, const tensor_meta& self, const tensor_meta& other) {
    BOOST_OUTCOME_TRY(expanded_shape(other.shape, self.shape));
    return add_result(out, self);
}

}  // namespace detail

template <one_of<aten::same_as_self_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, inference::of(a.self));
}

template <one_of<aten::in_place_binary_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_in_place(out, inference::of(a.self), inference::of(a.other));
}

template <one_of<ops<aten::pow_inplace_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_in_place(out, inference::of(a.self), inference::of(a.exponent));
}

template <one_of<ops<aten::copy, aten::copy_inplace>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_in_place(out, inference::of(a.self), inference::of(a.src));
}

template <one_of<aten::floating_unary_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, as_floating(self.dtype), self.shape);
}

template <one_of<aten::predicate_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, dtype::boolean, inference::of(a.self).shape);
}

template <one_of<aten::binary_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_promoted(out, inference::of(a.self), inference::of(a.other));
}

template <one_of<aten::binary_scalar_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, result_type(self, a.other), self.shape);
}

template <one_of<ops<aten::remainder_scalar_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& other = inference::of(a.other);
    return add_result(out, result_type(other, a.self), other.shape);
}

template <one_of<aten::floating_binary_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    return detail::infer_broadcast(out, as_floating(result_type(self, other)), self, other);
}

template <one_of<ops<aten::div_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, as_floating(result_type(self, a.other)), self.shape);
}

template <one_of<ops<aten::div_tensor_mode>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    const dtype type = result_type(self, other);
    return detail::infer_broadcast(out, a.rounding_mode ? type : as_floating(type), self, other);
}

template <one_of<ops<aten::div_scalar_mode>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const dtype type = result_type(self, a.other);
    return add_result(out, a.rounding_mode ? type : as_floating(type), self.shape);
}

template <one_of<ops<aten::pow_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& exponent = inference::of(a.exponent);
    return add_result(out, result_type(exponent, a.self), exponent.shape);
}

template <one_of<ops<aten::pow_tensor_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const dtype type = result_type(self, a.exponent);
    return add_result(out, is_boolean(type) ? dtype::int64 : type, self.shape);
}

template <one_of<ops<aten::pow_tensor_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_promoted(out, inference::of(a.self), inference::of(a.exponent));
}

/// A square is a power with the exponent 2.
template <one_of<ops<aten::square>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, result_type(self, scalar(2)), self.shape);
}

template <one_of<ops<aten::addcdiv, aten::addcmul>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& left = inference::of(a.tensor1);
    const tensor_meta& right = inference::of(a.tensor2);
    return detail::infer_broadcast(out, result_type(self, left, right), self, left, right);
}

template <one_of<ops<aten::lerp_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return detail::infer_broadcast(out, self.dtype, self, inference::of(a.end));
}

template <one_of<ops<aten::lerp_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return detail::infer_broadcast(out, self.dtype, self, inference::of(a.end), inference::of(a.weight));
}

template <one_of<aten::comparison_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_broadcast(out, dtype::boolean, inference::of(a.self), inference::of(a.other));
}

template <one_of<aten::comparison_scalar_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, dtype::boolean, inference::of(a.self).shape);
}

template <one_of<ops<aten::clamp, aten::clip>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (!a.min && !a.max) return invalid("neither min nor max is given");
    const tensor_meta& self = inference::of(a.self);
    promotion type;
    type.add(self);
    if (a.min) type.add(*a.min);
    if (a.max) type.add(*a.max);
    return add_result(out, type.type(), self.shape);
}

template <one_of<ops<aten::clamp_max>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, result_type(self, a.max), self.shape);
}

template <one_of<ops<aten::clamp_min>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, result_type(self, a.min), self.shape);
}

template <one_of<ops<aten::clamp_max_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_promoted(out, inference::of(a.self), inference::of(a.max));
}

template <one_of<ops<aten::clamp_min_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_promoted(out, inference::of(a.self), inference::of(a.min));
}

template <one_of<ops<aten::clamp_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (!a.min && !a.max) return invalid("neither min nor max is given");
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& low = inference::of(a.min ? *a.min : *a.max);
    const tensor_meta& high = inference::of(a.max ? *a.max : *a.min);
    return detail::infer_broadcast(out, result_type(self, low, high), self, low, high);
}

/// On the CPU, the second result keeps what the gradient needs.
template <one_of<ops<aten::log_sigmoid_forward>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    BOOST_OUTCOME_TRY(add_result(out, inference::of(a.self)));
    return add_result(out, inference::of(a.self));
}

template <one_of<ops<aten::glu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    shape_builder shape(self.shape);
    BOOST_OUTCOME_TRY(axis, axis_of(a.dim, self.rank()));
    if (shape.empty() || shape[axis] % 2 != 0) {
        return invalid("axis " + number_text(axis) + " of " + shape_text(self.shape) + " must be even");
    }
    shape[axis] /= 2;
    return add_result(out, self.dtype, shape);
}

}  // namespace headrace

#endif
