// SPDX-License-Identifier: MIT
// Defines headrace::exponential.
#ifndef HEADRACE_EVAL_EXPONENTIAL_HPP
#define HEADRACE_EVAL_EXPONENTIAL_HPP

#include <array>
#include <cmath>

namespace headrace::eval {

[[nodiscard]] inline double exponential(double x) { return std::exp(x); }

/// As PyTorch's vector kernels round it: x = q ln 2 + s, and a polynomial for e^s (Shibata and Petrogalli,
/// SLEEF, IEEE TPDS 31, 2020: expf with an error of 1 ulp).
[[nodiscard]] inline float exponential(float x) {
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

}  // namespace headrace::eval

#endif
