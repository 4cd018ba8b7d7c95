// SPDX-License-Identifier: MIT
// Defines headrace::fuse_partitions and headrace::replace_partitions, which replace partitions by calls.
#ifndef HEADRACE_PARTITION_FUSE_PARTITIONS_HPP
#define HEADRACE_PARTITION_FUSE_PARTITIONS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <headrace/infer/delegate.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/topological_order.hpp>
#include <headrace/partition/contraction.hpp>
#include <headrace/partition/extract.hpp>

namespace headrace {

namespace detail {

/// Replaces one partition by a call of a region that computes it, with inputs and outputs as extract_nodes
/// orders them.
inline node& replace_by_call(
    graph& g, std::span<node* const> nodes, graph& region, std::string_view backend) {
    const extraction border = border_of(nodes);
    const args<delegate::call_delegate> arguments{backend, &region, border.operands};
    node& call = g.create<delegate::call_delegate>(arguments, border.results.size(), nodes.back()->next);
    for (std::uint32_t i = 0; i != call.result_count; ++i) {
        const value old = border.results[i];
        if (const tensor_meta* meta = meta_of(old)) g.set_meta(call.result(i), *meta);
        g.set_name(call.result(i), old.producer->results[old.result].name);
        g.replace_all_uses(old, call.result(i));
    }
    for (std::size_t i = nodes.size(); i-- != 0;) {
        node& n = *nodes[i];
        std::vector<node*> constants;
        for (const edge& e : n.operand_edges()) {
            if (is<builtin::constant>(*e.source)) constants.push_back(e.source);
        }
        g.erase(n);
        // The copied node has its own copies of the graphs that it holds.
        for_each_region(n, [](const field_info&, graph* held) {
            if (held != nullptr) erase_all(*held);
        });
        for (node* c : constants) {
            if (c->owner != nullptr && c->first_use == nullptr) g.erase(*c);
        }
    }
    return call;
}

/// Replaces one partition by a call. The call's graph is a region with copies of the partition's nodes.
inline node& fuse_partition(graph& g, std::span<node* const> nodes, std::string_view backend) {
    graph& region = g.create_region();
    extract_nodes(nodes, region);
    return replace_by_call(g, nodes, region, backend);
}

/// Calls `replace(nodes, i) -> node&` for each partition i, with its nodes in execution order, and returns
/// the calls by which it replaces them.
template <class Replace>
[[nodiscard]] result<std::vector<node*>> replace_each(
    graph& g, std::span<const node_group> partitions, const Replace& replace) {
    std::unordered_set<const node*> taken;
    for (std::size_t i = 0; i != partitions.size(); ++i) {
        const std::pmr::string which = text_of({"partition ", i});
        if (partitions[i].empty()) return invalid({which, " is empty"});
        for (const node* n : partitions[i]) {
            if (n->owner != &g) return invalid({which, " has a node that is not in the graph"});
            if (!taken.insert(n).second) return invalid({which, " has ", node_label(*n), ", which is taken"});
        }
    }
    if (!is_acyclic(g, partitions)) return invalid("the partitions depend on one another in a cycle");
    std::vector<std::size_t> position(g.id_bound());
    std::size_t next = 0;
    for (const node& n : g.nodes()) position[n.id] = next++;
    std::vector<node*> calls;
    for (const node_group& p : partitions) {
        node_group nodes = p;
        std::sort(nodes.begin(), nodes.end(),
            [&](const node* a, const node* b) { return position[a->id] < position[b->id]; });
        calls.push_back(&replace(nodes, calls.size()));
    }
    HEADRACE_TRY(restore_order(g));
    return calls;
}

}  // namespace detail

/// Replaces each partition by a delegate.call_delegate, which holds the partition's nodes in a separate graph
/// that run_graph executes. Returns the calls, in the order of the partitions. Fails, with the graph
/// unchanged, if the partitions overlap or depend on one another in a cycle.
[[nodiscard]] inline result<std::vector<node*>> fuse_partitions(
    graph& g, std::span<const node_group> partitions, std::string_view backend = "") {
    return detail::replace_each(g, partitions, [&](const node_group& nodes, std::size_t) -> node& {
        return detail::fuse_partition(g, nodes, backend);
    });
}

/// Replaces each partition likewise by a call of a region of the graph that was extracted from it
/// (extract_nodes) and may have been rewritten since.
[[nodiscard]] inline result<std::vector<node*>> replace_partitions(graph& g,
    std::span<const node_group> partitions, std::span<graph* const> programs, std::string_view backend = "") {
    return detail::replace_each(g, partitions, [&](const node_group& nodes, std::size_t i) -> node& {
        return detail::replace_by_call(g, nodes, *programs[i], backend);
    });
}

}  // namespace headrace

#endif
