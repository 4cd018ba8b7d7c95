// SPDX-License-Identifier: MIT
// Defines headrace::decompose_elu.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ELU_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ELU_HPP

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// elu(x) = scale · (x where x > 0, else α · (exp(input_scale · x) - 1)). selu and celu are elu with other
/// numbers (PyTorch, torch.nn.SELU and CELU).
struct decompose_elu : pass {
    using phase = function_decomposition;
    using targets = ops<aten::elu, aten::selu, aten::celu>;
    using produces = formula_ops;

    value operator()(const args<aten::elu>& a, emit<produces>& e) const {
        return elu(e, a.self, a.alpha.to_double(), a.scale.to_double(), a.input_scale.to_double());
    }
    value operator()(const args<aten::selu>& a, emit<produces>& e) const {
        return elu(e, a.self, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1);
    }
    value operator()(const args<aten::celu>& a, emit<produces>& e) const {
        return elu(e, a.self, a.alpha.to_double(), 1, 1 / a.alpha.to_double());
    }

private:
    static value elu(emit<produces>& e, value self, double alpha, double scale, double input_scale) {
        const auto x = formula::real(e, self);
        const auto positive = scale == 1 ? x : x * scale;
        const auto power = exp(input_scale == 1 ? x : x * input_scale) - 1;
        return in_result_type(where(x > 0, positive, alpha * scale == 1 ? power : power * (alpha * scale)));
    }
};

}  // namespace headrace

#endif
