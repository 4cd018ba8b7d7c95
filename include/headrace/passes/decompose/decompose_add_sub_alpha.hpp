// SPDX-License-Identifier: MIT
// Defines headrace::decompose_add_sub_alpha.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ADD_SUB_ALPHA_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ADD_SUB_ALPHA_HPP

#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

struct decompose_add_sub_alpha : pass {
    using runs_after = pass_list<canonical_arithmetic, tensor_operands>;
    using ensures = pass_list<unit_alpha>;
    static constexpr std::string_view summary =
        "add(x, y, α) as x + α·y and sub(x, y, α) as x - α·y, unless α is 1";

    static auto rewrites() {
        return rules(
            on<aten::add_tensor> =
                [](auto x, auto y, const auto& a) {
                    return choose(
                        a.alpha.to_double() == 1, unchanged, [&] { return x + times(a.alpha, y, x); });
                },
            on<aten::sub_tensor> =
                [](auto x, auto y, const auto& a) {
                    return choose(
                        a.alpha.to_double() == 1, unchanged, [&] { return x - times(a.alpha, y, x); });
                });
    }

private:
    // Computed in the dtype that both operands promote to.
    static auto times(scalar alpha, const auto& y, const auto& x) {
        const dtype type = result_type(x.meta(), y.meta());
        return as(y, type) * y.constant(alpha, type);
    }
};
HEADRACE_COMPILED_PASS(decompose_add_sub_alpha);

}  // namespace headrace

#endif
