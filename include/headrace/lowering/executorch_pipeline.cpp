// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/executorch_pipeline.hpp.

#include <headrace/lowering/executorch_pipeline.hpp>

#include <headrace/lowering/legality.hpp>
#include <headrace/passes/executorch_lowering.hpp>
#include <headrace/passes/passes.hpp>
#include <headrace/run/execution.hpp>

namespace headrace {

namespace {

using executorch_pipeline = executorch_lowering;

}  // namespace

result<run_statistics> run_executorch_pipeline(graph& g, pass_context& context, const run_options& options) {
    HEADRACE_TRY(check_evaluator(context));
    auto statistics = executorch_pipeline::run_unchecked(g, context, options);
    if (statistics) {
        report_unlowered<executorch_pipeline>(g, context, "kernel",
            "ExecuTorch's runtime has no kernel for this op, and no pass rewrites it to ops that have one");
    }
    return statistics;
}

operator_support executorch_support() { return supported_by<executorch_pipeline>(); }

}  // namespace headrace
