// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/standard_pipeline.hpp.

#include <headrace/lowering/standard_pipeline.hpp>

#include <headrace/lowering/integer_check.hpp>
#include <headrace/lowering/legality.hpp>
#include <headrace/passes/passes.hpp>
#include <headrace/passes/standard_lowering.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/oversized.hpp>

namespace headrace {

namespace {

using standard_pipeline = standard_lowering;

}  // namespace

result<run_statistics> run_standard_pipeline(graph& g, pass_context& context, const run_options& options) {
    HEADRACE_TRY(check_evaluator(context));
    if (const node* n = find_oversized(g)) {
        context.report(*n, "a tensor of 2^31 elements or more is above the limit of TOSA's level 8K");
        return run_statistics{};
    }
    HEADRACE_TRY(prepare_integers(g));
    auto statistics = standard_pipeline::run_unchecked(g, context, options);
    if (statistics) report_illegal<standard_pipeline>(g, context);
    return statistics;
}

const pass_registry& standard_passes() {
    static const pass_registry registry(standard_pipeline::passes{});
    return registry;
}

operator_support standard_pipeline_support() { return supported_by<standard_pipeline>(); }

pipeline_description describe_standard_pipeline() { return describe<standard_pipeline>(); }

}  // namespace headrace
