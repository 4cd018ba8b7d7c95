// SPDX-License-Identifier: MIT
// Defines how CMSIS-NN represents real factors, and how TOSA's RESCALEs around an operator are read as such.
#ifndef HEADRACE_PASSES_CORTEX_M_SCALING_HPP
#define HEADRACE_PASSES_CORTEX_M_SCALING_HPP

#include <algorithm>
#include <cmath>
#include <optional>

#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::cortex_m {

/// A real factor as arm_nn_requantize takes it: multiplier * 2^(shift - 31).
struct requantization {
    std::int64_t multiplier = 0, shift = 0;
};

/// Returns the factor with 31 bits of multiplier, as ExecuTorch computes it; nothing if it needs a shift that
/// the kernels do not have, or one to the left in which a sum of up to `largest` would wrap around.
[[nodiscard]] inline std::optional<requantization> requantization_of(double factor, double largest = 1) {
    constexpr int bits = 31;
    if (!std::isfinite(factor)) return std::nullopt;  // of operands that are multiplied by 0
    int exponent = 0;
    auto multiplier =
        static_cast<std::int64_t>(std::nearbyint(std::ldexp(std::frexp(factor, &exponent), bits)));
    if (std::abs(multiplier) == std::int64_t{1} << bits) {
        multiplier /= 2;
        ++exponent;
    }
    if (exponent < -bits) return requantization{};  // the product of a 32-bit number rounds to 0
    if (exponent > bits - 1 || (exponent > 0 && std::ldexp(largest, exponent - bits) >= 1))
        return std::nullopt;
    return requantization{multiplier, exponent};
}

/// The largest magnitude of the product of two int8 numbers less their zero points, the second of which is 0
/// for weights.
inline constexpr double largest_product = 255.0 * 128.0;

/// An int8 tensor as an operand of 32-bit arithmetic: (integers - zero_point) * factor.
struct scaled_operand {
    value integers;
    std::int64_t zero_point = 0;
    double factor = 1;
};

/// The scaling of a sum to int8: clamp(sum * factor + zero_point), with one factor, or one for each channel.
struct scaled_result {
    pmr_vector<double> factors;
    std::int64_t zero_point = 0;

    /// Returns the factor of a channel.
    [[nodiscard]] double factor(std::size_t channel = 0) const {
        return factors[factors.size() == 1 ? 0 : channel];
    }
    [[nodiscard]] bool has_one_factor() const {
        return std::ranges::all_of(factors, [&](double f) { return f == factors[0]; });
    }
};

namespace detail {

/// Returns the factors of a RESCALE of signed integers by 32-bit multipliers; nothing if they are computed.
[[nodiscard]] inline std::optional<pmr_vector<double>> factors_of(const args<tosa::rescale>& a) {
    const auto multipliers = constant_integers(a.multiplier), shifts = constant_integers(a.shift);
    if (!multipliers || !shifts || !a.scale32 || a.input_unsigned || a.output_unsigned) return std::nullopt;
    pmr_vector<double> factors;
    for (std::size_t i = 0; i != multipliers->size(); ++i)
        factors.push_back(
            std::ldexp(static_cast<double>((*multipliers)[i]), -static_cast<int>((*shifts)[i])));
    return factors;
}

}  // namespace detail

/// Returns the int8 tensor that was widened to the int32 value; nothing if it comes from something else, or
/// if it was rounded by more than an eighth of a step, which kernels do not.
[[nodiscard]] inline std::optional<scaled_operand> scaled_operand_of(const emitter& e, value v) {
    if (const auto* cast = match<tosa::cast>(v); cast != nullptr && e.dtype(cast->input) == dtype::int8)
        return scaled_operand{cast->input};
    const auto* a = match<tosa::rescale>(v);
    if (a == nullptr || e.dtype(a->input) != dtype::int8 || e.dtype(v) != dtype::int32) return std::nullopt;
    const auto factors = detail::factors_of(*a);
    const auto zero = constant_integer(a->input_zp);
    if (!factors || factors->size() != 1 || !zero || constant_integer(a->output_zp) != 0) return std::nullopt;
    constexpr double fine = 4;
    if ((*factors)[0] < fine && (*factors)[0] != std::floor((*factors)[0])) return std::nullopt;
    return scaled_operand{a->input, *zero, (*factors)[0]};
}

/// Returns the scaling of the RESCALE that is being rewritten; nothing if it is not one from int32 to int8.
[[nodiscard]] inline std::optional<scaled_result> scaled_result_of(
    const emitter& e, const args<tosa::rescale>& a) {
    const bool is_requantization = e.dtype(a.input) == dtype::int32 && e.result_meta().dtype == dtype::int8;
    auto factors = is_requantization ? detail::factors_of(a) : std::nullopt;
    const auto zero = constant_integer(a.output_zp);
    if (!factors || !zero || constant_integer(a.input_zp) != 0) return std::nullopt;
    return scaled_result{std::move(*factors), *zero};
}

/// True if the value is a constant whose elements are all equal, so that it may have any shape.
[[nodiscard]] inline bool is_number(value v) {
    const auto numbers = constant_integers(v);
    return numbers && !numbers->empty() &&
        std::ranges::all_of(*numbers, [&](std::int64_t n) { return n == numbers->front(); });
}

/// The factors of a kernel with a number for each of its output channels, as constants of int32.
struct channel_factors {
    value multipliers, shifts;
};
/// Returns the factors for sums of up to `largest` in `channels` output channels; nothing if a kernel cannot
/// scale by one of them.
[[nodiscard]] inline std::optional<channel_factors> channel_factors_of(
    emit<ops<>> e, const scaled_result& to, std::int64_t channels, double largest) {
    pmr_vector<std::int32_t> multipliers, shifts;
    for (std::size_t i = 0; i != static_cast<std::size_t>(channels); ++i) {
        const auto f = requantization_of(to.factor(i), largest);
        if (!f) return std::nullopt;
        multipliers.push_back(static_cast<std::int32_t>(f->multiplier));
        shifts.push_back(static_cast<std::int32_t>(f->shift));
    }
    const std::int64_t shape[] = {channels};
    const auto constant = [&](const pmr_vector<std::int32_t>& numbers) {
        return e.constant<std::int32_t>(dtype::int32, shape, numbers);
    };
    return channel_factors{constant(multipliers), constant(shifts)};
}

}  // namespace headrace::cortex_m

#endif
