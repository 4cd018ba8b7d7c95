// SPDX-License-Identifier: MIT
// Defines headrace::on_device::channel, the RESCALE of an output channel as kernels compute it, and the
// conditions for each of its forms.
#ifndef HEADRACE_ON_DEVICE_SCALE_HPP
#define HEADRACE_ON_DEVICE_SCALE_HPP

#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include <headrace/on_device/core.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// How a sum becomes an element of the output (TOSA 1.0, 2.12.2 RESCALE with single rounding).
enum class scaling : std::uint8_t {
    none,       ///< the sum is the result
    high_word,  ///< the high word of the product decides: shifts of 33 or more
    doubled,    ///< the high word of twice the product, as VQDMULH gives it: int8 results on MVE
    wide,       ///< the product has 64 bits: any shift
};

/// The bias of a channel, with what the zero points add to its sums, and its scale. `make_channel` makes it;
/// the fields `addend` and `shift` are prepared for one form of scaling.
struct channel {
    std::int32_t bias = 0, multiplier = 0, addend = 0, shift = 1;
};

/// For int16 activations: sums and bias have 48 bits, the multiplier 16 (RESCALE with scale32 = false).
struct wide_channel {
    std::int64_t bias = 0;
    std::int32_t multiplier = 0, addend = 0, shift = 1;
};

/// For results that are stored as they are.
struct as_it_is {
    static constexpr auto of(auto v) { return v; }
};

/// `multiplier` and `shift` are RESCALE's, `shift` 2..62; the form must hold for them (see `choose_scaling`).
constexpr channel make_channel(
    std::int32_t bias, std::int32_t multiplier, std::int32_t shift, std::int32_t output_zero, scaling how) {
    const std::int32_t s = shift - 32;
    switch (how) {
        case scaling::high_word: {
            const std::int64_t rounding = std::int64_t{1} << (s - 1), zero = std::int64_t{output_zero} << s;
            return {bias, multiplier, static_cast<std::int32_t>(rounding + zero), s};
        }
        case scaling::doubled: {
            // Shifted so that the byte is the top one of the word, where VQSHL saturates as a byte does.
            const std::int64_t rounding = std::int64_t{1} << s, zero = std::int64_t{output_zero} << (s + 1);
            return {bias, multiplier, static_cast<std::int32_t>(rounding + zero), 23 - s};
        }
        default:
            return {bias, multiplier, output_zero, shift};
    }
}

constexpr wide_channel make_wide_channel(
    std::int64_t bias, std::int32_t multiplier, std::int32_t shift, std::int32_t output_zero) {
    return {bias, multiplier, output_zero, shift};
}

/// True if the form is exact for a channel whose sums, with the bias, are at most `largest_sum` in magnitude.
/// floor(floor(v * m / 2^32) / 2^s) is floor(v * m / 2^(32 + s)), so all that can fail is the addition.
constexpr bool is_exact(scaling how, std::int32_t multiplier, std::int32_t shift, std::int32_t output_zero,
    std::int64_t largest_sum) {
    if (how == scaling::wide) return true;
    if (how == scaling::none || shift < 33 || multiplier < 0) return false;
    const int doubling = how == scaling::doubled;
    const std::int64_t s = shift - 32 + doubling;
    const std::int64_t zero = (output_zero < 0 ? -std::int64_t{output_zero} : std::int64_t{output_zero}) << s;
    const std::int64_t sum = largest_sum < (std::int64_t{1} << 31) ? largest_sum : std::int64_t{1} << 31;
    const std::int64_t product = (sum * multiplier >> (32 - doubling)) + 1;
    return product + zero + (std::int64_t{1} << (s - 1)) < (std::int64_t{1} << 31);
}

/// The fastest form for a core that is exact for all channels; `multipliers` and `shifts` have one element or
/// one for each channel. `largest_sum` bounds the magnitude of all sums with their biases: the bias'
/// magnitude plus 128 times the sum of the weights' magnitudes, at most.
constexpr scaling choose_scaling(core_id core, std::span<const std::int32_t> multipliers,
    std::span<const std::int8_t> shifts, std::int32_t output_zero, std::int64_t largest_sum, element output) {
    const auto holds = [&](scaling how) {
        for (std::size_t i = 0; i != multipliers.size(); ++i)
            if (!is_exact(how, multipliers[i], shifts[i], output_zero, largest_sum)) return false;
        return true;
    };
    if (core == core_id::mve && output == element::int8 && holds(scaling::doubled)) return scaling::doubled;
    return holds(scaling::high_word) ? scaling::high_word : scaling::wide;
}

namespace detail {
constexpr std::int32_t wrapping_add(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

/// The scaled sum with the output's zero point, not yet clamped; the bias is in the sum.
template <scaling how>
HEADRACE_INLINE constexpr auto scaled(std::int32_t sum, const channel& q) {
    const std::int64_t product = std::int64_t{sum} * q.multiplier;
    if constexpr (how == scaling::high_word)
        return wrapping_add(static_cast<std::int32_t>(product >> 32), q.addend) >> q.shift;
    else if constexpr (how == scaling::doubled)
        return wrapping_add(static_cast<std::int32_t>(product >> 31), q.addend) >> (24 - q.shift);
    else
        return ((product + (std::int64_t{1} << (q.shift - 1))) >> q.shift) + q.addend;
}
constexpr std::int64_t scaled(std::int64_t sum, const wide_channel& q) {
    // 48 bits by 16: the product fits, and is computed in unsigned to wrap where the sums have more.
    const auto product =
        static_cast<std::uint64_t>(sum) * static_cast<std::uint64_t>(std::int64_t{q.multiplier});
    return (static_cast<std::int64_t>(product + (std::uint64_t{1} << (q.shift - 1))) >> q.shift) + q.addend;
}

template <class T>
HEADRACE_INLINE constexpr std::int32_t clamped(T v, std::int32_t minimum, std::int32_t maximum) {
    return v < minimum ? minimum : v > maximum ? maximum : static_cast<std::int32_t>(v);
}

/// The nearest value of a narrow integer type.
template <class Result, class T>
HEADRACE_INLINE constexpr Result saturated(T v) {
#if defined(__ARM_FEATURE_SAT)
    if constexpr (std::is_same_v<Result, std::int8_t> && std::is_same_v<T, std::int32_t>)
        if (!std::is_constant_evaluated()) {
            asm("ssat %0, #8, %0" : "+r"(v));
            return static_cast<Result>(v);
        }
#endif
    return static_cast<Result>(
        clamped(v, std::numeric_limits<Result>::min(), std::numeric_limits<Result>::max()));
}

constexpr std::int32_t bias_of(const channel& q) { return q.bias; }
constexpr std::int64_t bias_of(const wide_channel& q) { return q.bias; }
constexpr auto bias_of(auto bias) { return bias; }

/// sum + a * b, which wraps.
constexpr float multiply_add(float sum, float a, float b) { return sum + a * b; }
template <class Sum>
HEADRACE_INLINE constexpr Sum multiply_add(Sum sum, std::int32_t a, std::int32_t b) {
    using bits = std::make_unsigned_t<Sum>;
    return static_cast<Sum>(static_cast<bits>(sum) + static_cast<bits>(Sum{a * b}));
}
}  // namespace detail

}  // namespace headrace::on_device

#endif
