// SPDX-License-Identifier: MIT
// Defines headrace::decompose_limits.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_LIMITS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_LIMITS_HPP

#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

struct decompose_limits : pass {
    using phase = function_decomposition;
    static constexpr std::string_view summary =
        "clamp by tensors as min(max(x, low), high); fmax, fmin by max, min, where";

    static auto rewrites() {
        return rules(
            on<aten::clamp_tensor> =
                [](auto x, const auto& a) {
                    const auto wide = in_result_type(x);
                    const auto raised = with_operand(
                        wide, a.min, [](auto v, auto low) { return max(v, in_result_type(low)); });
                    return with_operand(
                        raised, a.max, [](auto v, auto high) { return min(v, in_result_type(high)); });
                },
            on<aten::clamp_min_tensor> = call<aten::maximum>,
            on<aten::clamp_max_tensor> = call<aten::minimum>,
            on<aten::clamp_min> = [](auto x, const auto& a) { return clamp(x, a.min, {}); },
            on<aten::clamp_max> = [](auto x, const auto& a) { return clamp(x, {}, a.max); },
            on<aten::fmax> = [](auto a, auto b) { return without_nan(a, b, call<aten::maximum>); },
            on<aten::fmin> = [](auto a, auto b) { return without_nan(a, b, call<aten::minimum>); });
    }

private:
    // If one operand is NaN, returns the other one.
    static auto without_nan(const auto& a, const auto& b, const auto& extremum) {
        const auto x = in_result_type(a);
        const auto y = in_result_type(b);
        const auto both = extremum(x, y);
        return choose(
            is_floating(x.dtype()), [&] { return where(x == x, where(y == y, both, x), y); }, both);
    }
};
HEADRACE_COMPILED_PASS(decompose_limits);

}  // namespace headrace

#endif
