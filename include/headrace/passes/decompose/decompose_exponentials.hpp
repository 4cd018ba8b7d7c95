// SPDX-License-Identifier: MIT
// Defines headrace::decompose_exponentials.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_EXPONENTIALS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_EXPONENTIALS_HPP

#include <numbers>

#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// Square root, exponentials and logarithms from TOSA's EXP, LOG, TANH and RSQRT. Near 0 they keep the
/// relative accuracy that the textbook forms lose:
///
///     expm1(x) = 2t / (1 - t) with t = tanh(x/2)       log1p(x) = log(u) · x / (u - 1) with u = 1 + x
///
/// and of two tensors, with the larger one taken out so that nothing overflows:
///
///     logaddexp(x, y) = max(x, y) + log1p(exp(-|x - y|))       xlogy(x, y) = x · log(y), or 0 where x is
///     hypot(x, y) = m · √(1 + (n/m)²), m the larger and n the smaller magnitude; infinite if one is,
///     whatever the other
struct decompose_exponentials : pass {
    using targets = ops<aten::sqrt, aten::expm1, aten::log1p, aten::log2, aten::log10, aten::erfc,
                        aten::logaddexp, aten::xlogy_tensor, aten::hypot>;
    using produces = formula_ops;

    value operator()(const args<aten::sqrt>& a, emit<produces>& e) const {
        return in_result_type(sqrt(formula::real(e, a.self)));
    }
    value operator()(const args<aten::expm1>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        const auto t = tanh(x * 0.5);
        return in_result_type(where(abs(x) < 1, t * 2 / (1 - t), exp(x) - 1));
    }
    value operator()(const args<aten::log1p>& a, emit<produces>& e) const {
        return in_result_type(log1p(formula::real(e, a.self)));
    }
    value operator()(const args<aten::log2>& a, emit<produces>& e) const {
        return in_result_type(log(formula::real(e, a.self)) * std::numbers::log2e);
    }
    value operator()(const args<aten::log10>& a, emit<produces>& e) const {
        return in_result_type(log(formula::real(e, a.self)) * std::numbers::log10e);
    }
    value operator()(const args<aten::erfc>& a, emit<produces>& e) const {
        return in_result_type(1 - erf(formula::real(e, a.self)));
    }
    value operator()(const args<aten::logaddexp>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        const auto y = formula::real(e, a.other);
        const auto larger = max(x, y);
        const auto sum = larger + log1p(exp(-abs(x - y)));
        // Infinities have no difference.
        return in_result_type(where(x == y, larger + std::numbers::ln2, sum));
    }
    value operator()(const args<aten::xlogy_tensor>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        const auto y = formula::real(e, a.other);
        return in_result_type(where(both(x == 0, y == y), x, x * log(y)));
    }
    value operator()(const args<aten::hypot>& a, emit<produces>& e) const {
        const auto x = abs(formula::real(e, a.self));
        const auto y = abs(formula::real(e, a.other));
        const auto larger = max(x, y);
        const auto ratio = where(x == y, larger.number(1), min(x, y) / larger);
        const auto length = larger * sqrt(ratio * ratio + 1);
        return in_result_type(where(either(x == HUGE_VAL, y == HUGE_VAL), larger.number(HUGE_VAL), length));
    }
};

}  // namespace headrace

#endif
