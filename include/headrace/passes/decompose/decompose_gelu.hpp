// SPDX-License-Identifier: MIT
// Defines headrace::decompose_gelu.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_GELU_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_GELU_HPP

#include <numbers>

#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// gelu(x) = x/2 · (1 + erf(x/√2)), or with approximate="tanh" x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³)))
/// (PyTorch, torch.nn.GELU).
struct decompose_gelu : pass {
    using targets = ops<aten::gelu>;
    using produces = formula_ops;

    value operator()(const args<aten::gelu>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        if (a.approximate != "tanh")
            return in_result_type(x * 0.5 * (erf(x * (1 / std::numbers::sqrt2)) + 1));
        const auto inner = x + x * x * x * 0.044715;
        return in_result_type(x * 0.5 * (tanh(inner * std::sqrt(2 * std::numbers::inv_pi)) + 1));
    }
};

}  // namespace headrace

#endif
