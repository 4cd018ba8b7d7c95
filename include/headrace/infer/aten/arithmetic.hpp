// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the arithmetic of aten: on several tensors, or on a tensor and
// numbers.
#ifndef HEADRACE_INFER_ATEN_ARITHMETIC_HPP
#define HEADRACE_INFER_ATEN_ARITHMETIC_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten/elementwise.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

namespace detail {

inline result<void> infer_broadcast(inference& out, dtype type, const tensor_meta& a, const tensor_meta& b) {
    HEADRACE_TRY(shape, broadcast(a.shape, b.shape));
    return add_result(out, type, shape);
}
inline result<void> infer_broadcast(
    inference& out, dtype type, const tensor_meta& a, const tensor_meta& b, const tensor_meta& c) {
    HEADRACE_TRY(shape, broadcast(a.shape, b.shape, c.shape));
    return add_result(out, type, shape);
}

template <class Op>
result<void> infer_promoted(inference& out, const tensor_meta& a, const tensor_meta& b) {
    HEADRACE_TRY(type, promoted_for<Op>(a, b));
    return infer_broadcast(out, type, a, b);
}

/// Refuses a floating-point alpha for integers.
inline result<void> check_alpha(const scalar& alpha, dtype type) {
    if (is_floating(type) || !alpha.is_floating()) return {};
    return invalid({"alpha must be an integer where the result is ", name_of(type)});
}

/// Returns the dtype of an arithmetic result, that of the operands; refuses it if these traits exclude it.
[[nodiscard]] inline result<dtype> arithmetic_type(
    std::uint64_t trait_bits, dtype common, const scalar* alpha) {
    HEADRACE_TRY(promoted_for(trait_bits, common));
    const dtype type = has_any(trait_bits, trait::predicate) ? dtype::boolean
        : has_any(trait_bits, trait::int_to_float)           ? as_floating(common)
                                                             : common;
    if (alpha != nullptr) {
        HEADRACE_TRY(check_alpha(*alpha, type));
    }
    return type;
}
// One function for all ops, because only the traits differ.
inline result<void> infer_arithmetic(std::uint64_t trait_bits, const tensor_meta& self,
    const tensor_meta& other, const scalar* alpha, inference& out) {
    HEADRACE_TRY(type, arithmetic_type(trait_bits, result_type(self, other), alpha));
    return infer_broadcast(out, type, self, other);
}
inline result<void> infer_arithmetic(std::uint64_t trait_bits, const tensor_meta& self, const scalar& other,
    const scalar* alpha, inference& out) {
    HEADRACE_TRY(type, arithmetic_type(trait_bits, result_type(self, other), alpha));
    return add_result(out, type, self);
}

/// Returns the dtype of a quotient. A rounded quotient keeps the common type of the operands.
template <class Other>
result<dtype> quotient_type(
    const tensor_meta& self, const Other& other, const std::optional<std::string_view>& rounding_mode) {
    if (!rounding_mode) return as_floating(result_type(self, other));
    if (*rounding_mode != "floor" && *rounding_mode != "trunc") {
        return invalid("rounding_mode must be floor or trunc");
    }
    return promoted_for<aten::floor_divide>(self, other);  // both have the same types as floor_divide
}

}  // namespace detail

/// A tensor and another tensor or a Python number, promoted (torch.result_type).
template <op_where<aten::dialect, trait::unary | trait::binary> Op>
    requires aten::takes_other<Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const scalar* alpha = nullptr;
    if constexpr (requires { a.alpha; }) alpha = &a.alpha;
    if constexpr (has_trait<Op>(trait::binary)) {
        return detail::infer_arithmetic(
            Op::trait_bits, inference::of(a.self), inference::of(a.other), alpha, out);
    } else {
        return detail::infer_arithmetic(Op::trait_bits, inference::of(a.self), a.other, alpha, out);
    }
}

template <one_of<ops<aten::remainder_scalar_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(type, detail::promoted_for<Op>(other, a.self));
    return add_result(out, type, other);
}

template <one_of<ops<aten::div_tensor_mode>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(type, detail::quotient_type(self, other, a.rounding_mode));
    return detail::infer_broadcast(out, type, self, other);
}

template <one_of<ops<aten::div_scalar_mode>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::quotient_type(self, a.other, a.rounding_mode));
    return add_result(out, type, self);
}

template <one_of<ops<aten::pow_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& exponent = inference::of(a.exponent);
    return add_result(out, result_type(exponent, a.self), exponent);
}

template <one_of<ops<aten::pow_tensor_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const dtype type = result_type(self, a.exponent);
    return add_result(out, is_boolean(type) ? dtype::int64 : type, self);
}

template <one_of<ops<aten::pow_tensor_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_promoted<Op>(out, inference::of(a.self), inference::of(a.exponent));
}

/// A square is a power with exponent 2.
template <one_of<ops<aten::square>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, result_type(self, scalar(2)), self);
}

template <one_of<ops<aten::addcdiv, aten::addcmul>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& left = inference::of(a.tensor1);
    const tensor_meta& right = inference::of(a.tensor2);
    HEADRACE_TRY(type, detail::promoted_for<Op>(self, left, right));
    return detail::infer_broadcast(out, type, self, left, right);
}

template <one_of<ops<aten::lerp_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    return detail::infer_broadcast(out, self.dtype, self, inference::of(a.end));
}

template <one_of<ops<aten::lerp_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    return detail::infer_broadcast(out, self.dtype, self, inference::of(a.end), inference::of(a.weight));
}

template <one_of<ops<aten::clamp>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (!a.min && !a.max) return invalid("neither min nor max is given");
    const tensor_meta& self = inference::of(a.self);
    promotion type;
    type.add(self);
    if (a.min) type.add(*a.min);
    if (a.max) type.add(*a.max);
    HEADRACE_TRY(require_type_for<Op>("the common type of the operands", type.type()));
    return add_result(out, type.type(), self);
}

template <one_of<ops<aten::clamp_max>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::promoted_for<Op>(self, a.max));
    return add_result(out, type, self);
}

template <one_of<ops<aten::clamp_min>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::promoted_for<Op>(self, a.min));
    return add_result(out, type, self);
}

template <one_of<ops<aten::clamp_max_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_promoted<Op>(out, inference::of(a.self), inference::of(a.max));
}

template <one_of<ops<aten::clamp_min_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_promoted<Op>(out, inference::of(a.self), inference::of(a.min));
}

template <one_of<ops<aten::clamp_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (!a.min && !a.max) return invalid("neither min nor max is given");
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& low = inference::of(a.min ? *a.min : *a.max);
    const tensor_meta& high = inference::of(a.max ? *a.max : *a.min);
    HEADRACE_TRY(type, detail::promoted_for<Op>(self, low, high));
    return detail::infer_broadcast(out, type, self, low, high);
}

}  // namespace headrace

#endif
