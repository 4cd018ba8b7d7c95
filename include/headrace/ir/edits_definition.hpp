// SPDX-License-Identifier: MIT
// Defines the functions of ir/edits.hpp.
#ifndef HEADRACE_IR_EDITS_DEFINITION_HPP
#define HEADRACE_IR_EDITS_DEFINITION_HPP

#include <cstdint>

#include <headrace/base/compiled.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

HEADRACE_INLINE void replace_node(node& n, const op_info& op, const void* arguments) {
    graph& g = *n.owner;
    node& made = g.create(op, arguments, n.result_count, &n);
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        made.results[i] = n.results[i];
        g.replace_all_uses(n.result(i), made.result(i));
    }
    g.inherit_annotations(made, n);
    g.erase(n);
}

HEADRACE_INLINE void erase_dead(graph& g, node& n, node* heir) {
    pmr_vector<node*> pending{&n};
    while (!pending.empty()) {
        node& dead = *pending.back();
        pending.pop_back();
        if (dead.owner == nullptr || dead.first_use != nullptr || is<builtin::placeholder>(dead) ||
            is<builtin::output>(dead)) {
            continue;
        }
        if (heir != nullptr && !is<builtin::constant>(dead)) g.join_origins(*heir, dead);
        g.erase(dead);
        dead.owner = nullptr;
        for (const edge& e : dead.operand_edges()) pending.push_back(e.source);
    }
}

}  // namespace headrace

#endif
