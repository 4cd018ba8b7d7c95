// SPDX-License-Identifier: MIT
// Defines the arithmetic of CMSIS-NN for the test's kernels of cortex_m, as examples/docs/cortex_m.md states
// it. It shares nothing with Headrace's own kernels, which it checks.
#ifndef HEADRACE_TESTS_EXECUTORCH_CORTEX_M_ARITHMETIC_HPP
#define HEADRACE_TESTS_EXECUTORCH_CORTEX_M_ARITHMETIC_HPP

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

namespace cortex_m_arithmetic {

inline std::int32_t wrapped(std::int64_t x) { return static_cast<std::int32_t>(x); }

/// a * m / 2^31, halves up.
inline std::int32_t mulh(std::int32_t a, std::int32_t m) {
    return wrapped((std::int64_t{a} * m + (std::int64_t{1} << 30)) >> 31);
}
/// x / 2^n, halves away from zero.
inline std::int32_t rdiv(std::int32_t x, int n) {
    const std::int64_t half = n == 0 ? 0 : std::int64_t{1} << (n - 1);
    const std::int64_t rounded = ((x < 0 ? -std::int64_t{x} : std::int64_t{x}) + half) >> n;
    return wrapped(x < 0 ? -rounded : rounded);
}
inline std::int32_t requantize(std::int32_t x, std::int64_t multiplier, std::int64_t shift) {
    const std::int32_t scaled =
        wrapped(std::int64_t{x} * (std::int64_t{1} << std::max<std::int64_t>(shift, 0)));
    return rdiv(mulh(scaled, wrapped(multiplier)), static_cast<int>(std::max<std::int64_t>(-shift, 0)));
}
inline std::int8_t clamped(
    std::int32_t x, std::int64_t zero_point, std::int64_t lowest = -128, std::int64_t highest = 127) {
    const std::int64_t moved = wrapped(std::int64_t{x} + zero_point);
    return static_cast<std::int8_t>(std::min(std::max(moved, lowest), highest));
}

namespace softmax {

inline std::int32_t saturated(std::int64_t x) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(x, INT32_MIN, INT32_MAX));
}
inline std::int32_t mulh_saturated(std::int32_t a, std::int32_t b) {
    return a == INT32_MIN && b == INT32_MIN ? INT32_MAX : mulh(a, b);
}

/// e^v of v <= 0 in Q5.26, in Q31.
inline std::int32_t exp(std::int32_t v) {
    constexpr std::int32_t powers[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    constexpr std::int32_t eighth = 1895147668;
    if (v == 0) return INT32_MAX;
    const std::int32_t a = (v & ((1 << 24) - 1)) - (1 << 24);
    const std::int32_t x = wrapped(std::int64_t{a} * 32 + (1 << 28));
    const std::int32_t q = mulh_saturated(x, x);
    const std::int32_t t = wrapped(std::int64_t{rdiv(mulh_saturated(q, q), 2)} + mulh_saturated(q, x));
    const std::int32_t u = rdiv(wrapped(std::int64_t{mulh_saturated(t, 715827883)} + q), 1);
    std::int32_t e = wrapped(std::int64_t{eighth} + mulh_saturated(eighth, wrapped(std::int64_t{x} + u)));
    const std::int32_t rest = wrapped(std::int64_t{a} - v);
    for (int k = 0; k != 7; ++k) {
        if ((rest >> (24 + k) & 1) != 0) e = mulh_saturated(e, powers[k]);
    }
    return e;
}

inline std::int32_t reciprocal(std::int32_t v) {
    const auto g = wrapped((std::int64_t{v} + (std::int64_t{1} << 31)) / 2);
    std::int32_t x = wrapped(std::int64_t{1515870810} + mulh_saturated(g, -1010580540));
    for (int i = 0; i != 3; ++i) {
        const std::int32_t error = wrapped((std::int64_t{1} << 29) - mulh_saturated(g, x));
        x = wrapped(std::int64_t{x} + saturated(std::int64_t{mulh_saturated(x, error)} * 4));
    }
    return saturated(std::int64_t{x} * 2);
}

inline void row(std::span<const std::int8_t> x, std::int8_t* y, std::int64_t multiplier, std::int64_t shift,
    std::int64_t diff_min) {
    const std::int32_t highest = *std::max_element(x.begin(), x.end());
    const auto power = [&](std::int32_t d) {
        return exp(
            mulh_saturated(wrapped(std::int64_t{d} * (std::int64_t{1} << shift)), wrapped(multiplier)));
    };
    std::int32_t sum = 0;
    for (const std::int8_t e : x) {
        if (e - highest >= diff_min) sum = wrapped(std::int64_t{sum} + rdiv(power(e - highest), 12));
    }
    const int h = std::countl_zero(static_cast<std::uint32_t>(sum));
    const std::int32_t r = reciprocal(wrapped((std::int64_t{sum} << h) - (std::int64_t{1} << 31)));
    for (const std::int8_t e : x) {
        const bool left_out = e - highest < diff_min;
        *y++ =
            left_out ? std::int8_t{-128} : clamped(rdiv(mulh_saturated(r, power(e - highest)), 35 - h), -128);
    }
}

}  // namespace softmax

}  // namespace cortex_m_arithmetic

#endif
