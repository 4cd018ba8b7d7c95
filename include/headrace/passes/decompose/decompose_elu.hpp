// SPDX-License-Identifier: MIT
// Defines headrace::decompose_elu.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ELU_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ELU_HPP

#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// selu and celu are elu with other constants (PyTorch, torch.nn.SELU and CELU).
struct decompose_elu : pass {
    using phase = function_decomposition;
    static constexpr std::string_view summary =
        "elu(x) as s·x for x > 0, else s·α · (exp(input_scale · x) - 1); selu, celu";

    static auto rewrites() {
        return real_rules(
            on<aten::elu> =
                [](auto x, const auto& a) {
                    return elu(x, a.alpha.to_double(), a.scale.to_double(), a.input_scale.to_double());
                },
            on<aten::selu> =
                [](auto x) {
                    return elu(x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1);
                },
            on<aten::celu> =
                [](auto x, const auto& a) {
                    return elu(x, a.alpha.to_double(), 1, 1 / a.alpha.to_double());
                });
    }

private:
    static auto elu(const auto& x, double alpha, double scale, double input_scale) {
        const auto negative = exp(scaled(x, input_scale)) - 1;
        return where(x > 0, scaled(x, scale), scaled(negative, alpha * scale));
    }
};
HEADRACE_COMPILED_PASS(decompose_elu);

}  // namespace headrace

#endif
