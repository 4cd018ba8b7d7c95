// SPDX-License-Identifier: MIT
// Defines headrace::encode_float and headrace::decode_float, which convert between numbers and the bits of a
// binary floating-point format.
#ifndef HEADRACE_BASE_FLOAT_FORMAT_HPP
#define HEADRACE_BASE_FLOAT_FORMAT_HPP

#include <cstdint>
#include <limits>

#include <headrace/base/dtype.hpp>

namespace headrace {

/// The field widths of a binary floating-point format. A format without infinities saturates.
struct float_format {
    int exponent_bits;
    int mantissa_bits;
    bool infinities;
};
[[nodiscard]] constexpr float_format format_of(dtype type) {
    switch (type) {
        case dtype::float8_e4m3:
            return {4, 3, false};
        case dtype::float8_e5m2:
            return {5, 2, true};
        case dtype::float16:
            return {5, 10, true};
        case dtype::bfloat16:
            return {8, 7, true};
        default:
            return {8, 23, true};
    }
}

// Built-in functions are used because <cmath> takes a twentieth of the compile time of headrace.hpp.

/// Returns the bits of the nearest number of that format, ties to even.
[[nodiscard]] inline std::uint32_t encode_float(double number, float_format f) {
    const std::uint32_t sign = __builtin_signbit(number) ? 1U << (f.exponent_bits + f.mantissa_bits) : 0U;
    const std::uint32_t infinity = ((1U << f.exponent_bits) - 1) << f.mantissa_bits;
    const std::uint32_t largest = f.infinities ? infinity : (infinity | ((1U << f.mantissa_bits) - 1)) - 1;
    if (__builtin_isnan(number)) return f.infinities ? infinity | (1U << (f.mantissa_bits - 1)) : largest + 1;
    if (__builtin_isinf(number)) return sign | largest;
    if (number == 0) return sign;
    const int bias = (1 << (f.exponent_bits - 1)) - 1;
    int exponent = 0;
    __builtin_frexp(number, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    // Adding the mantissa with its hidden bit carries into the exponent, which is therefore one too small
    // here.
    const double mantissa =
        __builtin_nearbyint(__builtin_ldexp(__builtin_fabs(number), f.mantissa_bits - exponent));
    const auto bits = static_cast<std::uint64_t>(mantissa) +
        (static_cast<std::uint64_t>(exponent + bias - 1) << f.mantissa_bits);
    return sign | (bits > largest ? largest : static_cast<std::uint32_t>(bits));
}

[[nodiscard]] inline double decode_float(std::uint32_t bits, float_format f) {
    const std::uint32_t fraction_mask = (1U << f.mantissa_bits) - 1;
    const std::uint32_t exponent_mask = (1U << f.exponent_bits) - 1;
    const std::uint32_t exponent = bits >> f.mantissa_bits & exponent_mask;
    const std::uint32_t fraction = bits & fraction_mask;
    const double sign = (bits >> (f.exponent_bits + f.mantissa_bits) & 1) != 0 ? -1.0 : 1.0;
    const int bias = (1 << (f.exponent_bits - 1)) - 1;
    if (exponent == exponent_mask && (f.infinities || fraction == fraction_mask)) {
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    }
    if (exponent == 0) return sign * __builtin_ldexp(fraction, 1 - bias - f.mantissa_bits);
    return sign *
        __builtin_ldexp(
            fraction + (1U << f.mantissa_bits), static_cast<int>(exponent) - bias - f.mantissa_bits);
}

}  // namespace headrace

#endif
