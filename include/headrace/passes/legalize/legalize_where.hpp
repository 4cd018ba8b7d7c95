// SPDX-License-Identifier: MIT
// Defines headrace::legalize_where.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_WHERE_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_WHERE_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/promoting.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers where to SELECT (TOSA 1.0, 2.6.1), in the dtype to which PyTorch promotes the operands.
struct legalize_where : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "where to SELECT";

    static auto rewrites() {
        return rules(on<aten::where_self> = [](auto condition, auto x, auto y) {
            const dtype type = narrowed(x.result_meta().dtype);
            const auto operand = [&](const auto& v) { return code<build::promote>(v, type); };
            return choose(
                is_boolean(condition.dtype()),
                [&] { return code<build::select>(condition, operand(x), operand(y)); },
                [&] { return condition.unsupported("SELECT takes conditions of bool alone; cast it"); });
        });
    }
};
HEADRACE_COMPILED_PASS(legalize_where);

}  // namespace headrace

#endif
