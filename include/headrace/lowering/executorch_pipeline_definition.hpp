// SPDX-License-Identifier: MIT
// Defines the functions of lowering/executorch_pipeline.hpp. Include it in exactly one translation unit of a
// program.
#ifndef HEADRACE_LOWERING_EXECUTORCH_PIPELINE_DEFINITION_HPP
#define HEADRACE_LOWERING_EXECUTORCH_PIPELINE_DEFINITION_HPP

#include <headrace/lowering/constant_evaluator.hpp>
#include <headrace/lowering/executorch_pipeline.hpp>
#include <headrace/lowering/legality.hpp>
#include <headrace/passes/executorch_lowering.hpp>

namespace headrace {

namespace detail {

using executorch_pipeline = executorch_lowering<constant_evaluator>;

}  // namespace detail

result<run_statistics> run_executorch_pipeline(graph& g, pass_context& context, const run_options& options) {
    auto statistics = detail::executorch_pipeline::run_unchecked(g, context, options);
    if (statistics) {
        report_unlowered<detail::executorch_pipeline>(g, context, "kernel",
            "ExecuTorch's runtime has no kernel for this op, and no pass rewrites it to ops that have one");
    }
    return statistics;
}

operator_support executorch_support() { return supported_by<detail::executorch_pipeline>(); }

}  // namespace headrace

#endif
