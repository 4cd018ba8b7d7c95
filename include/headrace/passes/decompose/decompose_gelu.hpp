// SPDX-License-Identifier: MIT
// Defines headrace::decompose_gelu.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_GELU_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_GELU_HPP

#include <cmath>
#include <numbers>

#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// gelu(x) = x/2 · (1 + erf(x/√2)), or with approximate="tanh" x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³)))
/// (PyTorch, torch.nn.GELU).
struct decompose_gelu : pass {
    using phase = function_decomposition;
    static constexpr std::string_view summary = "gelu(x) as x/2 · (1 + erf(x/√2)), or its tanh approximation";

    static auto rewrites() {
        return real_rules(on<aten::gelu> = [](auto x, const auto& a) {
            const auto exact = [&] { return x * 0.5 * (erf(x * (1 / std::numbers::sqrt2)) + 1); };
            const auto approximation = [&] {
                const auto inner = x + x * x * x * 0.044715;
                return x * 0.5 * (tanh(inner * std::sqrt(2 * std::numbers::inv_pi)) + 1);
            };
            return choose(a.approximate == "tanh", approximation, exact);
        });
    }
};
HEADRACE_COMPILED_PASS(decompose_gelu);

}  // namespace headrace

#endif
