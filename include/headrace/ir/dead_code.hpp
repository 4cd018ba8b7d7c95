// SPDX-License-Identifier: MIT
// Defines headrace::eliminate_dead_code.
#ifndef HEADRACE_IR_DEAD_CODE_HPP
#define HEADRACE_IR_DEAD_CODE_HPP

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <string_view>
#include <vector>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/reverse_graph.hpp>

#include <headrace/ir/boost_graph.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

/// Does a node of that op do something even if nothing uses its results? So do the ops without results
/// (asserts, TOSA's variables) and PyTorch's in-place ops, whose base name ends in one underscore.
[[nodiscard]] constexpr bool has_effects(const op_info& op) {
    if (op.results == 0) return true;
    const std::size_t first = op.name.find('.');
    const std::size_t last = op.name.rfind('.');
    if (first == std::string_view::npos || first == last) return false;
    const std::string_view base = op.name.substr(first + 1, last - first - 1);
    return base.ends_with('_') && !base.ends_with("__");
}

namespace detail {

// An op that holds graphs has the effects of what is in them.
[[nodiscard]] inline bool node_has_effects(const node& n) {
    bool found = has_effects(*n.op);
    for_each_region(n, [&](const field_info&, const graph* region) {
        if (region == nullptr) return;
        for (const node& inner : region->nodes()) {
            found = found || (!is<builtin::output>(inner) && node_has_effects(inner));
        }
    });
    return found;
}

// The nodes that the outputs or an effect need, as colours: white ones are dead.
[[nodiscard]] inline node_colors color_live_nodes(const graph& g) {
    std::pmr::vector<node*> roots;
    for (node& n : g.nodes()) {
        if (node_has_effects(n)) roots.push_back(&n);
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

inline std::size_t erase_all(graph& g) {
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

/// Removes the nodes that neither the outputs nor an effect need, and returns how many. Placeholders stay:
/// they are the program's signature. A region is treated likewise, and emptied if no node holds it any more,
/// so that the census does not count its ops as present. A graph without an output node stays as it is.
inline std::size_t eliminate_dead_code(graph& g) {
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
