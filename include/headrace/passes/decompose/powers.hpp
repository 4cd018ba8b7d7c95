// SPDX-License-Identifier: MIT
// Defines headrace::power, the powers of nonnegative real numbers.
#ifndef HEADRACE_PASSES_DECOMPOSE_POWERS_HPP
#define HEADRACE_PASSES_DECOMPOSE_POWERS_HPP

#include <cmath>

#include <headrace/pass/arithmetic.hpp>

namespace headrace {

// TOSA's POW takes finite numbers only (spec 2.4.11).

/// Returns x to a power that is neither 0 nor NaN, for x >= 0 or NaN.
template <reading X>
[[nodiscard]] auto power(const X& x, double exponent) {
    const auto regular = x < HUGE_VAL;
    const auto base = where(regular, x, 1);
    const auto raised = call<aten::pow_tensor_tensor>(base, x.constant(std::abs(exponent)));
    const auto y = where(regular, raised, x);
    return choose(
        exponent < 0, [&] { return reciprocal(y); }, y);
}

/// Returns x to the power y, for x >= 0 or NaN. Where POW is not defined, it is exp(y · log(x)), or 1 if that
/// would be NaN although x is 1 or y is 0.
template <reading X, reading Y>
[[nodiscard]] auto power(const X& x, const Y& y) {
    const auto regular = logical_and(logical_and(x > 0, x < HUGE_VAL), abs(y) < HUGE_VAL);
    const auto raised = call<aten::pow_tensor_tensor>(where(regular, x, 1), where(regular, y, 1));
    const auto limit = exp(y * log(x));
    return where(regular, raised, where(logical_or(x == 1, y == 0), 1, limit));
}

}  // namespace headrace

#endif
