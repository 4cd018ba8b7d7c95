// SPDX-License-Identifier: MIT
// Defines headrace::decompose_add_sub_alpha.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ADD_SUB_ALPHA_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ADD_SUB_ALPHA_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// add(a, b, α) = a + α·b and sub(a, b, α) = a - α·b (PyTorch, torch.add). Where α is 1 they stay.
struct decompose_add_sub_alpha : pass {
    using runs_after = pass_list<canonical_arithmetic, tensor_operands>;
    using ensures = pass_list<unit_alpha>;
    using targets = ops<aten::add_tensor, aten::sub_tensor>;
    using produces = ops<aten::add_tensor, aten::sub_tensor, aten::mul_tensor>;

    template <one_of<targets> Op>
    std::optional<value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        if (a.alpha.to_double() == 1) return std::nullopt;
        const dtype type = result_type(e.meta(a.self), e.meta(a.other));
        const value alpha = e.splat(a.alpha, type, e.rank(a.other));
        return e.make<Op>({.self = a.self, .other = e.make<aten::mul_tensor>(a.other, alpha)});
    }
};

}  // namespace headrace

#endif
