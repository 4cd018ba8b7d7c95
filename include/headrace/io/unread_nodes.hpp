// SPDX-License-Identifier: MIT
// Declares headrace::refuse_unread, which checks that every node of a program could be read.
#ifndef HEADRACE_IO_UNREAD_NODES_HPP
#define HEADRACE_IO_UNREAD_NODES_HPP

#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Fails if a node could not be read. The error names each of these nodes with its reason, and counts those
/// that only take their results. Passes and evaluators do not take graphs with such nodes.
[[nodiscard]] result<void> refuse_unread(const graph& g);

}  // namespace headrace

#endif
