// SPDX-License-Identifier: MIT
// Defines functions that find the graphs of nodes: for_each_region, holds_regions, live_regions,
// for_each_graph, sum_over_graphs, for_each_node and change_nodes.
#ifndef HEADRACE_IR_REGIONS_HPP
#define HEADRACE_IR_REGIONS_HPP

#include <algorithm>
#include <cstddef>

#include <headrace/base/flat_map.hpp>
#include <headrace/base/mix.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Calls `f(const field_info&, graph*)` for each graph argument of a node, null or not; skips absent ones.
template <class F>
void for_each_region(const node& n, F&& f) {
    for (const field_info& field : *n.op) {
        if (field.kind != field_kind::region) continue;
        if (const void* const item = field.item_in(n.arguments)) f(field, *static_cast<graph* const*>(item));
    }
}

/// True if an op has graphs among its arguments.
[[nodiscard]] inline bool holds_regions(const op_info& op) {
    return std::any_of(
        op.begin(), op.end(), [](const field_info& f) { return f.kind == field_kind::region; });
}

/// Returns the regions that nodes of `g` hold, each once, in the order of these nodes. A region whose node
/// was erased still belongs to the graph, but is dead.
[[nodiscard]] inline pmr_vector<graph*> live_regions(const graph& g) {
    pmr_vector<graph*> live;
    if (g.regions().empty()) return live;
    for (const node& n : g.nodes()) {
        for_each_region(n, [&](const field_info&, graph* region) {
            if (region != nullptr) live.push_back(region);
        });
    }
    flat_map<graph*> met;
    std::size_t kept = 0;
    for (graph* region : live) {
        graph*& known =
            met.find_or_add(hash_of_address(region), [&](const graph* other) { return other == region; });
        if (known == nullptr) live[kept++] = known = region;
    }
    live.resize(kept);
    return live;
}

/// Calls `f(graph&)` for `g` and then for each graph nested in it, at any depth.
template <class F>
void for_each_graph(graph& g, F&& f) {
    f(g);
    for (graph* region : live_regions(g)) for_each_graph(*region, f);
}
template <class F>
void for_each_graph(const graph& g, F&& f) {
    f(g);
    for (const graph* region : live_regions(g)) for_each_graph(*region, f);
}
/// Returns the sum of what `f(graph&)` returns for these graphs.
template <class F>
std::size_t sum_over_graphs(graph& g, F&& f) {
    std::size_t sum = 0;
    for_each_graph(g, [&](graph& sub) { sum += f(sub); });
    return sum;
}
/// Calls `f(node&)` for each node of these graphs. It may erase the node, and insert nodes before it, or
/// between it and the next one.
template <class F>
void for_each_node(graph& g, F&& f) {
    for_each_graph(g, [&](graph& sub) {
        const auto nodes = sub.nodes();
        for (auto at = nodes.begin(); at != nodes.end();) f(*at++);
    });
}
/// Calls `f(node&)` likewise, and returns for how many nodes it returned true.
template <class F>
std::size_t change_nodes(graph& g, F&& f) {
    std::size_t changed = 0;
    for_each_node(g, [&](node& n) { changed += f(n) ? 1U : 0U; });
    return changed;
}

}  // namespace headrace

#endif
