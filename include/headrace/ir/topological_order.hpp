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

/// Returns a node's name for messages about the order: its own name, or its op and id.
[[nodiscard]] std::pmr::string node_label(const node& n);

/// True if every node comes after all of its operands.
[[nodiscard]] bool is_ordered(const graph& g);

/// Returns the nodes of a cycle, each before one of its users, the last before the first; empty if none.
[[nodiscard]] pmr_vector<node*> find_cycle(const graph& g);

/// Returns the nodes in an order in which they can be executed, with the output node last. It keeps the
/// current order as far as that is valid. The error names the nodes of a cycle.
[[nodiscard]] result<pmr_vector<node*>> topological_order(const graph& g);

/// Restores a topological order that a pass has broken; nodes in valid order keep it.
[[nodiscard]] result<void> restore_order(graph& g);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/topological_order_definition.hpp>
#endif

#endif
