// SPDX-License-Identifier: MIT
// Defines headrace::run_standard_pipeline and what else the standard pipeline tells of itself.
#ifndef HEADRACE_LOWERING_STANDARD_PIPELINE_HPP
#define HEADRACE_LOWERING_STANDARD_PIPELINE_HPP

#include <headrace/partition/operator_support.hpp>
#include <headrace/pass/description.hpp>
#include <headrace/pass/pass_manager.hpp>

namespace headrace {

// standard_pipeline_definition.hpp defines these functions. It compiles every standard pass: include it in
// exactly one translation unit of a program.

/// Lowers a graph to its target and checks the result. Nodes that cannot be lowered, or that the target does
/// not take, are in the context's diagnostics, all of them at once: if there is one, what is left of the
/// graph is no TOSA.
[[nodiscard]] result<run_statistics> run_standard_pipeline(graph& g, pass_context& context,
                                                           const run_options& options = {});

/// The nodes whose op the pipeline provably lowers.
[[nodiscard]] operator_support standard_pipeline_support();

/// Makes a graph one of functions, so that it can be executed, and parts of it lowered alone: regions are
/// inlined and nothing is written in place. An error names the first node of which that cannot be made.
[[nodiscard]] result<void> make_functional(graph& g);

[[nodiscard]] pipeline_description describe_standard_pipeline();

/// Each pass of the standard pipeline once, by name. The passes are those that the pipeline is compiled from,
/// so the registry costs no second copy of them.
[[nodiscard]] const pass_registry& standard_passes();

}  // namespace headrace

#endif
