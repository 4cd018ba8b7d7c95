// SPDX-License-Identifier: MIT
// Defines headrace::capability_based_partitioner, which finds the largest parts of a graph that a backend
// takes.
#ifndef HEADRACE_PARTITION_CAPABILITY_PARTITIONER_HPP
#define HEADRACE_PARTITION_CAPABILITY_PARTITIONER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <headrace/ir/regions.hpp>
#include <headrace/partition/contraction.hpp>
#include <headrace/partition/fuse_partitions.hpp>
#include <headrace/partition/operator_support.hpp>

namespace headrace {

/// A list of ops, chosen at run time.
using op_list = std::vector<const op_info*>;
template <op_tag... Ops>
[[nodiscard]] op_list op_list_of() {
    return {&info_of<Ops>...};
}

struct partitioner_options {
    /// True if a partition with a single computing node is worth a call. One with none never is.
    bool allows_single_node_partition = false;
    /// Ops that compute nothing, such as views: a partition needs other ops as well.
    op_list non_compute_ops{};
    /// Ops of which a single one is worth a call.
    op_list allowed_single_node_partition_ops{};
};

/// Finds partitions: disjoint sets of supported nodes that can all be fused to one node each without a cycle.
/// Fewer partitions mean fewer calls of the backend.
///
/// A node's level is the largest number of times that a path to it leaves a supported node for an unsupported
/// one. Nodes of one level never reach one another through an unsupported node, so each level can be a
/// partition. Each level is also needed: two nodes with an unsupported one on a path between them cannot
/// share a partition. So the number of partitions is minimal, and they are found in time linear in the size
/// of the graph. The nodes of a partition need not be connected.
///
/// Example: c and the unsupported u use a, and b uses u and c. The levels are 0 for a and c, and 1 for b; the
/// partitions are {a, c} and {b}.
class capability_based_partitioner {
public:
    capability_based_partitioner(graph& g, operator_support support, partitioner_options options = {})
        : graph_(g), support_(std::move(support)), options_(std::move(options)) {}

    /// Returns the partitions in an order in which they can run, each with its nodes in execution order.
    /// Nodes that depend on no input are copied if several partitions, or a partition and the host, use them.
    [[nodiscard]] std::vector<node_group> propose_partitions() {
        find_levels();
        sink_components();
        std::vector<node_group> partitions(level_count_);
        for (node& n : graph_.nodes()) {
            if (supported_[n.id]) partitions[level_[n.id]].push_back(&n);
        }
        erase_if(partitions, [&](const node_group& p) { return !is_worth_a_call(p); });
        return partitions;
    }

    /// Removes non-computing ops from the ends of partitions: those that depend on no computing op of their
    /// partition, or on which none depends. Partitions that become empty are removed.
    void remove_bookend_non_compute_ops(std::vector<node_group>& partitions) const {
        for (node_group& p : partitions) remove_bookends(p);
        erase_if(partitions, [](const node_group& p) { return p.empty(); });
    }

    /// See headrace::fuse_partitions.
    [[nodiscard]] result<std::vector<node*>> fuse_partitions(
        std::span<const node_group> partitions, std::string_view backend = "") const;

private:
    [[nodiscard]] static bool is_listed(const op_list& ops, const node& n) {
        return std::find(ops.begin(), ops.end(), n.op) != ops.end();
    }
    [[nodiscard]] bool computes(const node& n) const { return !is_listed(options_.non_compute_ops, n); }

    // Inputs, outputs and constants belong to no partition.
    [[nodiscard]] static bool is_border(const node& n) {
        return is<builtin::placeholder>(n) || is<builtin::constant>(n) || is<builtin::output>(n);
    }

    void find_supported() {
        supported_.assign(graph_.id_bound(), false);
        varies_.assign(graph_.id_bound(), false);
        for (const node& n : graph_.nodes()) {
            const auto edges = n.operand_edges();
            supported_[n.id] = !is_border(n) && support_.is_node_supported(n);
            varies_[n.id] = is<builtin::placeholder>(n) || holds_regions(*n.op) ||
                std::any_of(edges.begin(), edges.end(), [&](const edge& e) { return varies_[e.source->id]; });
        }
    }

