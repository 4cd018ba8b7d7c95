// SPDX-License-Identifier: MIT
// Declares headrace::run_standard_pipeline and other functions about the standard pipeline.
#ifndef HEADRACE_LOWERING_STANDARD_PIPELINE_HPP
#define HEADRACE_LOWERING_STANDARD_PIPELINE_HPP

#include <headrace/base/result.hpp>
#include <headrace/partition/operator_support.hpp>
#include <headrace/pass/description.hpp>
#include <headrace/pass/pass_registry.hpp>

namespace headrace {

/// Lowers a graph to its target and checks the result. Nodes that cannot be lowered, or that the target does
/// not take, are all reported in the context's diagnostics; if there are any, the remaining graph is not
/// TOSA. The context must have an evaluator, as one of headrace::standard_functions has.
[[nodiscard]] result<run_statistics> run_standard_pipeline(
    graph& g, pass_context& context, const run_options& options = {});

/// Returns the nodes whose op the pipeline provably lowers.
[[nodiscard]] operator_support standard_pipeline_support();

[[nodiscard]] pipeline_description describe_standard_pipeline();

/// Returns each pass of the standard pipeline once, by name. These are the passes that the pipeline is
/// compiled from, so the registry adds no second copy of them.
[[nodiscard]] const pass_registry& standard_passes();

}  // namespace headrace

#endif
