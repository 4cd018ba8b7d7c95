// SPDX-License-Identifier: MIT
// Defines headrace::copy_graph and headrace::extract_nodes, which copy a graph, or some of its nodes, into
// another, and headrace::border_of.
#ifndef HEADRACE_PARTITION_EXTRACT_HPP
#define HEADRACE_PARTITION_EXTRACT_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/ir/linear_merges.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

/// Appends copies of all nodes of `from` to `to`, including nested graphs. Constants and annotations still
/// refer to the original's memory, which must outlive the copy.
inline void copy_graph(const graph& from, graph& to);

namespace detail {

struct value_hash {
    std::size_t operator()(const value& v) const {
        return std::hash<const node*>()(v.producer) * 31 + v.result;
    }
};

// Copies nodes into a graph; the copies of a node's operands must be defined first.
class node_copier {
public:
    explicit node_copier(graph& to) : to_(to) {}

    [[nodiscard]] bool knows(value v) const { return copies_.contains(v); }
    [[nodiscard]] value at(value v) const { return copies_.at(v); }
    void define(value old, value made) { copies_.emplace(old, made); }

    node& copy(node& n) {
        node& made = to_.create(*n.op, n.arguments, n.result_count);
        for (edge& e : std::span(made.operands, made.operand_count)) to_.set_operand(e, copies_.at(*e.slot));
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (n.results[i].meta) to_.set_meta(made.result(i), *n.results[i].meta);
            to_.set_name(made.result(i), n.results[i].name);
            define(n.result(i), made.result(i));
        }
        made.annotations = n.annotations;
        copy_regions(made);
        return made;
    }

private:
    void copy_regions(node& made) {
        for (const field_info& field : *made.op) {
            if (field.kind != field_kind::region) continue;
            std::byte* const at = static_cast<std::byte*>(made.arguments) + field.offset;
            if (field.optional) {
                auto& region = *reinterpret_cast<std::optional<graph*>*>(at);
                if (region) region = copy_of(*region);
            } else {
                graph*& region = *reinterpret_cast<graph**>(at);
                region = copy_of(region);
            }
        }
    }
    graph* copy_of(const graph* region) {
        if (region == nullptr) return nullptr;
        graph& made = to_.create_region();
        copy_graph(*region, made);
        return &made;
    }

    graph& to_;
    std::unordered_map<value, value, value_hash> copies_;
};

}  // namespace detail

inline void copy_graph(const graph& from, graph& to) {
    detail::node_copier copier(to);
    for (node& n : from.inputs()) copier.copy(n);
    for (node& n : from.nodes()) {
        if (!is<builtin::placeholder>(n)) copier.copy(n);
    }
}

/// The operands and results with which an extracted graph replaces its nodes.
struct extraction {
    std::vector<value> operands;  ///< values of the original graph, one per input
    std::vector<value> results;   ///< of the original graph, one per output
};

/// Returns the values from outside that nodes, given in execution order, use, in order of first use, without
/// constants, and their results that are used outside.
inline extraction border_of(std::span<node* const> nodes) {
    extraction border;
    const std::unordered_set<const node*> inside(nodes.begin(), nodes.end());
    std::unordered_set<value, detail::value_hash> known;
    for (node* n : nodes) {
        for (const edge& e : n->operand_edges()) {
            if (inside.contains(e.source) || is<builtin::constant>(*e.source)) continue;
            if (known.insert(*e.slot).second) border.operands.push_back(*e.slot);
        }
        std::vector<bool> used(n->result_count);
        for (const edge& e : n->uses()) {
            if (!inside.contains(e.target)) used[e.slot->result] = true;
        }
        for (std::uint32_t i = 0; i != n->result_count; ++i) {
            if (used[i]) border.results.push_back(n->result(i));
        }
    }
    return border;
}

/// Copies nodes of a graph, given in execution order, into an empty graph. Values from outside become its
/// inputs; constants are copied; results used outside become its outputs: see border_of, which is returned.
/// The original's memory must outlive the copy, as for copy_graph.
inline extraction extract_nodes(std::span<node* const> nodes, graph& to) {
    extraction border = border_of(nodes);
    detail::node_copier copier(to);
    for (node* n : nodes) {
        for (const edge& e : n->operand_edges()) {
            const value v = *e.slot;
            const bool from_here = copier.knows(v);
            if (from_here || is<builtin::constant>(*e.source)) continue;
            node& input = to.create<builtin::placeholder>({});
            if (const tensor_meta* meta = meta_of(v)) to.set_meta(input.result(), *meta);
            to.set_name(input.result(), v.producer->results[v.result].name);
            copier.define(v, input.result());
        }
        for (const edge& e : n->operand_edges()) {
            if (!copier.knows(*e.slot)) copier.copy(*e.source);
        }
        copier.copy(*n);
    }
    std::vector<value> outputs;
    for (const value v : border.results) outputs.push_back(copier.at(v));
    to.create<builtin::output>({.values = outputs});
    if (!nodes.empty() && keeps_branches(*nodes.front()->owner)) keep_branches(to);
    return border;
}

}  // namespace headrace

#endif
