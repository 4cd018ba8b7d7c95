// SPDX-License-Identifier: MIT
// Defines headrace::decompose_rounding.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ROUNDING_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ROUNDING_HPP

#include <cmath>

#include <headrace/ir/unknown_op.hpp>
#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// round goes to the nearest integer, ties to even: x - floor(x) is exact in floating point, so that ties are
/// recognised. sign(NaN) is 0; signbit tells -0 from 0.
struct decompose_rounding : pass {
    using phase = function_decomposition;
    static constexpr std::string_view summary =
        "round, trunc, frac, sign, signbit, copysign by floor, ceil, comparisons";

    static auto rewrites() {
        return rules(
            on<aten::round> =
                [](auto x) {
                    return choose(
                        is_floating(x.dtype()), [&] { return nearest_even(x); }, x);
                },
            on<aten::round_decimals> =
                [](auto x, const auto& a) {
                    const auto real = [&] { return as(x, dtype::float32); };
                    const double factor = std::pow(10.0, static_cast<double>(std::abs(a.decimals)));
                    const auto power = [&] { return x.constant(factor, dtype::float32); };
                    return choose(
                        !is_floating(x.dtype()), x, a.decimals == 0, [&] { return nearest_even(x); },
                        a.decimals > 0,
                        [&] { return in_result_type(nearest_even(real() * power()) / power()); },
                        [&] { return in_result_type(nearest_even(real() / power()) * power()); });
                },
            on<aten::trunc> =
                [](auto x) {
                    return choose(
                        is_floating(x.dtype()), [&] { return trunc(x); }, x);
                },
            on<aten::frac> = [](auto x) { return x - trunc(x); },
            on<aten::sign, aten::sgn> =
                [](auto x) {
                    const auto of_real = [&] {
                        return where(x > 0, x.constant(1), where(x < 0, x.constant(-1), x.constant(0)));
                    };
                    return choose(
                        is_boolean(x.dtype()), x, is_floating(x.dtype()), of_real, is_integral(x.dtype()),
                        [&] { return clamp(x, -1, 1); }, [&] { return x.unsupported(no_complex_numbers); });
                },
            on<aten::signbit> =
                [](auto x) {
                    return choose(
                        is_boolean(x.dtype()), [&] { return x.filled(false); }, is_floating(x.dtype()),
                        [&] { return is_negative(x); }, [&] { return x < 0; });
                },
            real_rules(on<aten::copysign_tensor> = [](auto x, auto sign) {
                const auto magnitude = abs(x);
                return where(is_negative(sign), -magnitude, magnitude);
            }));
    }

private:
    static auto nearest_even(const auto& x) {
        const auto below = floor(x);
        const auto above = ceil(x);  // -0 if `below` is -1
        const auto rest = x - below;
        const auto even = floor(above * 0.5) * 2;
        return where(rest > 0.5, above, where(rest < 0.5, below, even));
    }
};
HEADRACE_COMPILED_PASS(decompose_rounding);

}  // namespace headrace

#endif