    // Moves nodes that depend on no input, such as the dequantize of a weight, to their users, in the host or
    // in a partition; if there are several places, each gets a copy. `place(user)` returns the number of a
    // user's place. The node itself goes to the smallest number; `move(node, number)` records each place.
    // Users are visited first.
    template <class Place, class Move>
    void copy_invariants(Place&& place, Move&& move) {
        for (node* n = graph_.last(); n != nullptr; n = n->previous) {
            if (varies_[n->id] || !supported_[n->id]) continue;
            std::map<std::uint32_t, std::vector<edge*>> uses;
            for (edge& e : n->uses()) {
                if (!is<builtin::output>(*e.target)) uses[place(*e.target)].push_back(&e);
            }
            bool first = true;
            for (const auto& [where, edges] : uses) {
                node& held = first ? *n : copy_for(*n, edges);
                move(held, where);
                first = false;
            }
        }
    }
    node& copy_for(node& n, const std::vector<edge*>& uses) {
        node& made = graph_.create(*n.op, n.arguments, n.result_count, n.next);
        made.annotations = n.annotations;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (n.results[i].meta) graph_.set_meta(made.result(i), *n.results[i].meta);
        }
        for (edge* e : uses) graph_.set_operand(*e, made.result(e->slot->result));
        supported_.push_back(true);
        varies_.push_back(false);
        level_.push_back(0);
        return made;
    }

    void find_levels() {
        find_supported();
        level_.assign(graph_.id_bound(), 0);  // for an unsupported node: the minimum for its users
        copy_invariants([&](const node& user) { return supported_[user.id] ? 1U : 0U; },
            [&](const node& n, std::uint32_t where) { supported_[n.id] = where != 0; });
        level_count_ = 0;
        for (const node& n : graph_.nodes()) {
            std::uint32_t level = 0;
            for (const edge& e : n.operand_edges()) {
                const bool leaves = supported_[e.source->id] && !supported_[n.id];
                level = std::max(level, level_[e.source->id] + (leaves ? 1U : 0U));
            }
            level_[n.id] = level;
            if (supported_[n.id]) level_count_ = std::max(level_count_, std::size_t{level} + 1);
        }
        copy_invariants([&](const node& user) { return level_[user.id]; },
            [&](const node& n, std::uint32_t where) { level_[n.id] = where; });
    }

    // Moves a connected component of a level to the level of its first users, so that its results need not
    // cross the host. A component never moves into a level that is still to be processed, so the components
    // of all levels are found at once: one search per level would visit the whole graph each time.
    void sink_components() {
        std::vector<node_group> levels(level_count_);
        for (node& n : graph_.nodes()) {
            if (supported_[n.id]) levels[level_[n.id]].push_back(&n);
        }
        node_group last_level_first;
        for (std::size_t level = level_count_; level-- != 0;) {
            last_level_first.insert(last_level_first.end(), levels[level].begin(), levels[level].end());
        }
        const auto components = connected_components(graph_, last_level_first,
            [&](const edge& e) { return level_[e.source->id] == level_[e.target->id]; });
        for (const node_group& component : components) {
            const std::uint32_t lowest = level_of_users(component, level_[component.front()->id]);
            for (const node* n : component) level_[n->id] = lowest;
        }
    }
    [[nodiscard]] std::uint32_t level_of_users(const node_group& component, std::uint32_t level) const {
        std::uint32_t lowest = UINT32_MAX;
        for (const node* n : component) {
            for (const edge& e : n->uses()) {
                const bool inside = supported_[e.target->id] && level_[e.target->id] == level;
                if (inside) continue;
                if (!supported_[e.target->id]) return level;  // the host waits for the result
                lowest = std::min(lowest, level_[e.target->id]);
            }
        }
        return lowest == UINT32_MAX ? level : lowest;
    }

    [[nodiscard]] bool is_worth_a_call(const node_group& p) const {
        const auto computing = std::count_if(p.begin(), p.end(), [&](const node* n) { return computes(*n); });
        if (computing == 0) return false;
        return computing > 1 || options_.allows_single_node_partition ||
            std::any_of(p.begin(), p.end(),
                [&](const node* n) { return is_listed(options_.allowed_single_node_partition_ops, *n); });
    }

    void remove_bookends(node_group& p) const {
        std::unordered_set<const node*> inside(p.begin(), p.end());
        // Start at the front, so that the producers of a node are decided before it.
        for (const node* n : p) {
            const auto edges = n->operand_edges();
            const bool first = std::none_of(
                edges.begin(), edges.end(), [&](const edge& e) { return inside.contains(e.source); });
            if (first && !computes(*n)) inside.erase(n);
        }
        for (std::size_t i = p.size(); i-- != 0;) {
            bool last = true;
            for (const edge& e : p[i]->uses()) last = last && !inside.contains(e.target);
            if (last && !computes(*p[i])) inside.erase(p[i]);
        }
        erase_if(p, [&](const node* n) { return !inside.contains(n); });
    }

    graph& graph_;
    operator_support support_;
    partitioner_options options_;
    std::vector<bool> supported_;       // by id
    std::vector<bool> varies_;          // by id: depends on an input
    std::vector<std::uint32_t> level_;  // by id
    std::size_t level_count_ = 0;
};

inline result<std::vector<node*>> capability_based_partitioner::fuse_partitions(
    std::span<const node_group> partitions, std::string_view backend) const {
    return headrace::fuse_partitions(graph_, partitions, backend);
}

}  // namespace headrace

#endif
