// SPDX-License-Identifier: MIT
// Defines headrace::legalize_logical.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_LOGICAL_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_LOGICAL_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/promoting.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers logical operations (TOSA 1.0, 2.4 and 2.5). Numbers are true unless they are 0.
struct legalize_logical : pass {
    using phase = legalization;
    static constexpr std::string_view summary =
        "logical_and, logical_or, logical_xor and logical_not to TOSA's";

    static auto rewrites() {
        return rules_with<operands_by<build::align_truth>>(on<aten::logical_and> = call<tosa::logical_and>,
            on<aten::logical_or> = call<tosa::logical_or>, on<aten::logical_xor> = call<tosa::logical_xor>,
            on<aten::logical_not> = call<tosa::logical_not>);
    }
};
HEADRACE_COMPILED_PASS(legalize_logical);

}  // namespace headrace

#endif
