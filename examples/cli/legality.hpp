// SPDX-License-Identifier: MIT
// The last check before emission: does the target take each node?
#ifndef HEADRACE_EXAMPLES_CLI_LEGALITY_HPP
#define HEADRACE_EXAMPLES_CLI_LEGALITY_HPP

#include <headrace/pass/pass_context.hpp>

namespace headrace::cli {

/// Reports each node of a TOSA graph whose types, sizes or constants the graph's target does not allow.
void report_illegal_types(graph& g, pass_context& context);

}  // namespace headrace::cli

#endif
