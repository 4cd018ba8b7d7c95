// SPDX-License-Identifier: MIT
// Defines the edits of graphs that drivers and passes share: replace_node, erase_dead and hand_over_name.
#ifndef HEADRACE_IR_EDITS_HPP
#define HEADRACE_IR_EDITS_HPP

#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Puts a node of another op in the place of `n`, which is erased: the new one has its results, with their
/// metadata and names, and its annotations.
void replace_node(node& n, const op_info& op, const void* arguments);

/// Erases a node that nothing uses, and what only it used. `heir`, if there is one, stands for all of that
/// now: their origins are joined to its own.
void erase_dead(graph& g, node& n, node* heir = nullptr);

/// A result's name goes over to a new value that has none.
inline void hand_over_name(const result_slot& from, value to) {
    result_slot& slot = to.producer->results[to.result];
    if (slot.name.empty()) slot.name = from.name;
}

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/edits_definition.hpp>
#endif

#endif
