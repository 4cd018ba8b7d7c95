// SPDX-License-Identifier: MIT
// Defines the functions of headrace/partition/contraction.hpp.
#ifndef HEADRACE_PARTITION_CONTRACTION_DEFINITION_HPP
#define HEADRACE_PARTITION_CONTRACTION_DEFINITION_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <boost/pending/disjoint_sets.hpp>

#include <headrace/base/compiled.hpp>
#include <headrace/base/function_ref.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/boost_graph.hpp>

namespace headrace {

namespace detail {

inline constexpr std::uint32_t no_group = UINT32_MAX;

// Returns each node's group, by node id.
[[nodiscard]] inline pmr_vector<std::uint32_t> group_numbers(
    const graph& g, std::span<const node_group> groups) {
    pmr_vector<std::uint32_t> numbers(g.id_bound(), no_group);
    std::uint32_t number = 0;
    for (const node_group& group : groups) {
        for (const node* n : group) numbers[n->id] = number;
        ++number;
    }
    return numbers;
}

// A queue for breadth_first_visit that becomes empty as soon as the answer is known.
struct stoppable_queue {
    pmr_vector<node*> items;
    std::size_t next = 0;
    bool stopped = false;

    void push(node* n) { items.push_back(n); }
    [[nodiscard]] node* top() const { return items[next]; }
    void pop() { ++next; }
    [[nodiscard]] bool empty() const { return stopped || next == items.size(); }
};

// Visits the users of a group. On reaching a node of another group, it visits that whole group.
class reentry_visitor : public boost::default_bfs_visitor {
public:
    reentry_visitor(const pmr_vector<bool>& inside, std::span<const node_group> others,
        const pmr_vector<std::uint32_t>& other_of, node_colors& colors, stoppable_queue& pending)
        : inside_(&inside), others_(others), other_of_(&other_of), colors_(&colors), pending_(&pending) {}

    void examine_edge(const edge* e, const graph&) {
        if ((*inside_)[e->target->id]) pending_->stopped = true;
    }
    void discover_vertex(const node* n, const graph&) {
        if (other_of_->empty() || (*other_of_)[n->id] == no_group) return;
        for (node* mate : others_[(*other_of_)[n->id]]) {
            if ((*colors_)[mate] != boost::white_color) continue;
            colors_->set(mate, boost::gray_color);
            pending_->push(mate);
        }
    }

private:
    const pmr_vector<bool>* inside_;
    std::span<const node_group> others_;
    const pmr_vector<std::uint32_t>* other_of_;
    node_colors* colors_;
    stoppable_queue* pending_;
};

// The graph with one vertex per group.
using contracted_graph = boost::compressed_sparse_row_graph<boost::directedS>;

struct back_edge_visitor : boost::default_dfs_visitor {
    explicit back_edge_visitor(bool& found) : found_(&found) {}
    template <class Edge, class Graph>
    void back_edge(const Edge&, const Graph&) {
        *found_ = true;
    }
    bool* found_;
};

}  // namespace detail

HEADRACE_INLINE bool would_form_cycle(
    const graph& g, std::span<node* const> group, std::span<const node_group> others) {
    pmr_vector<bool> inside(g.id_bound());
    for (const node* n : group) inside[n->id] = true;

    node_colors colors(g);
    if (others.empty()) {
        // Nodes after the last node of the group never lead back to it.
        for (const node* n = g.last(); n != nullptr && !inside[n->id]; n = n->previous) {
            colors.set(n, boost::black_color);
        }
    }
    pmr_vector<node*> leaving;
    for (node* n : group) {
        colors.set(n, boost::black_color);
        for (const edge& e : n->uses()) {
            if (inside[e.target->id] || colors[e.target] != boost::white_color) continue;
            colors.set(e.target, boost::gray_color);
            leaving.push_back(e.target);
        }
    }
    const auto other_of = others.empty() ? pmr_vector<std::uint32_t>() : detail::group_numbers(g, others);
    detail::stoppable_queue pending;
    boost::breadth_first_visit(g, leaving.begin(), leaving.end(), pending,
        detail::reentry_visitor(inside, others, other_of, colors, pending), colors.map());
    return pending.stopped;
}

HEADRACE_INLINE bool is_acyclic(const graph& g, std::span<const node_group> groups) {
    const pmr_vector<std::uint32_t> group_of = detail::group_numbers(g, groups);
    // Vertices of the contracted graph: first the groups, then all ids; unused ids are isolated.
    const auto vertex_of = [&](const node* n) {
        return group_of[n->id] != detail::no_group ? std::size_t{group_of[n->id]} : groups.size() + n->id;
    };
    pmr_vector<std::pair<std::size_t, std::size_t>> edges;
    for (const node& n : g.nodes()) {
        for (const edge& e : n.operand_edges()) {
            const std::pair joined(vertex_of(e.source), vertex_of(&n));
            if (joined.first != joined.second || e.source == &n) edges.push_back(joined);
        }
    }
    const detail::contracted_graph contracted(
        boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), groups.size() + g.id_bound());
    bool cyclic = false;
    boost::depth_first_search(contracted, boost::visitor(detail::back_edge_visitor(cyclic)));
    return !cyclic;
}

HEADRACE_INLINE pmr_vector<node_group> connected_components(
    const graph& g, std::span<node* const> nodes, function_ref<bool(const edge&)> joins) {
    pmr_vector<bool> inside(g.id_bound());
    for (const node* n : nodes) inside[n->id] = true;

    pmr_vector<std::uint32_t> ranks(g.id_bound());
    pmr_vector<std::uint32_t> parents(g.id_bound());
    // Plain pointers do not work: whether Boost finds get() for them depends on the order of its headers.
    const auto by_id = [](pmr_vector<std::uint32_t>& items) {
        return boost::make_iterator_property_map(items.begin(), boost::identity_property_map());
    };
    boost::disjoint_sets sets(by_id(ranks), by_id(parents));
    for (const node* n : nodes) sets.make_set(n->id);
    for (const node* n : nodes) {
        for (const edge& e : n->operand_edges()) {
            if (inside[e.source->id] && joins(e)) sets.union_set(n->id, e.source->id);
        }
    }
    pmr_vector<node_group> components;
    pmr_vector<std::uint32_t> component_of(g.id_bound(), detail::no_group);
    for (node* n : nodes) {
        std::uint32_t& component = component_of[sets.find_set(n->id)];
        if (component == detail::no_group) {
            component = static_cast<std::uint32_t>(components.size());
            components.emplace_back();
        }
        components[component].push_back(n);
    }
    return components;
}

HEADRACE_INLINE pmr_vector<node_group> connected_components(const graph& g, std::span<node* const> nodes) {
    return connected_components(g, nodes, [](const edge&) { return true; });
}

}  // namespace headrace

#endif
