// SPDX-License-Identifier: MIT
// Defines headrace::make_real, which takes complex numbers apart before a graph is cut or observed.
#ifndef HEADRACE_RUN_MAKE_REAL_HPP
#define HEADRACE_RUN_MAKE_REAL_HPP

#include <headrace/base/result.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/pass/pipeline.hpp>
#include <headrace/passes/decompose/complex.hpp>
#include <headrace/passes/normalize/variants.hpp>
#include <headrace/run/execution.hpp>

namespace headrace {

/// Replaces complex values by their parts, so that observed ranges are those of the parts, and no value that
/// crosses from one partition to another is complex. Complex inputs and outputs become real ones.
[[nodiscard]] inline result<void> make_real(graph& g) {
    if (!holds_complex_numbers(g)) return {};
    HEADRACE_TRY(make_functional(g));
    pass_context context(standard_functions);
    HEADRACE_TRY(apply_pass(canonicalize_variants{}, g, context));
    HEADRACE_TRY(apply_pass(decompose_complex{}, g, context));
    eliminate_dead_code(g);
    if (context.diagnostics().empty()) return {};
    const diagnostic& d = context.diagnostics().front();
    return error{d.kind, diagnostic_text(d)};
}

}  // namespace headrace

#endif
