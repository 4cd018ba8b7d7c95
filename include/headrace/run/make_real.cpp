// SPDX-License-Identifier: MIT
// Defines headrace::make_real.

#include <headrace/run/make_real.hpp>

#include <headrace/ir/dead_code.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/pass/pipeline.hpp>
#include <headrace/passes/decompose/complex.hpp>
#include <headrace/passes/normalize/variants.hpp>
#include <headrace/run/execution.hpp>

namespace headrace {

result<void> make_real(graph& g) {
    return make_real(g, [](const node&) { return false; });
}

result<void> make_real(graph& g, function_ref<bool(const node&)> has_wide_activations) {
    if (!holds_complex_numbers(g)) return {};
    HEADRACE_TRY(make_functional(g));
    pass_context context(standard_functions);
    HEADRACE_TRY(apply_pass(canonicalize_variants{}, g, context));
    for_each_node(g, [&](node& n) {
        if ((is_of_fourier_or_complex(n) || is_of_complex_numbers(n)) && has_wide_activations(n))
            n.owner->annotate(n, transforms_as_products{});
    });
    HEADRACE_TRY(apply_pass(decompose_complex{}, g, context));
    eliminate_dead_code(g);
    if (context.diagnostics().empty()) return {};
    const diagnostic& d = context.diagnostics().front();
    return error{d.kind, diagnostic_text(d)};
}

}  // namespace headrace
