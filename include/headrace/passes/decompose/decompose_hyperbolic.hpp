// SPDX-License-Identifier: MIT
// Defines headrace::decompose_hyperbolic.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_HYPERBOLIC_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_HYPERBOLIC_HPP

#include <numbers>

#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// exp(x) is computed as h² with h = exp(x/2), which overflows no earlier than the result does. Inverses use
/// log1p, which keeps small results accurate.
struct decompose_hyperbolic : pass {
    using phase = function_decomposition;
    static constexpr std::string_view summary = "sinh, cosh by exp and tanh; asinh, acosh, atanh by log1p";

    static auto rewrites() {
        return real_rules(
            on<aten::cosh> =
                [](auto x) {
                    const auto h = exp(abs(x) * 0.5);
                    const auto inverse = reciprocal(h);
                    return h * 0.5 * h + inverse * 0.5 * inverse;
                },
            on<aten::sinh> =
                [](auto x) {
                    const auto half = x * 0.5;
                    const auto h = exp(half);
                    const auto inverse = reciprocal(h);
                    const auto t = tanh(half);
                    return where(abs(x) < 1, t * 2 / (1 - t * t), h * 0.5 * h - inverse * 0.5 * inverse);
                },
            on<aten::asinh> =
                [](auto x) {
                    const auto magnitude = abs(x);
                    const auto squared = x * x;
                    const auto small = log1p(magnitude + squared / (sqrt(squared + 1) + 1));
                    const auto y = where(magnitude > large, log(magnitude) + std::numbers::ln2, small);
                    return where(x < 0, -y, y);
                },
            on<aten::acosh> =
                [](auto x) {
                    const auto t = x - 1;
                    const auto small = log1p(t + sqrt(t) * sqrt(t + 2));
                    return where(x > large, log(x) + std::numbers::ln2, small);
                },
            on<aten::atanh> =
                [](auto x) {
                    const auto magnitude = abs(x);
                    const auto y = log1p(magnitude * 2 / (1 - magnitude)) * 0.5;
                    return where(x < 0, -y, y);
                });
    }

private:
    static constexpr double large = 1e9;  // beyond, x² + 1 = x² in float32, and both functions are log(2x)
};
HEADRACE_COMPILED_PASS(decompose_hyperbolic);

}  // namespace headrace

#endif
