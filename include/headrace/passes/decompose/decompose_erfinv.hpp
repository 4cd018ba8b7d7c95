// SPDX-License-Identifier: MIT
// Defines headrace::decompose_erfinv.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ERFINV_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ERFINV_HPP

#include <limits>

#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// P is a polynomial in w - 2.5 up to w = 5, and in √w - 3 beyond (the scheme of M. Giles, "Approximating the
/// erfinv function", GPU Computing Gems 2, 2011; the coefficients are our own minimax fit, relative error
/// 1e-7). ±1 yield infinities. Two logarithms are used because 1 - x is small near 1: a product computed in
/// integers, as products of dequantized numbers are, would lose its last bits.
struct decompose_erfinv : pass {
    using phase = function_decomposition;
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
            return where(abs(x) == 1, x * std::numeric_limits<double>::infinity(), y);
        });
    }
};
HEADRACE_COMPILED_PASS(decompose_erfinv);

}  // namespace headrace

#endif
