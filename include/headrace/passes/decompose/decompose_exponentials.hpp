// SPDX-License-Identifier: MIT
// Defines headrace::decompose_exponentials.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_EXPONENTIALS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_EXPONENTIALS_HPP

#include <numbers>

#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Decomposes square roots, exponentials and logarithms to TOSA's EXP, LOG, TANH and RSQRT. Near 0 they keep
/// the relative accuracy that the textbook forms lose; for two tensors, the larger one is factored out so
/// that nothing overflows.
struct decompose_exponentials : pass {
    using phase = function_decomposition;
    static constexpr std::string_view summary = "roots, exponentials, logarithms by exp, log, tanh, rsqrt";

    static auto rewrites() {
        using namespace std::numbers;
        return real_rules(
            on<aten::sqrt> = [](auto x) { return sqrt(x); },
            on<aten::log1p> = [](auto x) { return log1p(x); },
            on<aten::log2> = [](auto x) { return log(x) * log2e; },
            on<aten::log10> = [](auto x) { return log(x) * log10e; },
            on<aten::erfc> = [](auto x) { return 1 - erf(x); },
            on<aten::expm1> =
                [](auto x) {
                    const auto t = tanh(x * 0.5);
                    return where(abs(x) < 1, t * 2 / (1 - t), exp(x) - 1);
                },
            on<aten::logaddexp> =
                [](auto x, auto y) {
                    const auto larger = max(x, y);
                    const auto sum = larger + log1p(exp(-abs(x - y)));
                    return where(x == y, larger + ln2, sum);  // infinity - infinity would be NaN
                },
            on<aten::xlogy_tensor> =
                [](auto x, auto y) { return where(logical_and(x == 0, y == y), x, x * log(y)); },
            on<aten::hypot> =
                [](auto a, auto b) {
                    const auto x = abs(a);
                    const auto y = abs(b);
                    const auto larger = max(x, y);
                    const auto ratio = where(x == y, larger.constant(1), min(x, y) / larger);
                    const auto length = larger * sqrt(ratio * ratio + 1);
                    return where(logical_or(x == HUGE_VAL, y == HUGE_VAL), larger.constant(HUGE_VAL), length);
                });
    }
};
HEADRACE_COMPILED_PASS(decompose_exponentials);

}  // namespace headrace

#endif
