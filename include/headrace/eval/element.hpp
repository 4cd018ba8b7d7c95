// SPDX-License-Identifier: MIT
// Defines the C++ types for element dtypes, headrace::visit_elements, and headrace::element_cast between
// them.
#ifndef HEADRACE_EVAL_ELEMENT_HPP
#define HEADRACE_EVAL_ELEMENT_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <Eigen/Core>

#include <headrace/base/dtype.hpp>

namespace headrace::eval {

/// An element of a BOOL tensor: a byte, where only zero means false.
struct truth {
    std::uint8_t byte = 0;
};

/// Eight-bit floats are like half floats (E5M2) or nearly so (E4M3), and are computed as float.
struct float8_e5m2 {
    std::uint8_t bits = 0;
};
struct float8_e4m3 {
    std::uint8_t bits = 0;
};

namespace detail {

template <class T>
inline constexpr bool is_small_float = std::is_same_v<T, Eigen::half> || std::is_same_v<T, Eigen::bfloat16>;
template <class T>
inline constexpr bool is_float8 = std::is_same_v<T, float8_e5m2> || std::is_same_v<T, float8_e4m3>;

/// Mantissa bits, smallest normal exponent, largest value, and whether infinities exist.
struct float8_format {
    int mantissa, smallest_exponent;
    float largest;
    bool infinities;
};
template <class T>
inline constexpr float8_format format_of =
    std::is_same_v<T, float8_e5m2> ? float8_format{2, -14, 57344.F, true}
                                   : float8_format{3, -6, 448.F, false};

template <class T>
float float8_to_float(T v) {
    constexpr float8_format f = format_of<T>;
    const int field = (v.bits & 0x7F) >> f.mantissa;
    const int fraction = v.bits & ((1 << f.mantissa) - 1);
    const float sign = (v.bits & 0x80) != 0 ? -1.F : 1.F;
    if (f.infinities && field == 31) {
        const auto special =
            fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
        return sign * special;
    }
    if (!f.infinities && (v.bits & 0x7F) == 0x7F) return std::numeric_limits<float>::quiet_NaN();
    const int mantissa = field == 0 ? fraction : fraction + (1 << f.mantissa);
    const int exponent = (field == 0 ? 0 : field - 1) + f.smallest_exponent - f.mantissa;
    return sign * std::ldexp(static_cast<float>(mantissa), exponent);
}

/// Rounds to nearest even; values that are too large become infinity, or NaN if there is no infinity.
template <class T>
T float_to_float8(float v) {
    constexpr float8_format f = format_of<T>;
    const auto sign = static_cast<std::uint8_t>(std::signbit(v) ? 0x80 : 0);
    const auto with_sign = [&](int bits) { return T{static_cast<std::uint8_t>(sign | bits)}; };
    if (std::isnan(v)) return with_sign(0x7F);
    const float magnitude = std::fabs(v);
    const int exponent =
        magnitude == 0 ? f.smallest_exponent : std::max(std::ilogb(magnitude), f.smallest_exponent);
    const float unit = std::ldexp(1.F, (exponent > 100 ? 100 : exponent) - f.mantissa);
    const float rounded = std::nearbyint(magnitude / unit) * unit;
    if (!(rounded <= f.largest)) return with_sign(f.infinities ? 31 << f.mantissa : 0x7F);
    const int top = rounded == 0 ? f.smallest_exponent : std::max(std::ilogb(rounded), f.smallest_exponent);
    const int mantissa = static_cast<int>(std::ldexp(rounded, f.mantissa - top));
    return with_sign(((top - f.smallest_exponent) << f.mantissa) + mantissa);  // a carry of 1 makes it normal
}

}  // namespace detail

/// Converts as PyTorch does: toward zero and modulo 2^n into integers, to nearest even into floats. Values
/// out of range of int64 are first clamped to it; NaN becomes 0.
template <class To, class From>
[[nodiscard]] inline To element_cast(From v) {
    if constexpr (std::is_same_v<To, From>) {
        return v;
    } else if constexpr (std::is_same_v<From, truth>) {
        return element_cast<To>(static_cast<std::int64_t>(v.byte != 0));
    } else if constexpr (detail::is_small_float<From>) {
        return element_cast<To>(static_cast<float>(v));
    } else if constexpr (detail::is_float8<From>) {
        return element_cast<To>(detail::float8_to_float(v));
    } else if constexpr (std::is_same_v<To, truth>) {
        return truth{static_cast<std::uint8_t>(v != From{})};
    } else if constexpr (detail::is_small_float<To>) {
        return To(static_cast<float>(v));
    } else if constexpr (detail::is_float8<To>) {
        return detail::float_to_float8<To>(static_cast<float>(v));
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        if (std::isnan(v)) return To{};
        if (v >= static_cast<From>(9223372036854775807.0)) return static_cast<To>(INT64_MAX);
        if (v <= static_cast<From>(-9223372036854775808.0)) return static_cast<To>(INT64_MIN);
        return static_cast<To>(static_cast<std::int64_t>(v));
    } else {
        return static_cast<To>(v);
    }
}

/// Calls `f(T{})` with the type that holds elements of `t` during evaluation: INT4 takes a byte, INT48 and
/// shapes an int64, so that every element has an address. For complex numbers, `f` is not called and false is
/// returned.
template <class F>
bool visit_elements(dtype t, F&& f) {
    switch (t) {
        case dtype::boolean:
            f(truth{});
            return true;
        case dtype::int4:
        case dtype::int8:
            f(std::int8_t{});
            return true;
        case dtype::int16:
            f(std::int16_t{});
            return true;
        case dtype::int32:
            f(std::int32_t{});
            return true;
        case dtype::int48:
        case dtype::int64:
        case dtype::shape:
            f(std::int64_t{});
            return true;
        case dtype::uint8:
            f(std::uint8_t{});
            return true;
        case dtype::uint16:
            f(std::uint16_t{});
            return true;
        case dtype::uint32:
            f(std::uint32_t{});
            return true;
        case dtype::uint64:
            f(std::uint64_t{});
            return true;
        case dtype::float8_e4m3:
            f(float8_e4m3{});
            return true;
        case dtype::float8_e5m2:
            f(float8_e5m2{});
            return true;
        case dtype::bfloat16:
            f(Eigen::bfloat16{});
            return true;
        case dtype::float16:
            f(Eigen::half{});
            return true;
        case dtype::float32:
            f(float{});
            return true;
        case dtype::float64:
            f(double{});
            return true;
        case dtype::complex32:
        case dtype::complex64:
        case dtype::complex128:
        case dtype::unknown:
            break;
    }
    return false;
}

}  // namespace headrace::eval

#endif
