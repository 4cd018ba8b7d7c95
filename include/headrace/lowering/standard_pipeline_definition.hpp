// SPDX-License-Identifier: MIT
// Defines the functions of lowering/standard_pipeline.hpp. Include it in exactly one translation unit of a
// program: it compiles every standard pass.
#ifndef HEADRACE_LOWERING_STANDARD_PIPELINE_DEFINITION_HPP
#define HEADRACE_LOWERING_STANDARD_PIPELINE_DEFINITION_HPP

#include <headrace/lowering/constant_evaluator.hpp>
#include <headrace/lowering/execution.hpp>
#include <headrace/lowering/integer_check_definition.hpp>
#include <headrace/lowering/legality.hpp>
#include <headrace/lowering/oversized.hpp>
#include <headrace/lowering/standard_pipeline.hpp>
#include <headrace/passes/normalize/functionalize.hpp>
#include <headrace/passes/normalize/inline_regions.hpp>
#include <headrace/passes/standard_lowering.hpp>

namespace headrace {

namespace detail {

using standard_pipeline = standard_lowering<constant_evaluator>;

}  // namespace detail

result<run_statistics> run_standard_pipeline(graph& g, pass_context& context, const run_options& options) {
    if (const node* n = find_oversized(g)) {
        context.report(*n, "a tensor of 2^31 elements or more is above the limit of TOSA's level 8K");
        return run_statistics{};
    }
    HEADRACE_TRY(prepare_integers(g));
    auto statistics = detail::standard_pipeline::run_unchecked(g, context, options);
    if (statistics) report_illegal<detail::standard_pipeline>(g, context);
    return statistics;
}

const pass_registry& standard_passes() {
    static const pass_registry registry(detail::standard_pipeline::passes{});
    return registry;
}

operator_support standard_pipeline_support() { return supported_by<detail::standard_pipeline>(); }

result<void> make_functional(graph& g) {
    pass_context context(&infer_node);
    HEADRACE_TRY(apply_pass(inline_regions{}, g, context));
    HEADRACE_TRY(apply_pass(functionalize{}, g, context));
    if (context.diagnostics().empty()) return {};
    const diagnostic& d = context.diagnostics().front();
    return error{d.kind, diagnostic_text(d)};
}

pipeline_description describe_standard_pipeline() { return describe<detail::standard_pipeline>(); }

}  // namespace headrace

#endif
