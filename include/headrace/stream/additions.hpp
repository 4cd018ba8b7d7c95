// SPDX-License-Identifier: MIT
// Declares the nodes that headrace::make_stream adds to a model, so that its steps need less or are equal.
#ifndef HEADRACE_STREAM_ADDITIONS_HPP
#define HEADRACE_STREAM_ADDITIONS_HPP

#include <unordered_set>

#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/stream/rules.hpp>

namespace headrace::streams {

/// Returns the nodes that hand a state on themselves, such as recurrences, and all that these depend on.
[[nodiscard]] std::unordered_set<const node*> remembered_nodes(const graph& g);

/// Puts a reduction of the other axes before one of the stream axis and others: the window that it keeps
/// then has an element for each channel. Returns the node; null for other nodes, and for those of quantized
/// values, whose integers are sums of all axes.
[[nodiscard]] result<node*> reduce_others_first(node& n, const flow_analysis& flows);

/// Puts a node before one that reads zeros as the whole model's padding, where the stream has other numbers
/// before its first element. Returns it; null for other nodes.
[[nodiscard]] node* clear_before(node& n, flow_analysis& flows);

}  // namespace headrace::streams

#endif
