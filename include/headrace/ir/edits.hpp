// SPDX-License-Identifier: MIT
// Defines the edits of graphs that drivers and passes share: replace_node, erase_dead and hand_over_name.
#ifndef HEADRACE_IR_EDITS_HPP
#define HEADRACE_IR_EDITS_HPP

#include <cstdint>
#include <memory_resource>
#include <vector>

#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Puts a node of another op in the place of `n`, which is erased: the new one has its results, with their
/// metadata and names, and its annotations.
inline void replace_node(node& n, const op_info& op, const void* arguments) {
    graph& g = *n.owner;
    node& made = g.create(op, arguments, n.result_count, &n);
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        made.results[i] = n.results[i];
        g.replace_all_uses(n.result(i), made.result(i));
    }
    g.inherit_annotations(made, n);
    g.erase(n);
}

/// Erases a node that nothing uses, and what only it used.
inline void erase_dead(graph& g, node& n) {
    std::pmr::vector<node*> pending{&n};
    while (!pending.empty()) {
        node& dead = *pending.back();
        pending.pop_back();
        if (dead.owner == nullptr || dead.first_use != nullptr || is<builtin::placeholder>(dead) ||
            is<builtin::output>(dead)) {
            continue;
        }
        g.erase(dead);
        dead.owner = nullptr;
        for (const edge& e : dead.operand_edges()) pending.push_back(e.source);
    }
}

/// A result's name goes over to a new value that has none.
inline void hand_over_name(const result_slot& from, value to) {
    result_slot& slot = to.producer->results[to.result];
    if (slot.name.empty()) slot.name = from.name;
}

}  // namespace headrace

#endif
