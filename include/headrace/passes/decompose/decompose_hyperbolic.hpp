// SPDX-License-Identifier: MIT
// Defines headrace::decompose_hyperbolic.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_HYPERBOLIC_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_HYPERBOLIC_HPP

#include <numbers>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// Hyperbolic functions and their inverses. exp(x) is taken as h² with h = exp(x/2), which overflows no
/// earlier than the result does; inverses go through log1p, which keeps small results accurate:
///
///     cosh(x) = h²/2 + 1/(2h²)        sinh(x) = h²/2 - 1/(2h²), near 0 2t / (1 - t²) with t = tanh(x/2)
///     asinh(|x|) = log1p(|x| + x² / (1 + √(x² + 1)))       atanh(|x|) = log1p(2|x| / (1 - |x|)) / 2
///     acosh(1 + t) = log1p(t + √t · √(t + 2))
struct decompose_hyperbolic : pass {
    using phase = function_decomposition;
    using targets = ops<aten::sinh, aten::cosh, aten::asinh, aten::acosh, aten::atanh>;
    using produces = formula_ops;

    value operator()(const args<aten::cosh>& a, emit<produces>& e) const {
        const auto h = exp(abs(formula::real(e, a.self)) * 0.5);
        const auto inverse = reciprocal(h);
        return in_result_type(h * 0.5 * h + inverse * 0.5 * inverse);
    }
    value operator()(const args<aten::sinh>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        const auto half = x * 0.5;
        const auto h = exp(half);
        const auto inverse = reciprocal(h);
        const auto t = tanh(half);
        return in_result_type(where(abs(x) < 1, t * 2 / (1 - t * t), h * 0.5 * h - inverse * 0.5 * inverse));
    }
    value operator()(const args<aten::asinh>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        const auto magnitude = abs(x);
        const auto squared = x * x;
        const auto small = log1p(magnitude + squared / (sqrt(squared + 1) + 1));
        const auto y = where(magnitude > large, log(magnitude) + std::numbers::ln2, small);
        return in_result_type(where(x < 0, -y, y));
    }
    value operator()(const args<aten::acosh>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        const auto t = x - 1;
        const auto small = log1p(t + sqrt(t) * sqrt(t + 2));
        return in_result_type(where(x > large, log(x) + std::numbers::ln2, small));
    }
    value operator()(const args<aten::atanh>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        const auto magnitude = abs(x);
        const auto y = log1p(magnitude * 2 / (1 - magnitude)) * 0.5;
        return in_result_type(where(x < 0, -y, y));
    }

private:
    static constexpr double large = 1e9;  // beyond, x² + 1 = x² in float32, and both functions are log(2x)
};

}  // namespace headrace

#endif
