// SPDX-License-Identifier: MIT
// Defines headrace::vector_exponential and headrace::map_with_exponential.
#ifndef HEADRACE_EVAL_EXPONENTIAL_HPP
#define HEADRACE_EVAL_EXPONENTIAL_HPP

#include <array>
#include <cmath>
#include <cstddef>

#include <headrace/eval/map.hpp>

namespace headrace::eval {

/// As PyTorch's vector kernels round it: x = q ln 2 + s, and a polynomial for e^s (Shibata and Petrogalli,
/// SLEEF, IEEE TPDS 31, 2020: expf with an error of 1 ulp).
[[nodiscard]] inline float vector_exponential(float x) {
    constexpr std::array coefficients{0x1.a057b4p-13F, 0x1.6d2d92p-10F, 0x1.11114cp-7F,
                                      0x1.5554f4p-5F,  0x1.555556p-3F,  0.5F};
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

/// Result `f(x, exp)`. Of float32, PyTorch computes as many as fill its vectors by those, the last ones one
/// by one.
template <class F>
void map_with_exponential(evaluation& e, value in, F f) {
    constexpr std::size_t block = 32;
    if (!is_float32(e, in))
        return map_as<double>(e, in, [=](double x) { return f(x, [](double y) { return std::exp(y); }); });
    const std::size_t in_vectors = idx(e.output().size()) / block * block;
    std::size_t i = 0;
    map_as<float>(e, in, [=](float x) mutable {
        if (i++ < in_vectors) return f(x, vector_exponential);
        return f(x, [](float y) { return static_cast<float>(std::exp(static_cast<double>(y))); });
    });
}

}  // namespace headrace::eval

#endif
