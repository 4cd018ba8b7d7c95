// SPDX-License-Identifier: MIT
// Defines headrace::vector_exponential, headrace::table_exponential and headrace::map_with_exponential.
#ifndef HEADRACE_EVAL_EXPONENTIAL_HPP
#define HEADRACE_EVAL_EXPONENTIAL_HPP

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <headrace/base/wide_float.hpp>
#include <headrace/eval/map.hpp>

namespace headrace::eval {

[[nodiscard]] inline float nearest_exponential(float x) {
    return static_cast<float>(std::exp(static_cast<double>(x)));
}

/// exp as rounded by PyTorch's vector kernels: x = q ln 2 + s, with a polynomial for e^s (Shibata and
/// Petrogalli, SLEEF, IEEE TPDS 31, 2020: expf with an error of 1 ulp).
[[nodiscard]] inline float vector_exponential(float x) {
    constexpr std::array coefficients{
        0x1.a057b4p-13F, 0x1.6d2d92p-10F, 0x1.11114cp-7F, 0x1.5554f4p-5F, 0x1.555556p-3F, 0.5F};
    if (std::isnan(x)) return x;
    if (x > 100) return INFINITY;
    if (x < -104) return 0;
    const float q = std::nearbyint(x * 0x1.715476p+0F);
    float s = std::fma(q, -0x1.62e4p-1F, x);
    s = std::fma(q, -0x1.7f7d1cp-20F, s);
    float u = 0;
    for (const float c : coefficients) u = std::fma(u, s, c);
    return std::ldexp(1 + std::fma(s * s, u, s), static_cast<int>(q));
}

namespace detail {

/// 2^(i/128) as the sum of two floats.
struct power_of_two {
    float high, low;
};
[[nodiscard]] consteval std::array<power_of_two, 128> powers_of_two() {
    constexpr wide_float ln_2 = wide_float{0x1.62e42fefa39efp-1} + wide_float{0x1.abc9e3b39803fp-56};
    std::array<wide_float, 23> coefficients{1};  // of the series of exp
    for (std::size_t n = 1; n != coefficients.size(); ++n)
        coefficients[n] = coefficients[n - 1] / static_cast<wide_float>(n);
    std::array<power_of_two, 128> powers{};
    for (std::size_t i = 0; i != powers.size(); ++i) {
        const wide_float exponent = ln_2 * static_cast<wide_float>(i) / 128;
        wide_float sum = 0;
        for (std::size_t n = coefficients.size(); n-- != 0;) sum = sum * exponent + coefficients[n];
        powers[i].high = static_cast<float>(sum);
        powers[i].low = static_cast<float>(sum - static_cast<wide_float>(powers[i].high));
    }
    return powers;
}

}  // namespace detail

/// exp as rounded by PyTorch's operator exp on x86-64: x = n ln(2) / 128 + r, a table of powers of two and 1
/// + r + r^2 / 2 (Tang, "Table-driven implementation of the exponential function", ACM TOMS 15, 1989).
/// Probing determined which steps are rounded: the results are bit-identical for all floats.
[[nodiscard]] inline float table_exponential(float x) {
    static constexpr std::array table = detail::powers_of_two();
    if (!(std::fabs(x) <= 0x1.5d58ap+6F)) return nearest_exponential(x);  // log of the smallest float
    const float n = std::nearbyint(x * 0x1.715476p+7F);
    const float r = x - n * 0x1.63p-8F + n * 0x1.bd0106p-20F;
    const auto whole = static_cast<int>(n);
    const auto& [high, low] = table[static_cast<std::size_t>(whole & 127)];
    const float y = high + (low + high * (r * r * 0.5F + r));
    return y * std::bit_cast<float>(static_cast<std::uint32_t>((whole >> 7) + 127) << 23);
}

/// Computes `f(x, exp)`. For float32, PyTorch uses its vector kernel for as many elements as fill its
/// vectors, and computes the rest one by one.
template <class F>
void map_with_exponential(evaluation& e, value in, F f) {
    constexpr std::size_t block = 32;
    if (!is_float32(e, in))
        return map_as<double>(e, in, [=](double x) { return f(x, [](double y) { return std::exp(y); }); });
    const std::size_t in_vectors = idx(e.output().size()) / block * block;
    std::size_t i = 0;
    map_as<float>(e, in, [=](float x) mutable {
        return i++ < in_vectors ? f(x, vector_exponential) : f(x, nearest_exponential);
    });
}

[[nodiscard]] inline double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace headrace::eval

#endif
