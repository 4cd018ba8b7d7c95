// SPDX-License-Identifier: MIT
// Defines the decompositions of trigonometric and hyperbolic functions, and of erfinv.
#ifndef HEADRACE_PASSES_DECOMPOSE_TRIGONOMETRIC_HPP
#define HEADRACE_PASSES_DECOMPOSE_TRIGONOMETRIC_HPP

#include <cmath>
#include <numbers>

#include <headrace/passes/decompose/expressions.hpp>

namespace headrace {

/// The inverses are our own minimax polynomials (Lawson's iteration in float64, relative error 5e-9 for asin
/// and 2e-8 for atan), in x² on the interval where few terms suffice, and beyond it by
///
///     asin(x) = π/2 - 2·asin(√((1 - x)/2)) for x > 1/2        atan(x) = π/2 - atan(1/x) for x > 1
struct decompose_trigonometric : pass_in<function_decomposition> {
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

/// exp(x) is computed as h² with h = exp(x/2), which overflows no earlier than the result does. Inverses use
/// log1p, which keeps small results accurate.
struct decompose_hyperbolic : pass_in<function_decomposition> {
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

/// P is a polynomial in w - 2.5 up to w = 5, and in √w - 3 beyond (the scheme of M. Giles, "Approximating the
/// erfinv function", GPU Computing Gems 2, 2011; the coefficients are our own minimax fit, relative error
/// 1e-7). ±1 yield infinities. Two logarithms are used because 1 - x is small near 1: a product computed in
/// integers, as products of dequantized numbers are, would lose its last bits.
struct decompose_erfinv : pass_in<function_decomposition> {
    static constexpr std::string_view summary =
        "erfinv(x) as x · P(w) with w = -(log(1 - x) + log(1 + x)), P piecewise polynomial";

    static auto rewrites() {
        return real_rules(on<aten::erfinv> = [](auto x) {
            const auto w = -(log(1 - x) + log(x + 1));
            const auto central = polynomial(w - 2.5, 1.50140942, 0.246640726, -0.00417770773, -0.00125370753,
                0.000218602179, -4.3967764e-06, -3.52885554e-06, 3.43726614e-07, 2.85344557e-08);
            const auto tail = polynomial(sqrt(w) - 3, 2.83297699, 1.00167418, 0.00943562198, -0.0076253057,
                0.00576180172, -0.00366013355, 0.00130021976, 8.6104652e-05, -0.000165424655);
            const auto y = x * where(w < 5, central, tail);
            return where(abs(x) == 1, x * HUGE_VAL, y);
        });
    }
};
HEADRACE_COMPILED_PASS(decompose_erfinv);

}  // namespace headrace

#endif
