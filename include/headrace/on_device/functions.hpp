// SPDX-License-Identifier: MIT
// Defines TOSA's functions of floats beside those of numbers, and those between types:
// headrace::on_device::cast and table. It includes all functions that element-wise expressions are written
// in.
#ifndef HEADRACE_ON_DEVICE_FUNCTIONS_HPP
#define HEADRACE_ON_DEVICE_FUNCTIONS_HPP

#include <concepts>
#include <cstdint>

#include <headrace/on_device/arithmetic.hpp>
#include <headrace/on_device/float_math.hpp>
#include <headrace/on_device/number.hpp>
#include <headrace/on_device/rescale.hpp>

namespace headrace::on_device {

// Functions of floats take floats alone, so a number does not become one by mistake.

HEADRACE_INLINE constexpr float add(std::same_as<float> auto a, std::same_as<float> auto b) { return a + b; }
HEADRACE_INLINE constexpr float sub(std::same_as<float> auto a, std::same_as<float> auto b) { return a - b; }
HEADRACE_INLINE constexpr float mul(std::same_as<float> auto a, std::same_as<float> auto b) { return a * b; }
HEADRACE_INLINE constexpr float negate(std::same_as<float> auto a) { return -a; }
HEADRACE_INLINE constexpr float abs(std::same_as<float> auto a) { return detail::magnitude(a); }

/// TOSA 1.0, 2.4.12 and 2.4.13 (MAXIMUM, MINIMUM).
template <nan_mode M = nan_mode::propagate>
HEADRACE_INLINE constexpr float maximum(std::same_as<float> auto a, std::same_as<float> auto b) {
    if (M == nan_mode::ignore) return a != a ? b : b != b || a > b ? a : b;
    return a != a || a > b ? a : b;
}
template <nan_mode M = nan_mode::propagate>
HEADRACE_INLINE constexpr float minimum(std::same_as<float> auto a, std::same_as<float> auto b) {
    if (M == nan_mode::ignore) return a != a ? b : b != b || a < b ? a : b;
    return a != a || a < b ? a : b;
}
/// TOSA 1.0, 2.3.1 (CLAMP). NaN stays, or becomes the least number.
template <nan_mode M = nan_mode::propagate>
HEADRACE_INLINE constexpr float clamp(std::same_as<float> auto a, float lo, float hi) {
    return minimum<M>(maximum<M>(a, lo), hi);
}
HEADRACE_INLINE constexpr number<0, 1> equal(std::same_as<float> auto a, std::same_as<float> auto b) {
    return {a == b};
}
HEADRACE_INLINE constexpr number<0, 1> greater(std::same_as<float> auto a, std::same_as<float> auto b) {
    return {a > b};
}
HEADRACE_INLINE constexpr number<0, 1> greater_equal(std::same_as<float> auto a, std::same_as<float> auto b) {
    return {a >= b};
}
template <integer C>
HEADRACE_INLINE constexpr float select(C c, std::same_as<float> auto a, std::same_as<float> auto b) {
    return c.value != 0 ? a : b;
}

/// TOSA 1.0, 2.12.1 (CAST): the nearest integer, the even one of two, as near as the type comes; NaN is 0.
/// A narrower float is rounded, and is a float again.
template <element E>
HEADRACE_INLINE constexpr value_of<E> cast(std::same_as<float> auto a) {
    if constexpr (E == element::float32) {
        return a;
    } else if constexpr (is_floating(E)) {
        return element_t<E>(a);
    } else if constexpr (E == element::boolean) {
        return {a != 0};
    } else {
        using rep = typename value_of<E>::rep;
        constexpr auto lo = static_cast<rep>(lowest_of(E)), hi = static_cast<rep>(highest_of(E));
        // The bounds of int32 and int48 are powers of two as floats: the upper one is one too high.
        if (a != a) return {0};
        if (a <= static_cast<float>(lo)) return {lo};
        if (a >= static_cast<float>(hi)) return {hi};
        return {static_cast<rep>(round_to_even(a))};
    }
}
/// A narrower integer has the low bits, a boolean is whether the number is not 0.
template <element E, integer A>
HEADRACE_INLINE constexpr auto cast(A a) {
    if constexpr (E == element::float32) {
        return A::math::to_float(a.value);
    } else if constexpr (is_floating(E)) {
        return cast<E>(A::math::to_float(a.value));
    } else if constexpr (A::bounds::lowest >= lowest_of(E) && A::bounds::highest <= highest_of(E)) {
        return a;
    } else if constexpr (E == element::boolean) {
        return logical_not(equal(a, constant<0>));
    } else {
        return detail::low_bits<E>(a.value);
    }
}

/// TOSA 1.0, 2.4.17 (TABLE) of int8: 256 entries, the first for -128.
template <integer A>
HEADRACE_INLINE constexpr auto table(A a, const std::int8_t* entries) {
    static_assert(
        A::bounds::lowest >= -128 && A::bounds::highest <= 127, "table: 256 entries are for numbers of int8");
    return number<-128, 127, typename A::rep>{A::math::lookup(entries + 128, a.value)};
}
/// TABLE of int16: 513 entries, between which it interpolates, to seven bits more.
template <integer A>
HEADRACE_INLINE constexpr auto table(A a, const std::int16_t* entries) {
    static_assert(A::bounds::lowest >= -32768 && A::bounds::highest <= 32767,
        "table: 513 entries are for numbers of int16");
    const auto interpolated = [=](std::int32_t x) {
        const std::int16_t* place = entries + 256 + (x >> 7);
        return place[0] * 128 + (place[1] - place[0]) * (x & 127);
    };
    return number<-32768 * 128, 32767 * 128, typename A::rep>{A::math::each(interpolated, a.value)};
}

}  // namespace headrace::on_device

#endif
