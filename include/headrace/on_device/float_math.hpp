// SPDX-License-Identifier: MIT
// Defines functions of floats without libm, headrace::on_device::exp and its kin, also for constant
// expressions.
#ifndef HEADRACE_ON_DEVICE_FLOAT_MATH_HPP
#define HEADRACE_ON_DEVICE_FLOAT_MATH_HPP

#include <bit>
#include <cstdint>
#include <limits>

#include <headrace/on_device/core.hpp>

namespace headrace::on_device {

// Errors are the largest that tests/on_device/float_math.cpp finds, in units of the last place of a normal
// result. NaN gives NaN, and -0 is kept. A subnormal result is off by a unit of 2^-149 at most.

namespace detail {

constexpr float infinity = std::numeric_limits<float>::infinity(),
                nan = std::numeric_limits<float>::quiet_NaN();

constexpr std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
constexpr float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
constexpr bool is_negative(float x) { return bits_of(x) >> 31 != 0; }
constexpr float magnitude(float x) { return float_of(bits_of(x) & 0x7FFFFFFFU); }
constexpr float with_sign_of(float x, float sign) {
    return float_of((bits_of(x) & 0x7FFFFFFFU) | (bits_of(sign) & 0x80000000U));
}
/// 2^n for a normal result.
constexpr float power_of_two(int n) { return float_of(static_cast<std::uint32_t>(n + 127) << 23); }
/// x * 2^n, rounded once; x lies around 1, and n between -190 and 128.
constexpr float times_power_of_two(float x, int n) {
    if (n < -126) return x * power_of_two(n + 64) * power_of_two(-64);
    return n > 127 ? x * 2 * power_of_two(n - 1) : x * power_of_two(n);
}
/// A positive number as fraction * 2^exponent, with the fraction between sqrt(1/2) and sqrt(2).
struct split {
    float fraction;
    int exponent;
};
constexpr split split_of(float x) {
    const bool is_subnormal = x < power_of_two(-126);
    const std::uint32_t bits = bits_of(is_subnormal ? x * power_of_two(24) : x);
    const auto above = static_cast<std::uint32_t>((bits & 0x7FFFFFU) > 0x3504F3U);  // sqrt(2)
    const int exponent =
        static_cast<int>(bits >> 23) - 127 + static_cast<int>(above) - (is_subnormal ? 24 : 0);
    return {float_of((bits & 0x7FFFFFU) | ((127U - above) << 23)), exponent};
}
constexpr float polynomial(float, float first) { return first; }
/// The coefficient of the highest power comes first.
constexpr float polynomial(float x, float first, float second, auto... others) {
    return polynomial(x, first * x + second, others...);
}

}  // namespace detail

/// The nearest integer, the even one of two, and toward an infinity.
constexpr float round_to_even(float x) {
    if (!(detail::magnitude(x) < 8388608.F)) return x;  // it has no fraction, or is NaN
    const auto whole = static_cast<std::int32_t>(x);
    const float rest = x - static_cast<float>(whole);
    const float distance = detail::magnitude(rest);
    const bool away = distance > 0.5F || (distance == 0.5F && (whole & 1) != 0);
    return detail::with_sign_of(static_cast<float>(whole + (away ? (x < 0 ? -1 : 1) : 0)), x);
}
/// TOSA 1.0, 2.5.7 (FLOOR).
constexpr float floor(float x) {
    if (!(detail::magnitude(x) < 8388608.F)) return x;
    const auto whole = static_cast<float>(static_cast<std::int32_t>(x));
    return detail::with_sign_of(whole > x ? whole - 1 : whole, x);
}
/// TOSA 1.0, 2.5.3 (CEIL).
constexpr float ceil(float x) { return -floor(-x); }

/// TOSA 1.0, 2.5.11 (RECIPROCAL), rounded correctly.
constexpr float reciprocal(float x) { return x == 0 ? detail::with_sign_of(detail::infinity, x) : 1 / x; }
/// TOSA 1.0, 2.5.12 (RSQRT). Error: 1.5.
HEADRACE_SHARED constexpr float rsqrt(float x) {
    if (x == 0) return detail::with_sign_of(detail::infinity, x);
    if (!(x > 0)) return detail::nan;
    if (x == detail::infinity) return 0;
    detail::split s = detail::split_of(x);
    if ((s.exponent & 1) != 0) s = {s.fraction * 2, s.exponent - 1};
    // A guess from the bits is right to 3 %; each step of Newton's doubles the digits.
    float y = detail::float_of(0x5F375A86U - (detail::bits_of(s.fraction) >> 1));
    for (int i = 0; i != 3; ++i) y += 0.5F * y * (1 - s.fraction * y * y);
    return y * detail::power_of_two(-s.exponent / 2);
}

/// TOSA 1.0, 2.5.6 (EXP). Error: 1.
HEADRACE_SHARED constexpr float exp(float x) {
    if (x != x) return x;
    if (x > 88.7229F) return detail::infinity;
    if (x < -104.F) return 0;
    const auto n = static_cast<int>(x * 1.44269504F + (x < 0 ? -0.5F : 0.5F));
    const auto turns = static_cast<float>(n);
    // ln 2 in two parts, the first of so few bits that the product is exact.
    const float r = x - turns * 0.693359375F - turns * -2.12194440e-4F;
    const float tail = detail::polynomial(
        r, 1.989124721e-4F, 1.393388142e-3F, 8.333310485e-3F, 4.166646302e-2F, 1.666666716e-1F, 0.5F);
    return detail::times_power_of_two(1 + (r + r * r * tail), n);
}
/// TOSA 1.0, 2.5.8 (LOG). Error: 1.
HEADRACE_SHARED constexpr float log(float x) {
    if (x == 0) return -detail::infinity;
    if (!(x > 0)) return detail::nan;
    if (x == detail::infinity) return x;
    const detail::split s = detail::split_of(x);
    const auto exponent = static_cast<float>(s.exponent);
    const float z = s.fraction - 1, square = z * z;
    const float tail =
        detail::polynomial(z, 6.971611828e-2F, -1.147973388e-1F, 1.168541983e-1F, -1.242568716e-1F,
            1.424905807e-1F, -1.666780263e-1F, 2.000071555e-1F, -2.499999702e-1F, 3.333333135e-1F);
    const float low = tail * z * square + exponent * -2.12194440e-4F - 0.5F * square;
    return z + low + exponent * 0.693359375F;
}

namespace detail {

/// x as quadrant * pi / 2 + rest, with the rest between -pi / 4 and pi / 4.
struct angle {
    int quadrant;
    float rest;
};
/// Multiplies by the bits of 2 / pi that matter (Payne and Hanek), so any number is reduced to its last bit.
HEADRACE_SHARED constexpr angle reduced(float x) {
    constexpr std::uint32_t bits[9]{0, 0xA2F9836EU, 0x4E441529U, 0xFC2757D1U, 0xF534DDC0U, 0xDB629599U,
        0x3C439041U, 0xFE5163ABU, 0xDEBBC561U};
    if (magnitude(x) <= 0.785398185F) return {0, x};
    const std::uint32_t word = bits_of(x);
    const std::uint64_t fraction = (word & 0x7FFFFFU) | 0x800000U;
    // The first bit whose product has a weight below 4.
    const int at = static_cast<int>((word >> 23) & 0xFFU) - 150 + 30, first = at / 32, by = at % 32;
    const auto bits_at = [&](int i) {
        return by == 0 ? bits[first + i] : (bits[first + i] << by) | (bits[first + i + 1] >> (32 - by));
    };
    const std::uint64_t low = fraction * bits_at(2), middle = fraction * bits_at(1) + (low >> 32);
    const std::uint32_t high =
        static_cast<std::uint32_t>(fraction) * bits_at(0) + static_cast<std::uint32_t>(middle >> 32);
    const std::uint64_t turns = (std::uint64_t{high} << 32) | static_cast<std::uint32_t>(middle);
    const auto quadrant = static_cast<int>((turns + (std::uint64_t{1} << 61)) >> 62);
    const std::uint64_t rest = turns << 2;
    const bool below = rest >> 63 != 0;
    const std::uint64_t size = below ? 0 - rest : rest;
    if (size == 0) return {quadrant, 0};
    const int zeros = std::countl_zero(size);
    const auto leading = static_cast<std::uint32_t>((size << zeros) >> 32);
    const auto product = static_cast<std::uint32_t>((std::uint64_t{leading} * 0xC90FDAA2U) >> 32);  // pi / 2
    const float r = static_cast<float>(product) * power_of_two(-31 - zeros);
    const bool is_mirrored = word >> 31 != 0;
    return {is_mirrored ? -quadrant : quadrant, below != is_mirrored ? -r : r};
}
constexpr float sine_of_rest(float r) {
    const float z = r * r;
    if (z == 0) return r;  // -0 stays
    return r + r * z * polynomial(z, -1.958782959e-4F, 8.332747966e-3F, -1.666666418e-1F);
}
constexpr float cosine_of_rest(float r) {
    const float z = r * r;
    return 1 - (0.5F * z - z * z * polynomial(z, 2.454788046e-5F, -1.388830249e-3F, 4.166666418e-2F));
}

}  // namespace detail

/// TOSA 1.0, 2.5.13 (SIN). Error: 1.5, for numbers of any size.
HEADRACE_SHARED constexpr float sin(float x) {
    if (!(detail::magnitude(x) < detail::infinity)) return detail::nan;
    const detail::angle a = detail::reduced(x);
    const float y = (a.quadrant & 1) != 0 ? detail::cosine_of_rest(a.rest) : detail::sine_of_rest(a.rest);
    return (a.quadrant & 2) != 0 ? -y : y;
}
/// TOSA 1.0, 2.5.5 (COS). Error: 1.5, for numbers of any size.
HEADRACE_SHARED constexpr float cos(float x) {
    if (!(detail::magnitude(x) < detail::infinity)) return detail::nan;
    const detail::angle a = detail::reduced(x);
    const float y = (a.quadrant & 1) != 0 ? -detail::sine_of_rest(a.rest) : detail::cosine_of_rest(a.rest);
    return (a.quadrant & 2) != 0 ? -y : y;
}

/// TOSA 1.0, 2.3.4 (TANH). Error: 2.
HEADRACE_SHARED constexpr float tanh(float x) {
    const float size = detail::magnitude(x);
    if (x != x) return x;
    if (size >= 9.1F) return detail::with_sign_of(1, x);
    if (size > 0.625F) return detail::with_sign_of(1 - 2 / (exp(2 * size) + 1), x);
    const float z = x * x;
    if (z == 0) return x;  // -0 stays
    return x +
        x * z *
        detail::polynomial(z, 2.269501798e-3F, -8.323187009e-3F, 2.176250331e-2F, -5.395846069e-2F,
            1.333329976e-1F, -3.333333433e-1F);
}
/// TOSA 1.0, 2.3.3 (SIGMOID). Error: 2.5.
HEADRACE_SHARED constexpr float sigmoid(float x) {
    const float e = exp(-detail::magnitude(x));
    return x != x ? x : x < 0 ? e / (1 + e) : 1 / (1 + e);
}
/// TOSA 1.0, 2.3.2 (ERF). Error: 1.5.
HEADRACE_SHARED constexpr float erf(float x) {
    const float size = detail::magnitude(x);
    if (x != x) return x;
    if (size >= 4) return detail::with_sign_of(1, x);
    if (size > 0.93F) {
        const float logarithm =
            detail::polynomial(size, 2.774852987e-7F, -4.499955139e-6F, 1.279368189e-5F, 2.762448275e-4F,
                -3.668697318e-3F, 2.402030304e-2F, -1.066690236e-1F, -6.348386407e-1F, -1.287342459e-1F);
        return detail::with_sign_of(1 - exp(size * logarithm - size), x);
    }
    const float z = x * x;
    return x +
        x *
        detail::polynomial(z, 8.316879394e-5F, -8.130444912e-4F, 5.199989304e-3F, -2.685899660e-2F,
            1.128368899e-1F, -3.761263192e-1F, 1.283791661e-1F);
}

namespace detail {

/// a^b for positive, finite a that is not 1 and finite b, in double: the error of a logarithm grows by b.
constexpr float power_of_positive(float a, float b) {
    const split s = split_of(a);
    const double z = (s.fraction - 1.0) / (s.fraction + 1.0), square = z * z;
    double series = 0;
    for (int i = 15; i > 0; i -= 2) series = series * square + 2.8853900817779268 / i;  // 2 / ln 2
    const double exponent = b * (s.exponent + z * series);
    if (exponent > 129) return infinity;
    if (exponent < -151) return 0;
    const auto n = static_cast<int>(exponent + (exponent < 0 ? -0.5 : 0.5));
    const double r = (exponent - n) * 0.69314718055994531;
    double power = 1;
    for (int i = 10; i > 0; --i) power = 1 + r * power / i;
    const auto scale = std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
    const double result = power * scale;
    return result >= 3.4028235677973366e38 ? infinity : static_cast<float>(result);
}

}  // namespace detail

/// TOSA 1.0, 2.4.15 (POW), with the special cases of C. Error: 1. It computes in double, so it is slow on
/// cores that have none.
HEADRACE_SHARED constexpr float pow(float a, float b) {
    using detail::magnitude;
    if (b == 0 || a == 1) return 1;
    if (a != a || b != b) return detail::nan;
    const float size = magnitude(a), exponent = magnitude(b);
    const bool is_whole = exponent >= 8388608.F || floor(b) == b;
    const bool is_odd = is_whole && exponent < 16777216.F && (static_cast<std::int32_t>(exponent) & 1) != 0;
    const float sign = detail::is_negative(a) && is_odd ? -1.F : 1.F;
    if (size == 1 && exponent == detail::infinity) return 1;
    if (size == 0 || size == detail::infinity)
        return sign * ((size == 0) == (b > 0) ? 0.F : detail::infinity);
    if (exponent == detail::infinity) return (size > 1) == (b > 0) ? detail::infinity : 0.F;
    if (a < 0 && !is_whole) return detail::nan;
    return size == 1 ? sign : sign * detail::power_of_positive(size, b);
}

}  // namespace headrace::on_device

#endif
