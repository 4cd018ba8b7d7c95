// SPDX-License-Identifier: MIT
// The standard pipeline behind a function, so that one translation unit compiles it.
#ifndef HEADRACE_EXAMPLES_CLI_LOWERING_HPP
#define HEADRACE_EXAMPLES_CLI_LOWERING_HPP

#include <headrace/pass/description.hpp>

namespace headrace::cli {

/// Lowers a graph. Why nodes were refused is in the context's diagnostics: with one or more of them, what is
/// left of the graph is no TOSA.
[[nodiscard]] result<run_statistics> lower_graph(graph& g, pass_context& context, const run_options& options);

[[nodiscard]] pipeline_description describe_lowering();

}  // namespace headrace::cli

#endif
