// SPDX-License-Identifier: MIT
// Defines the functions of lowering/executorch_pipeline.hpp. Include it in exactly one translation unit of a
// program.
#ifndef HEADRACE_LOWERING_EXECUTORCH_PIPELINE_DEFINITION_HPP
#define HEADRACE_LOWERING_EXECUTORCH_PIPELINE_DEFINITION_HPP

#include <memory_resource>
#include <string>
#include <unordered_set>

#include <headrace/lowering/constant_evaluator.hpp>
#include <headrace/lowering/executorch_pipeline.hpp>
#include <headrace/passes/executorch_lowering.hpp>

namespace headrace {

namespace detail {

using executorch_pipeline = executorch_lowering<constant_evaluator>;

inline void report_without_kernel(graph& g, pass_context& context) {
    std::pmr::unordered_set<std::pmr::string> refused;
    for (const diagnostic& d : context.diagnostics()) refused.insert(d.node);
    executorch_pipeline::for_each_illegal(g, [&](node& n) {
        // The pass that refused it has said why.
        if (!refused.insert(std::pmr::string(origin_name(n))).second) return;
        context.report(n,
                       is<builtin::opaque>(n)
                           ? "unknown op; Headrace has no kernel for it"
                           : "ExecuTorch's runtime has no kernel for this op, and no pass makes one of it");
    });
}

}  // namespace detail

result<run_statistics> run_executorch_pipeline(graph& g, pass_context& context, const run_options& options) {
    auto statistics = detail::executorch_pipeline::run(g, context, options);
    if (statistics) detail::report_without_kernel(g, context);
    return statistics;
}

operator_support executorch_support() { return supported_by<detail::executorch_pipeline>(); }

}  // namespace headrace

#endif
