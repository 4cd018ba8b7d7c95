// SPDX-License-Identifier: MIT
// Defines headrace::decompose_fused_arithmetic.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_FUSED_ARITHMETIC_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_FUSED_ARITHMETIC_HPP

#include <cmath>

#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// lerp starts from the nearer end, as in PyTorch: for |w| >= 1/2 it is end - (end - self)·(1 - w).
struct decompose_fused_arithmetic : pass {
    using phase = function_decomposition;
    static constexpr std::string_view summary =
        "addcmul as x + v·a·b, addcdiv as x + v·a/b, lerp as x + w·(end - x)";

    static auto rewrites() {
        return rules(arithmetic_rules(
                         on<aten::addcmul> = [](auto x, auto a, auto b,
                                                 const auto& with) { return x + scaled(a * b, with.value); }),
            real_rules(
                on<aten::addcdiv> = [](auto x, auto a, auto b,
                                        const auto& with) { return x + scaled(a / b, with.value); },
                on<aten::lerp_scalar> =
                    [](auto start, auto end, const auto& a) {
                        const double w = a.weight.to_double();
                        const auto way = end - start;
                        return choose(
                            std::abs(w) < 0.5, [&] { return start + way * w; },
                            [&] { return end - way * (1 - w); });
                    },
                on<aten::lerp_tensor> =
                    [](auto start, auto end, auto w) {
                        const auto way = end - start;
                        return where(abs(w) < 0.5, start + w * way, end - way * (1 - w));
                    }));
    }
};
HEADRACE_COMPILED_PASS(decompose_fused_arithmetic);

}  // namespace headrace

#endif
