// SPDX-License-Identifier: MIT
// Defines the functions of ir/dead_code.hpp.
#ifndef HEADRACE_IR_DEAD_CODE_DEFINITION_HPP
#define HEADRACE_IR_DEAD_CODE_DEFINITION_HPP

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <cstddef>
#include <memory_resource>
#include <vector>

#include <headrace/base/compiled.hpp>
#include <headrace/ir/boost_graph.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

namespace detail {

// The nodes that the outputs or an effect need, as colours: white ones are dead.
[[nodiscard]] inline node_colors color_live_nodes(const graph& g) {
    std::pmr::vector<node*> roots;
    for (node& n : g.nodes()) {
        if (has_effects(n)) roots.push_back(&n);
    }
    node_colors colors(g);
    boost::queue<node*> pending;
    boost::breadth_first_visit(boost::make_reverse_graph(g), roots.begin(), roots.end(), pending,
                               boost::default_bfs_visitor(), colors.map());
    return colors;
}

[[nodiscard]] inline bool holds_region(const graph& g, const graph& region) {
    bool found = false;
    for (const node& n : g.nodes()) {
        for_each_region(n, [&](const field_info&, const graph* held) { found |= held == &region; });
    }
    return found;
}

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
    const node_colors live = detail::color_live_nodes(g);
    std::pmr::vector<node*> dead;
    for (node& n : g.nodes()) {
        if (live[&n] == boost::white_color && !is<builtin::placeholder>(n)) dead.push_back(&n);
    }
    // What uses a dead node is dead as well, and lies behind it.
    std::for_each(dead.rbegin(), dead.rend(), [&](node* n) { g.erase(*n); });
    std::size_t erased = dead.size();
    for (graph& region : g.regions()) {
        erased += detail::holds_region(g, region) ? eliminate_dead_code(region) : detail::erase_all(region);
    }
    return erased;
}

}  // namespace headrace

#endif
