// SPDX-License-Identifier: MIT
// Defines headrace::decompose_trigonometric.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_TRIGONOMETRIC_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_TRIGONOMETRIC_HPP

#include <numbers>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// tan(x) = sin(x) / cos(x). The inverses are minimax polynomials of our own (Lawson's iteration in float64,
/// relative error 5e-9 for asin and 2e-8 for atan), in x² on the interval where they are short, and beyond it
/// by
///
///     asin(x) = π/2 - 2·asin(√((1 - x)/2)) for x > 1/2        atan(x) = π/2 - atan(1/x) for x > 1
struct decompose_trigonometric : pass {
    using phase = function_decomposition;
    using targets =
        ops<aten::tan, aten::asin, aten::acos, aten::atan, aten::atan2, aten::deg2rad, aten::rad2deg>;
    using produces = formula_ops;

    value operator()(const args<aten::tan>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        return in_result_type(sin(x) / cos(x));
    }
    value operator()(const args<aten::asin>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        const auto [outer, angle] = reduced_asin(x);
        const auto y = where(outer, half_pi - angle * 2, angle);
        return in_result_type(where(x < 0, -y, y));
    }
    value operator()(const args<aten::acos>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        const auto [outer, angle] = reduced_asin(x);
        const auto doubled = angle * 2;
        const auto beyond = where(x < 0, std::numbers::pi - doubled, doubled);
        return in_result_type(where(outer, beyond, half_pi - where(x < 0, -angle, angle)));
    }
    value operator()(const args<aten::atan>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        const auto magnitude = abs(x);
        const auto steep = magnitude > 1;
        const auto angle = short_atan(where(steep, reciprocal(magnitude), magnitude));
        const auto y = where(steep, half_pi - angle, angle);
        return in_result_type(where(x < 0, -y, y));
    }
    /// The angle of the point (other, self), in all four quadrants, signed zeros included.
    value operator()(const args<aten::atan2>& a, emit<produces>& e) const {
        const auto y = formula::real(e, a.self);
        const auto x = formula::real(e, a.other);
        const auto up = abs(y);
        const auto along = abs(x);
        const auto steep = up > along;
        const auto larger = max(up, along);
        const auto slope =
            where(up == along, where(larger == 0, larger, larger.number(1)), min(up, along) / larger);
        auto angle = short_atan(slope);
        angle = where(steep, half_pi - angle, angle);
        angle = where(is_negative(x), std::numbers::pi - angle, angle);
        return in_result_type(where(is_negative(y), -angle, angle));
    }

    value operator()(const args<aten::deg2rad>& a, emit<produces>& e) const {
        return in_result_type(formula::real(e, a.self) * (half_pi / 90));
    }
    value operator()(const args<aten::rad2deg>& a, emit<produces>& e) const {
        return in_result_type(formula::real(e, a.self) * (90 / half_pi));
    }

private:
    static constexpr double half_pi = std::numbers::pi / 2;

    /// asin of |x| up to 1/2 and of √((1 - |x|)/2) beyond, and which it is.
    template <class Term>
    static std::pair<Term, Term> reduced_asin(const Term& x) {
        const auto magnitude = abs(x);
        const auto outer = magnitude > 0.5;
        const auto half = where(outer, sqrt((1 - magnitude) * 0.5), magnitude);
        const auto squared = half * half;
        return {outer, half + half * squared *
                                  polynomial(squared, {0.166667539, 0.0749524179, 0.0454770947, 0.0241476266,
                                                       0.0422185182})};
    }
    /// atan on [0, 1].
    template <class Term>
    static Term short_atan(const Term& x) {
        const auto squared = x * x;
        return x + x * squared *
                       polynomial(squared, {-0.333331527, 0.199937721, -0.142110488, 0.106659786,
                                            -0.075521581, 0.0432111918, -0.0163675142, 0.00292058838});
    }
};

}  // namespace headrace

#endif
