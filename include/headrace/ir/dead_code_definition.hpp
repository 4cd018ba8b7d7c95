// SPDX-License-Identifier: MIT
// Defines the functions of ir/dead_code.hpp.
#ifndef HEADRACE_IR_DEAD_CODE_DEFINITION_HPP
#define HEADRACE_IR_DEAD_CODE_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <functional>

#include <headrace/base/compiled.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

namespace detail {

HEADRACE_INLINE std::size_t erase_all(graph& g) {
    std::size_t erased = 0;
    for (graph& region : g.regions()) erased += erase_all(region);
    for (node* n = g.last(); n != nullptr; ++erased) {
        node* previous = n->previous;
        g.erase(*n);
        n = previous;
    }
    return erased;
}

}  // namespace detail

HEADRACE_INLINE std::size_t eliminate_dead_code(graph& g) {
    if (g.output() == nullptr) return 0;
    const auto is_dead = [](const node& n) {
        return n.first_use == nullptr && !is<builtin::placeholder>(n) && !has_effects(n);
    };
    pmr_vector<node*> dead;
    for (node& n : g.nodes()) {
        if (is_dead(n)) dead.push_back(&n);
    }
    // Next come nodes that only dead nodes used. A node that one node uses twice would be found twice.
    std::size_t erased = 0;
    while (!dead.empty()) {
        node& n = *dead.back();
        dead.pop_back();
        if (n.owner == nullptr) continue;
        g.erase(n);
        ++erased;
        for (const edge& e : n.operand_edges()) {
            if (is_dead(*e.source)) dead.push_back(e.source);
        }
    }
    if (g.regions().empty()) return erased;
    pmr_vector<graph*> held = live_regions(g);
    std::sort(held.begin(), held.end(), std::less<>());
    for (graph& region : g.regions()) {
        const bool is_held = std::binary_search(held.begin(), held.end(), &region, std::less<>());
        erased += is_held ? eliminate_dead_code(region) : detail::erase_all(region);
    }
    return erased;
}

}  // namespace headrace

#endif
