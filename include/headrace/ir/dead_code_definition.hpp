// SPDX-License-Identifier: MIT
// Defines the functions of ir/dead_code.hpp.
#ifndef HEADRACE_IR_DEAD_CODE_DEFINITION_HPP
#define HEADRACE_IR_DEAD_CODE_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <functional>

#include <headrace/base/compiled.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/dead_code.hpp>
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
    // From the last node to the first: what used a node is erased before it is looked at, if it was dead.
    std::size_t erased = 0;
    pmr_vector<const graph*> held;
    for (node* n = g.last(); n != nullptr;) {
        node& current = *n;
        n = n->previous;
        if (current.first_use == nullptr && !is<builtin::placeholder>(current) && !has_effects(current)) {
            g.erase(current);
            ++erased;
        } else {
            for_each_region(current, [&](const field_info&, const graph* region) { held.push_back(region); });
        }
    }
    std::sort(held.begin(), held.end(), std::less<>());
    for (graph& region : g.regions()) {
        const bool is_held = std::binary_search(held.begin(), held.end(), &region, std::less<>());
        erased += is_held ? eliminate_dead_code(region) : detail::erase_all(region);
    }
    return erased;
}

}  // namespace headrace

#endif
