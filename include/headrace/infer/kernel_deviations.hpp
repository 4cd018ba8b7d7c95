// SPDX-License-Identifier: MIT
// Defines which kernels of ExecuTorch's runtime differ from PyTorch for some values.
#ifndef HEADRACE_INFER_KERNEL_DEVIATIONS_HPP
#define HEADRACE_INFER_KERNEL_DEVIATIONS_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/kernel_refusals.hpp>

namespace headrace::executorch::detail {

[[nodiscard]] inline bool is_whole(value v) { return !is_floating(meta(v).dtype); }
/// True for integers and for values dequantized from integers, even if rearranged since.
[[nodiscard]] inline bool never_nan(value v) {
    const auto op_of = [](value made) -> const op_info& { return made.producer->op->functional(); };
    while (op_of(v).has(trait::rearranging) && v.producer->operand_count != 0) v = v.producer->operand(0);
    return is_whole(v) || op_of(v).has(trait::dequantizing);
}

[[nodiscard]] inline reason deviation(aten::remainder_scalar, const args<aten::remainder_scalar>& a) {
    if (!is_whole(a.self) || a.other.is_floating()) return {};
    return "ExecuTorch's remainder of integers has the dividend's sign";
}
[[nodiscard]] inline reason deviation(aten::remainder_tensor, const args<aten::remainder_tensor>& a) {
    if (!is_whole(a.self) || !is_whole(a.other)) return {};
    return "ExecuTorch's remainder of integers has the dividend's sign";
}
/// The kernel swaps its operands in this case, but still scales the same one by alpha.
[[nodiscard]] inline reason deviation(aten::add_tensor, const args<aten::add_tensor>& a) {
    if (a.alpha.to_double() == 1 || meta(a.self).elements() != 1) return {};
    return "ExecuTorch's kernel for it scales the other operand if the first has one element";
}
[[nodiscard]] inline reason deviation(aten::sign, const args<aten::sign>& a) {
    return is_whole(a.self) ? reason() : reason("ExecuTorch's sign of NaN is NaN");
}
[[nodiscard]] inline reason deviation(
    aten::max_pool2d_with_indices, const args<aten::max_pool2d_with_indices>& a) {
    return never_nan(a.self) ? reason() : reason("ExecuTorch's kernel for it passes over NaN");
}
[[nodiscard]] inline reason deviation(aten::floor_divide, const args<aten::floor_divide>& a) {
    if (is_whole(a.self) && is_whole(a.other)) return {};
    return "ExecuTorch's quotient of 0 and 0 is infinite";
}
[[nodiscard]] inline reason deviation(aten::div_tensor_mode, const args<aten::div_tensor_mode>& a) {
    if (a.rounding_mode != "floor" || (is_whole(a.self) && is_whole(a.other))) return {};
    return "ExecuTorch's quotient of 0 and 0 is infinite";
}
[[nodiscard]] inline reason deviation(aten::div_scalar_mode, const args<aten::div_scalar_mode>& a) {
    if (a.rounding_mode != "floor" || a.other.to_double() != 0) return {};
    return "ExecuTorch's quotient of 0 and 0 is infinite";
}
/// Integer products wrap around; floating-point ones do not.
inline constexpr std::string_view powers_in_floats = "ExecuTorch's powers of integers are computed as floats";
[[nodiscard]] inline reason deviation(aten::pow_tensor_scalar, const args<aten::pow_tensor_scalar>& a) {
    if (!is_whole(a.self) || a.exponent.is_floating() || is_boolean(meta(a.self).dtype)) return {};
    return reason(powers_in_floats);
}
[[nodiscard]] inline reason deviation(aten::pow_tensor_tensor, const args<aten::pow_tensor_tensor>& a) {
    return is_whole(a.self) && is_whole(a.exponent) ? reason(powers_in_floats) : reason();
}
[[nodiscard]] inline reason deviation(aten::pow_scalar, const args<aten::pow_scalar>& a) {
    return !a.self.is_floating() && is_whole(a.exponent) ? reason(powers_in_floats) : reason();
}
/// PyTorch takes the lower limit in this case.
[[nodiscard]] inline reason deviation(aten::logit, const args<aten::logit>& a) {
    if (!a.eps || *a.eps <= 0.5) return {};
    return "ExecuTorch's kernel for it takes a margin of at most 0.5";
}
[[nodiscard]] inline reason deviation(aten::_log_softmax, const args<aten::_log_softmax>& a) {
    if (meta(a.self).rank() != 0) return {};
    return "ExecuTorch's log_softmax of one number is 0, of NaN as well";
}
[[nodiscard]] inline reason deviation(aten::leaky_relu, const args<aten::leaky_relu>& a) {
    if (std::isfinite(a.negative_slope.to_double())) return {};
    return "ExecuTorch's kernel for it takes a finite slope";
}
/// The diagonal is far outside of the tensor.
[[nodiscard]] inline reason deviation(aten::tril, const args<aten::tril>& a) {
    if (std::abs(static_cast<double>(a.diagonal)) < std::ldexp(1.0, 31)) return {};
    return "ExecuTorch's kernel for it takes a diagonal that int32 holds";
}
inline constexpr std::string_view shifts_of_undefined =
    "ExecuTorch's kernel for it shifts by less than the bits of the type";
template <one_of<ops<aten::bitwise_left_shift_tensor_scalar, aten::bitwise_right_shift_tensor_scalar>> Op>
[[nodiscard]] reason deviation(Op, const args<Op>& a) {
    const double by = a.other.to_double();
    if (by >= 0 && by < traits_of(meta(a.self).dtype).bits) return {};
    return reason(shifts_of_undefined);
}
template <class Op>
[[nodiscard]] reason freedom_deviation(const args<Op>& a, double correction) {
    const tensor_meta& t = meta(a.self);
    std::int64_t reduced = 1;
    std::vector<bool> is_reduced(t.rank(), !a.dim || a.dim->empty());
    for (std::size_t i = 0; a.dim && i != a.dim->size(); ++i) {
        const std::int64_t axis =
            (*a.dim)[i] < 0 ? (*a.dim)[i] + static_cast<std::int64_t>(t.rank()) : (*a.dim)[i];
        if (axis >= 0 && static_cast<std::size_t>(axis) < t.rank())
            is_reduced[static_cast<std::size_t>(axis)] = true;
    }
    for (std::size_t i = 0; i != t.rank(); ++i) {
        if (is_reduced[i]) reduced *= t.shape[i];
    }
    if (static_cast<double>(reduced) > correction) return {};
    return "ExecuTorch's variance of no degrees of freedom is NaN, as is then the mean";
}
template <one_of<ops<aten::var_correction, aten::var_mean_correction>> Op>
[[nodiscard]] reason deviation(Op, const args<Op>& a) {
    return freedom_deviation<Op>(a, a.correction ? a.correction->to_double() : 1);
}
[[nodiscard]] inline reason deviation(aten::var_dim, const args<aten::var_dim>& a) {
    return freedom_deviation<aten::var_dim>(a, a.unbiased ? 1 : 0);
}

}  // namespace headrace::executorch::detail

#endif
