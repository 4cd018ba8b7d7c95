// SPDX-License-Identifier: MIT
// Defines the traits, iterators and property maps by which headrace::graph models a graph of Boost.Graph.
#ifndef HEADRACE_IR_BOOST_GRAPH_HPP
#define HEADRACE_IR_BOOST_GRAPH_HPP

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/property_map/property_map.hpp>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Iterates over an intrusive list and returns the address of each member: descriptors are pointers here.
template <class T, T* T::*Next>
class descriptor_iterator {
public:
    using value_type = T*;
    using difference_type = std::ptrdiff_t;
    using pointer = T* const*;
    using reference = T*;
    using iterator_category = std::forward_iterator_tag;

    descriptor_iterator() = default;
    explicit descriptor_iterator(T* at) : at_(at) {}
    T* operator*() const { return at_; }
    descriptor_iterator& operator++() {
        at_ = at_->*Next;
        return *this;
    }
    descriptor_iterator operator++(int) {
        const descriptor_iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const descriptor_iterator&, const descriptor_iterator&) = default;

private:
    T* at_ = nullptr;
};

/// Iterates over the operands of a node.
class operand_iterator {
public:
    using value_type = edge*;
    using difference_type = std::ptrdiff_t;
    using pointer = edge* const*;
    using reference = edge*;
    using iterator_category = std::forward_iterator_tag;

    operand_iterator() = default;
    explicit operand_iterator(edge* at) : at_(at) {}
    edge* operator*() const { return at_; }
    operand_iterator& operator++() {
        ++at_;
        return *this;
    }
    operand_iterator operator++(int) {
        const operand_iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const operand_iterator&, const operand_iterator&) = default;

private:
    edge* at_ = nullptr;
};

/// Iterates over the operands of all nodes, in execution order.
class graph_edge_iterator {
public:
    using value_type = edge*;
    using difference_type = std::ptrdiff_t;
    using pointer = edge* const*;
    using reference = edge*;
    using iterator_category = std::forward_iterator_tag;

    graph_edge_iterator() = default;
    explicit graph_edge_iterator(node* first) : node_(first) { skip_ended(); }
    edge* operator*() const { return node_->operands + operand_; }
    graph_edge_iterator& operator++() {
        ++operand_;
        skip_ended();
        return *this;
    }
    graph_edge_iterator operator++(int) {
        const graph_edge_iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const graph_edge_iterator&, const graph_edge_iterator&) = default;

private:
    void skip_ended() {
        while (node_ != nullptr && operand_ == node_->operand_count) {
            node_ = node_->next;
            operand_ = 0;
        }
    }

    node* node_ = nullptr;
    std::uint32_t operand_ = 0;
};

/// Property tags of edges: the operand index at the target, and the result index at the source.
struct operand_position_t {
    using kind = boost::edge_property_tag;
};
struct result_index_t {
    using kind = boost::edge_property_tag;
};
inline constexpr operand_position_t operand_position{};
inline constexpr result_index_t result_index{};

/// Property map from a node to its id, which is below graph::id_bound(). Ids of erased nodes leave gaps.
struct node_id_map {
    using key_type = node*;
    using value_type = std::uint32_t;
    using reference = std::uint32_t;
    using category = boost::readable_property_map_tag;
    std::uint32_t operator[](const node* n) const { return n->id; }
    friend std::uint32_t get(node_id_map, const node* n) { return n->id; }
};
struct operand_position_map {
    using key_type = edge*;
    using value_type = std::uint32_t;
    using reference = std::uint32_t;
    using category = boost::readable_property_map_tag;
    friend std::uint32_t get(operand_position_map, const edge* e) { return e->operand; }
};
struct result_index_map {
    using key_type = edge*;
    using value_type = std::uint32_t;
    using reference = std::uint32_t;
    using category = boost::readable_property_map_tag;
    friend std::uint32_t get(result_index_map, const edge* e) { return e->slot->result; }
};

