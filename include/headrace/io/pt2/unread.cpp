// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/unread.hpp.

#include <headrace/io/pt2/unread.hpp>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/unread.hpp>

namespace headrace::pt2 {

bool takes_unread(const node& n) {
    bool found = false;
    for (const edge& e : n.operand_edges())
        found = found || e.source->find_annotation<unread_reason>() != nullptr;
    return found;
}

bool is_written(const node& n) {
    pmr_vector<const node*> pending{&n};
    while (!pending.empty()) {
        const node& at = *pending.back();
        pending.pop_back();
        for (const edge& e : at.uses()) {
            const node& user = *e.target;
            if (user.operand_count == 0 || &user.operands[0] != &e) continue;
            const bool changes_the_view = user.op->functional().has(trait::aliasing);
            if (user.op->has(trait::in_place) && !changes_the_view) return true;
            if (user.op->has(trait::aliasing | trait::in_place)) pending.push_back(&user);
        }
    }
    return false;
}

void refuse_written_selections(graph& g) {
    for (node *n = g.first(), *next = nullptr; n != nullptr; n = next) {
        next = n->next;
        const auto* origin = n->find_annotation<provenance>();
        if (!is<aten::index_tensor>(*n) || origin == nullptr || origin->op_name == n->op->name ||
            !is_written(*n))
            continue;
        pmr_vector<value> operands;
        for (const edge& e : n->operand_edges()) operands.push_back(*e.slot);
        node& unread = g.create<builtin::opaque>({.target = origin->op_name, .operands = operands}, 1, n);
        g.set_meta(unread.result(), *meta_of(n->result()));
        g.set_name(unread.result(), n->name());
        g.inherit_annotations(unread, *n);
        g.annotate(unread,
            unread_reason{"it is written in place where an element of a tensor says; use "
                          "index_put or torch.where, which make a new tensor"});
        g.replace_all_uses(n->result(), unread.result());
        g.erase(*n);
    }
}

void erase_unused_numbers(graph& g) {
    for (node *n = g.last(), *previous = nullptr; n != nullptr; n = previous) {
        previous = n->previous;
        if (n->first_use != nullptr || n->result_count != 1) continue;
        const auto* why = n->find_annotation<unread_reason>();
        const bool is_number = why != nullptr && why->text == number_reason;
        const bool is_element = n->name().empty() && n->find_annotation<provenance>() == nullptr &&
            (is<aten::clone>(*n) || is<aten::view>(*n) || is<aten::_to_copy>(*n));
        if (is_number || is_element) g.erase(*n);
    }
}

}  // namespace headrace::pt2
