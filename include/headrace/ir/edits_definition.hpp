// SPDX-License-Identifier: MIT
// Defines the functions of ir/edits.hpp.
#ifndef HEADRACE_IR_EDITS_DEFINITION_HPP
#define HEADRACE_IR_EDITS_DEFINITION_HPP

#include <cstdint>

#include <headrace/base/compiled.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/builtin.hpp>
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
    const auto is_dead = [](const node& other) {
        return other.owner != nullptr && other.first_use == nullptr && !is<builtin::placeholder>(other) &&
            !is<builtin::output>(other);
    };
    pmr_vector<node*> pending;  // usually empty, and then free
    for (node* dead = &n; dead != nullptr;) {
        if (is_dead(*dead)) {
            if (heir != nullptr && !is<builtin::constant>(*dead)) g.join_origins(*heir, *dead);
            g.erase(*dead);
            for (const edge& e : dead->operand_edges()) {
                if (is_dead(*e.source)) pending.push_back(e.source);
            }
        }
        dead = pending.empty() ? nullptr : pending.back();
        if (dead != nullptr) pending.pop_back();
    }
}

}  // namespace headrace

#endif
