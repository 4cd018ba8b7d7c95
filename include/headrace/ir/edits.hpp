// SPDX-License-Identifier: MIT
// Defines the edits of graphs that drivers and passes share: replace_node, erase_dead and hand_over_name.
#ifndef HEADRACE_IR_EDITS_HPP
#define HEADRACE_IR_EDITS_HPP

#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Replaces `n` by a node of another op and erases `n`. The new node gets its results, with their metadata
/// and names, and its annotations.
void replace_node(node& n, const op_info& op, const void* arguments);

/// Erases a node if it is unused, and then its operands if they become unused. If `heir` is given, it
/// replaces all of them: their origins are joined to its own.
void erase_dead(graph& g, node& n, node* heir = nullptr);

/// Gives a result's name to a new value, unless that has one.
inline void hand_over_name(const result_slot& from, value to) {
    result_slot& slot = to.producer->results[to.result];
    if (slot.name.empty()) slot.name = from.name;
}

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/edits_definition.hpp>
#endif

#endif
