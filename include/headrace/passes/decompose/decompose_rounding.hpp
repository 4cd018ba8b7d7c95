// SPDX-License-Identifier: MIT
// Defines headrace::decompose_rounding.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ROUNDING_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ROUNDING_HPP

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// round to the nearest, ties to even; trunc toward zero; frac(x) = x - trunc(x); sign(x), which is 0 for
/// NaN; signbit tells -0 from 0, and copysign gives one number the sign of another. x - floor(x) is exact in
/// floating-point arithmetic, so that ties are recognised as such. Integers stay.
struct decompose_rounding : pass {
    using phase = function_decomposition;
    using targets = ops<aten::round, aten::round_decimals, aten::trunc, aten::frac, aten::sign, aten::sgn,
                        aten::signbit, aten::copysign_tensor>;
    using produces = formula_ops;

    value operator()(const args<aten::round>& a, emit<produces>& e) const {
        return is_floating(e.dtype(a.self)) ? nearest_even(formula::term_of(e, a.self)).v : a.self;
    }
    value operator()(const args<aten::round_decimals>& a, emit<produces>& e) const {
        if (!is_floating(e.dtype(a.self))) return a.self;
        if (a.decimals == 0) return nearest_even(formula::term_of(e, a.self));
        const auto x = formula::real(e, a.self);
        const auto power = x.number(std::pow(10.0, static_cast<double>(std::abs(a.decimals))));
        return in_result_type(a.decimals > 0 ? nearest_even(x * power) / power
                                             : nearest_even(x / power) * power);
    }
    value operator()(const args<aten::trunc>& a, emit<produces>& e) const {
        return is_floating(e.dtype(a.self)) ? trunc(formula::term_of(e, a.self)).v : a.self;
    }
    value operator()(const args<aten::frac>& a, emit<produces>& e) const {
        const auto x = formula::term_of(e, a.self);
        return x - trunc(x);
    }
    template <one_of<ops<aten::sign, aten::sgn>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const auto x = formula::term_of(e, a.self);
        if (is_boolean(e.dtype(x))) return x;
        if (!is_floating(e.dtype(x))) return clamp(x, -1, 1);
        return where(x > 0, x.number(1), where(x < 0, x.number(-1), x.number(0)));
    }
    value operator()(const args<aten::signbit>& a, emit<produces>& e) const {
        const auto x = formula::term_of(e, a.self);
        if (is_boolean(e.dtype(x))) return e.splat(false, dtype::boolean, e.shape(x));
        return is_floating(e.dtype(x)) ? is_negative(x).v : (x < 0).v;
    }
    value operator()(const args<aten::copysign_tensor>& a, emit<produces>& e) const {
        const auto magnitude = abs(formula::real(e, a.self));
        const auto negative = is_negative(formula::real(e, a.other));
        return in_result_type(where(negative, -magnitude, magnitude));
    }

private:
    template <class Term>
    static Term nearest_even(const Term& x) {
        const auto below = floor(x);
        const auto rest = x - below;
        const auto even = floor((below + 1) * 0.5) * 2;  // of `below` and its successor
        return where(rest > 0.5, below + 1, where(rest < 0.5, below, even));
    }
};

}  // namespace headrace

#endif
