// SPDX-License-Identifier: MIT
// Defines headrace::legalize_cast.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_CAST_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_CAST_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/pass/rules.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/casting.hpp>
#include <headrace/passes/support/narrowing.hpp>

namespace headrace {

/// Lowers casts (TOSA 1.0, 2.12.1).
struct legalize_cast : pass {
    using phase = legalization;
    using runs_after = pass_list<canonical_casts>;
    static constexpr std::string_view summary = "casts to CAST, with PyTorch's rounding toward zero";

    static auto rewrites() {
        return rules(on<aten::_to_copy> = [](auto x) {
            return code<build::cast>(x, narrowed(x.result_meta().dtype));
        });
    }
};
HEADRACE_COMPILED_PASS(legalize_cast);

}  // namespace headrace

#endif
