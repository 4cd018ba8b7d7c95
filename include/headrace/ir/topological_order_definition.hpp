// SPDX-License-Identifier: MIT
// Defines the functions of ir/topological_order.hpp.
#ifndef HEADRACE_IR_TOPOLOGICAL_ORDER_DEFINITION_HPP
#define HEADRACE_IR_TOPOLOGICAL_ORDER_DEFINITION_HPP

#include <algorithm>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <memory_resource>
#include <string>
#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/ir/boost_graph.hpp>

namespace headrace {

namespace detail {

// The nodes in finishing order of the search, and the first cycle, each node before one of its users.
struct order_search {
    pmr_vector<node*> finished;
    pmr_vector<node*> path;
    pmr_vector<node*> cycle;
};

// Boost copies its visitors, so this one refers to what it collects.
class order_visitor : public boost::default_dfs_visitor {
public:
    explicit order_visitor(order_search& found) : found_(&found) {}

    template <class Graph>
    void discover_vertex(node* n, const Graph&) {
        found_->path.push_back(n);
    }
    template <class Graph>
    void finish_vertex(node* n, const Graph&) {
        found_->path.pop_back();
        found_->finished.push_back(n);
    }
    template <class Edge, class Graph>
    void back_edge(const Edge& e, const Graph& g) {
        if (!found_->cycle.empty()) return;
        const auto start = std::find(found_->path.begin(), found_->path.end(), target(e, g));
        found_->cycle.assign(start, found_->path.end());
        // The path leads from users to producers; reversed, it still begins where the search found it.
        std::reverse(found_->cycle.begin() + 1, found_->cycle.end());
    }

private:
    order_search* found_;
};

// The search follows operands and starts at each node in turn. A node is finished directly after its
// operands, so a valid order is kept.
[[nodiscard]] inline order_search search_order(const graph& g) {
    order_search found;
    found.finished.reserve(g.size());
    node_colors colors(g);
    boost::depth_first_search(boost::make_reverse_graph(g), order_visitor(found), colors.map());
    return found;
}

}  // namespace detail

HEADRACE_INLINE std::pmr::string node_label(const node& n) {
    if (!n.name().empty()) return std::pmr::string(n.name());
    return text_of({n.op->name, "#", n.id});
}

HEADRACE_INLINE bool is_ordered(const graph& g) {
    pmr_vector<bool> seen(g.id_bound());
    for (const node& n : g.nodes()) {
        for (const edge& e : n.operand_edges()) {
            if (e.source->owner != &g || !seen[e.source->id]) return false;
        }
        seen[n.id] = true;
    }
    return true;
}

HEADRACE_INLINE pmr_vector<node*> find_cycle(const graph& g) { return detail::search_order(g).cycle; }

HEADRACE_INLINE result<pmr_vector<node*>> topological_order(const graph& g) {
    detail::order_search found = detail::search_order(g);
    if (!found.cycle.empty()) {
        std::pmr::string message = "the graph has a cycle: ";
        for (const node* n : found.cycle) message += text_of({node_label(*n), " -> "});
        return invalid(message + node_label(*found.cycle.front()));
    }
    if (node* const out = g.output()) {
        const auto at = std::find(found.finished.begin(), found.finished.end(), out);
        std::rotate(at, at + 1, found.finished.end());
    }
    return std::move(found.finished);
}

HEADRACE_INLINE result<void> restore_order(graph& g) {
    const node* const out = g.output();
    if (is_ordered(g) && (out == nullptr || out == g.last())) return {};
    const auto order = topological_order(g);
    if (!order) return order.error();
    for (node* n : order.value()) g.move_before(*n, nullptr);
    return {};
}

}  // namespace headrace

#endif
