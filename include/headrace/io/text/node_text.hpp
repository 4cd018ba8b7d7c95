// SPDX-License-Identifier: MIT
// Declares headrace::small_constant_text, the text of a constant inside a drawn node.
#ifndef HEADRACE_IO_TEXT_NODE_TEXT_HPP
#define HEADRACE_IO_TEXT_NODE_TEXT_HPP

#include <string>

#include <headrace/ir/graph.hpp>

namespace headrace {

/// Returns the elements of a small constant as a list; empty for larger ones.
[[nodiscard]] std::string small_constant_text(const node& n);

}  // namespace headrace

#endif
