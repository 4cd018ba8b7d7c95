// SPDX-License-Identifier: MIT
// Defines the fixed-point arithmetic of CMSIS-NN, with which the kernels of the cortex_m dialect compute.
#ifndef HEADRACE_EVAL_CORTEX_M_REQUANTIZE_HPP
#define HEADRACE_EVAL_CORTEX_M_REQUANTIZE_HPP

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <headrace/eval/evaluation.hpp>
#include <headrace/eval/iterate.hpp>

namespace headrace::eval {

/// Returns a number as a register of 32 bits holds it. The device's sums and products wrap around in 32 bits;
/// Python's reference shifts to the left in 64, which differs once a multiplier's left shift overflows.
[[nodiscard]] constexpr std::int32_t in_word(std::int64_t x) { return static_cast<std::int32_t>(x); }

/// arm_nn_divide_by_power_of_two: halves away from 0. An exponent above 31, as for the softmax of a row with
/// 512 maxima, gives 0, as the variant of CMSIS-NN in assembly does; in C, it is undefined.
[[nodiscard]] constexpr std::int32_t divide_by_power_of_two(std::int32_t x, std::int32_t exponent) {
    const std::int64_t mask = (std::int64_t{1} << exponent) - 1;
    const std::int64_t quotient = std::int64_t{x} >> exponent;
    const std::int64_t threshold = (mask >> 1) + (quotient < 0 ? 1 : 0);
    return in_word(quotient + ((x & mask) > threshold ? 1 : 0));
}

/// A real number, multiplier * 2^(shift - 31), by which arm_nn_requantize multiplies. The shift is from -31
/// to 31.
struct fixed_point_factor {
    std::int32_t multiplier, shift;

    /// Rounds twice: halves up in Q31, and halves away from 0 in the shift to the right.
    [[nodiscard]] constexpr std::int32_t times(std::int32_t x) const {
        const std::int32_t scaled = in_word(std::int64_t{x} << std::max(shift, 0));
        const std::int64_t product = std::int64_t{scaled} * multiplier + (std::int64_t{1} << 30);
        return divide_by_power_of_two(in_word(product >> 31), std::max(-shift, 0));
    }
};
/// Returns a factor of arguments, which inference has checked.
[[nodiscard]] constexpr fixed_point_factor factor_of(std::int64_t multiplier, std::int64_t shift) {
    return {in_word(multiplier), in_word(shift)};
}

/// The zero point and the bounds of quantized results.
struct quantized_result {
    std::int64_t zero_point, lowest = -128, highest = 127;

    /// The bounds may be in the wrong order, or none of int8: the upper one wins, and eight bits are stored.
    [[nodiscard]] constexpr std::int8_t of(std::int32_t x) const {
        const std::int32_t shifted = in_word(std::int64_t{x} + in_word(zero_point));
        return static_cast<std::int8_t>(std::min(std::max(shifted, in_word(lowest)), in_word(highest)));
    }
};

/// Returns the factor of each channel from tensors of int32. Fails if a shift is by more bits than there are,
/// which neither the device nor Python's reference defines.
[[nodiscard]] inline std::vector<fixed_point_factor> factors_of(
    evaluation& e, const tensor& multipliers, const tensor& shifts) {
    const std::span<const std::int32_t> multiplier = multipliers.data<std::int32_t>();
    const std::span<const std::int32_t> shift = shifts.data<std::int32_t>();
    std::vector<fixed_point_factor> factors;
    factors.reserve(multiplier.size());
    for (std::size_t i = 0; i != multiplier.size(); ++i) {
        if (shift[i] < -31 || shift[i] > 31) {
            e.fail("requantize_shifts has " + std::to_string(shift[i]) + ", but must be from -31 to 31");
            return {};
        }
        factors.push_back({multiplier[i], shift[i]});
    }
    return factors;
}

/// A sum in 32 bits, which wraps around.
class word_sum {
public:
    constexpr word_sum(std::int32_t first = 0) : bits_(static_cast<std::uint32_t>(first)) {}
    constexpr void add_product(std::int32_t a, std::int32_t b) {
        bits_ += static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b);
    }
    [[nodiscard]] constexpr std::int32_t value() const { return static_cast<std::int32_t>(bits_); }

private:
    std::uint32_t bits_;
};

/// Adds up the products of two rows of int8, each element after its offset is added.
[[nodiscard]] inline std::int32_t dot_product(std::span<const std::int8_t> a, std::int32_t a_offset,
    const std::int8_t* b, std::int32_t b_offset, std::int32_t first) {
    word_sum sum(first);
    for (std::size_t i = 0; i != a.size(); ++i)
        sum.add_product(in_word(std::int64_t{a[i]} + a_offset), in_word(std::int64_t{b[i]} + b_offset));
    return sum.value();
}

/// Returns the first number of each channel's sum: its bias, or 0.
[[nodiscard]] inline std::vector<std::int32_t> first_sums(
    const evaluation& e, const std::optional<value>& bias, std::int64_t channels) {
    const tensor* given = e.input(bias);
    if (given == nullptr) return std::vector<std::int32_t>(idx(channels), 0);
    const std::span<const std::int32_t> numbers = given->data<std::int32_t>();
    return {numbers.begin(), numbers.end()};
}

}  // namespace headrace::eval

#endif
