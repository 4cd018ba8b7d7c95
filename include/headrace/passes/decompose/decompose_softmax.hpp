// SPDX-License-Identifier: MIT
// Defines headrace::decompose_softmax.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_SOFTMAX_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_SOFTMAX_HPP

#include <limits>

#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/reductions.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Decomposes softmax along an axis; m is the largest x, so that no exponential overflows. If all x are
/// -infinity, _safe_softmax returns 0, and softmax NaN, as in PyTorch.
struct decompose_softmax : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "softmax(x) as exp(x - m) / Σ exp(x - m), m = max(x); log_softmax, logsumexp";

    static auto rewrites() {
        return reduction_rules(
            on<aten::softmax_int, aten::_softmax> =
                [](auto x, const auto& a) { return softmax(x, largest(x, axis(a)), axis(a)); },
            on<aten::_safe_softmax> =
                [](auto x, const auto& a) {
                    const auto m = largest(x, axis(a));
                    return where(m == -infinity, 0, softmax(x, m, axis(a)));
                },
            on<aten::log_softmax_int, aten::_log_softmax> =
                [](auto x, const auto& a) {
                    const auto shifted = x - largest(x, axis(a));
                    return shifted - log(sum(exp(shifted), axis(a)));
                },
            on<aten::logsumexp> =
                [](auto x, const auto& a) {
                    const auto m = largest(x, a.dim);
                    const auto shift = where(abs(m) == infinity, 0, m);  // infinity - infinity would be NaN
                    return log(sum(exp(x - shift), a.dim)) + shift;
                });
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    static int_list axis(const auto& a) { return {a.dim}; }
    static auto softmax(const auto& x, const auto& m, const int_list& axes) {
        const auto powers = exp(x - m);
        return powers / sum(powers, axes);
    }
};
HEADRACE_COMPILED_PASS(decompose_softmax);

}  // namespace headrace

#endif
