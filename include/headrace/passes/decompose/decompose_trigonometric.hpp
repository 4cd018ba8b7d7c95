// SPDX-License-Identifier: MIT
// Defines headrace::decompose_trigonometric.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_TRIGONOMETRIC_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_TRIGONOMETRIC_HPP

#include <numbers>

#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// The inverses are our own minimax polynomials (Lawson's iteration in float64, relative error 5e-9 for asin
/// and 2e-8 for atan), in x² on the interval where few terms suffice, and beyond it by
///
///     asin(x) = π/2 - 2·asin(√((1 - x)/2)) for x > 1/2        atan(x) = π/2 - atan(1/x) for x > 1
struct decompose_trigonometric : pass {
    using phase = function_decomposition;
    static constexpr std::string_view summary =
        "tan(x) as sin(x) / cos(x); asin, acos, atan, atan2 by polynomials";

    static auto rewrites() {
        return real_rules(
            on<aten::tan> = [](auto x) { return sin(x) / cos(x); },
            on<aten::deg2rad> = [](auto x) { return x * (half_pi / 90); },
            on<aten::rad2deg> = [](auto x) { return x * (90 / half_pi); },
            on<aten::asin> =
                [](auto x) {
                    const auto [outer, angle] = reduced_asin(x);
                    const auto y = where(outer, half_pi - angle * 2, angle);
                    return where(x < 0, -y, y);
                },
            on<aten::acos> =
                [](auto x) {
                    const auto [outer, angle] = reduced_asin(x);
                    const auto doubled = angle * 2;
                    const auto beyond = where(x < 0, pi - doubled, doubled);
                    return where(outer, beyond, half_pi - where(x < 0, -angle, angle));
                },
            on<aten::atan> =
                [](auto x) {
                    const auto magnitude = abs(x);
                    const auto steep = magnitude > 1;
                    const auto angle = short_atan(where(steep, reciprocal(magnitude), magnitude));
                    const auto y = where(steep, half_pi - angle, angle);
                    return where(x < 0, -y, y);
                },
            // Returns the angle of the point (x, y), in all four quadrants, including signed zeros.
            on<aten::atan2> =
                [](auto y, auto x) {
                    const auto up = abs(y);
                    const auto along = abs(x);
                    const auto larger = max(up, along);
                    const auto diagonal = where(larger == 0, larger, larger.constant(1));
                    const auto angle = short_atan(where(up == along, diagonal, min(up, along) / larger));
                    const auto upper = where(up > along, half_pi - angle, angle);
                    const auto half_turn = where(is_negative(x), pi - upper, upper);
                    return where(is_negative(y), -half_turn, half_turn);
                });
    }

private:
    static constexpr double pi = std::numbers::pi;
    static constexpr double half_pi = pi / 2;

    // Returns whether |x| > 1/2, and asin of √((1 - |x|)/2) if so, else of |x|.
    static auto reduced_asin(const auto& x) {
        const auto magnitude = abs(x);
        const auto outer = magnitude > 0.5;
        const auto half = where(outer, sqrt((1 - magnitude) * 0.5), magnitude);
        const auto squared = half * half;
        const auto series =
            polynomial(squared, 0.166667539, 0.0749524179, 0.0454770947, 0.0241476266, 0.0422185182);
        return std::tuple(outer, half + half * squared * series);
    }
    // atan on [0, 1].
    static auto short_atan(const auto& x) {
        const auto squared = x * x;
        return x +
            x * squared *
            polynomial(squared, -0.333331527, 0.199937721, -0.142110488, 0.106659786, -0.075521581,
                0.0432111918, -0.0163675142, 0.00292058838);
    }
};
HEADRACE_COMPILED_PASS(decompose_trigonometric);

}  // namespace headrace

#endif
