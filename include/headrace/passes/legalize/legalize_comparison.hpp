// SPDX-License-Identifier: MIT
// Defines headrace::legalize_comparison.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_COMPARISON_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_COMPARISON_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/comparing.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers comparisons (TOSA 1.0, 2.7), in the dtype to which PyTorch promotes the operands.
struct legalize_comparison : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "eq, gt and ge to EQUAL, GREATER and GREATER_EQUAL";

    static auto rewrites() {
        return rules(
            on<aten::eq_tensor> = [](auto x, auto y) { return compared<tosa::equal>(x, y); },
            on<aten::gt_tensor> = [](auto x, auto y) { return compared<tosa::greater>(x, y); },
            on<aten::ge_tensor> = [](auto x, auto y) { return compared<tosa::greater_equal>(x, y); });
    }

private:
    template <op_tag Op>
    static auto compared(const auto& x, const auto& y) {
        const dtype type = narrowed(result_type(x.meta(), y.meta()));
        return code<build::compare<Op>>(
            code<build::promote>(x, type), code<build::promote>(y, type));
    }
};
HEADRACE_COMPILED_PASS(legalize_comparison);

}  // namespace headrace

#endif
