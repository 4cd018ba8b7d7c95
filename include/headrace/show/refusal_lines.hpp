// SPDX-License-Identifier: MIT
// Declares headrace::refusal_lines, which tells users which nodes are refused.
#ifndef HEADRACE_SHOW_REFUSAL_LINES_HPP
#define HEADRACE_SHOW_REFUSAL_LINES_HPP

#include <span>
#include <string>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

/// Returns "net.py:42: conv (aten.conv2d.default): reason", one line for each refused node. More than three
/// nodes of one op that are refused for the same reason share a line: "a, b, c and 5 more (…): reason". Names
/// cannot forge other lines.
[[nodiscard]] std::vector<std::string> refusal_lines(std::span<const diagnostic> refusals);

}  // namespace headrace

#endif
