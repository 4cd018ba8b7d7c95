// SPDX-License-Identifier: MIT
// The standard pipeline behind a function, so that one translation unit compiles it.
#ifndef HEADRACE_EXAMPLES_CLI_LOWERING_HPP
#define HEADRACE_EXAMPLES_CLI_LOWERING_HPP

#include <headrace/partition/operator_support.hpp>
#include <headrace/pass/description.hpp>
#include <headrace/pass/pass_manager.hpp>

namespace headrace::cli {

/// Lowers a graph. Why nodes were refused is in the context's diagnostics: with one or more of them, what is
/// left of the graph is no TOSA.
[[nodiscard]] result<run_statistics> lower_graph(graph& g, pass_context& context, const run_options& options);

/// The nodes whose op the pipeline provably lowers.
[[nodiscard]] operator_support lowering_support();

/// Makes a graph one of functions, so that parts of it can be lowered alone: nothing is written in place.
[[nodiscard]] result<void> prepare_partition(graph& g, pass_context& context);

[[nodiscard]] pipeline_description describe_lowering();

/// Every pass of the standard pipeline, once, by name. They are those that it is compiled from: the registry
/// is in the same translation unit, and costs no second copy of them.
[[nodiscard]] const pass_registry& standard_passes();

}  // namespace headrace::cli

#endif
