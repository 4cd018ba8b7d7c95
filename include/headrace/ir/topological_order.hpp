// SPDX-License-Identifier: MIT
// Defines headrace::topological_order, headrace::restore_order and headrace::find_cycle.
#ifndef HEADRACE_IR_TOPOLOGICAL_ORDER_HPP
#define HEADRACE_IR_TOPOLOGICAL_ORDER_HPP

#include <memory_resource>
#include <string>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// How messages about the order name a node: its own name, or its op and id if it has none.
[[nodiscard]] std::pmr::string node_label(const node& n);

/// Does every node lie after all that it uses?
[[nodiscard]] bool is_ordered(const graph& g);

/// The nodes of a cycle, each before one of its users and the last before the first; empty if there is none.
[[nodiscard]] pmr_vector<node*> find_cycle(const graph& g);

/// The nodes in an order in which they can be executed, the output node last. It is the order in which they
/// lie, as far as that is sound. The error names the nodes of a cycle.
[[nodiscard]] result<pmr_vector<node*>> topological_order(const graph& g);

/// Puts the nodes into a topological order if a pass has broken it; nodes that lie well keep their order.
[[nodiscard]] result<void> restore_order(graph& g);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/topological_order_definition.hpp>
#endif

#endif