/// A colour for each node, for the searches of Boost.Graph; sized by id_bound, since ids have gaps.
class node_colors {
public:
    using color = boost::default_color_type;
    explicit node_colors(const graph& g) : colors_(g.id_bound(), boost::white_color) {}
    [[nodiscard]] color operator[](const node* n) const { return colors_[n->id]; }
    void set(const node* n, color c) { colors_[n->id] = c; }
    [[nodiscard]] auto map() { return boost::make_iterator_property_map(colors_.begin(), node_id_map()); }

private:
    pmr_vector<color> colors_;
};

}  // namespace headrace

template <>
struct boost::graph_traits<headrace::graph> {
    struct traversal_category : bidirectional_graph_tag, vertex_list_graph_tag, edge_list_graph_tag {};
    using vertex_descriptor = headrace::node*;
    using edge_descriptor = headrace::edge*;
    using directed_category = bidirectional_tag;
    using edge_parallel_category = allow_parallel_edge_tag;
    using vertex_iterator = headrace::descriptor_iterator<headrace::node, &headrace::node::next>;
    using out_edge_iterator = headrace::descriptor_iterator<headrace::edge, &headrace::edge::next_use>;
    using in_edge_iterator = headrace::operand_iterator;
    using edge_iterator = headrace::graph_edge_iterator;
    using adjacency_iterator = void;
    using vertices_size_type = std::size_t;
    using edges_size_type = std::size_t;
    using degree_size_type = std::size_t;
    static headrace::node* null_vertex() { return nullptr; }
};

template <>
struct boost::property_map<headrace::graph, boost::vertex_index_t> {
    using type = headrace::node_id_map;
    using const_type = type;
};
template <>
struct boost::property_map<headrace::graph, headrace::operand_position_t> {
    using type = headrace::operand_position_map;
    using const_type = type;
};
template <>
struct boost::property_map<headrace::graph, headrace::result_index_t> {
    using type = headrace::result_index_map;
    using const_type = type;
};

namespace headrace {

/// Functions that Boost.Graph finds by argument-dependent lookup.
[[nodiscard]] inline auto vertices(const graph& g) {
    using iterator = boost::graph_traits<graph>::vertex_iterator;
    return std::pair(iterator(g.first()), iterator());
}
[[nodiscard]] inline std::size_t num_vertices(const graph& g) { return g.size(); }

[[nodiscard]] inline auto edges(const graph& g) {
    return std::pair(graph_edge_iterator(g.first()), graph_edge_iterator());
}
/// Counts the edges, in time linear in the number of nodes.
[[nodiscard]] inline std::size_t num_edges(const graph& g) {
    std::size_t count = 0;
    for (const node& n : g.nodes()) count += n.operand_count;
    return count;
}

[[nodiscard]] inline node* source(const edge* e, const graph&) { return e->source; }
[[nodiscard]] inline node* target(const edge* e, const graph&) { return e->target; }

[[nodiscard]] inline auto out_edges(const node* n, const graph&) {
    using iterator = boost::graph_traits<graph>::out_edge_iterator;
    return std::pair(iterator(n->first_use), iterator());
}
[[nodiscard]] inline std::size_t out_degree(const node* n, const graph&) {
    std::size_t count = 0;
    for (const edge* e = n->first_use; e != nullptr; e = e->next_use) ++count;
    return count;
}
[[nodiscard]] inline auto in_edges(const node* n, const graph&) {
    return std::pair(operand_iterator(n->operands), operand_iterator(n->operands + n->operand_count));
}
[[nodiscard]] inline std::size_t in_degree(const node* n, const graph&) { return n->operand_count; }
[[nodiscard]] inline std::size_t degree(const node* n, const graph& g) {
    return in_degree(n, g) + out_degree(n, g);
}

[[nodiscard]] inline node_id_map get(boost::vertex_index_t, const graph&) { return {}; }
[[nodiscard]] inline std::uint32_t get(boost::vertex_index_t, const graph&, const node* n) { return n->id; }
[[nodiscard]] inline operand_position_map get(operand_position_t, const graph&) { return {}; }
[[nodiscard]] inline std::uint32_t get(operand_position_t, const graph&, const edge* e) { return e->operand; }
[[nodiscard]] inline result_index_map get(result_index_t, const graph&) { return {}; }
[[nodiscard]] inline std::uint32_t get(result_index_t, const graph&, const edge* e) {
    return e->slot->result;
}

}  // namespace headrace

#endif
