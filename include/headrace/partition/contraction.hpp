// SPDX-License-Identifier: MIT
// Declares headrace::would_form_cycle, headrace::is_acyclic and headrace::connected_components, the checks
// before a partitioner fuses nodes.
#ifndef HEADRACE_PARTITION_CONTRACTION_HPP
#define HEADRACE_PARTITION_CONTRACTION_HPP

#include <span>

#include <headrace/base/function_ref.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Nodes to be fused to one. Groups do not overlap.
using node_group = pmr_vector<node*>;

/// True if fusing the nodes of `group` would make the fused node depend on itself: a path leaves the group
/// and comes back. `others` are disjoint groups that count as fused. All nodes must be in execution order:
/// without `others`, the search ends at the group's last node.
[[nodiscard]] bool would_form_cycle(
    const graph& g, std::span<node* const> group, std::span<const node_group> others = {});

/// True if the graph has no cycle once each group is fused; without groups, if the graph itself has none.
[[nodiscard]] bool is_acyclic(const graph& g, std::span<const node_group> groups = {});

/// Splits nodes into connected components. `joins(const edge& e) -> bool` is called once for each operand
/// edge between two of the nodes and tells whether it connects them. Components, and the nodes in each, are
/// in the order of `nodes`.
[[nodiscard]] pmr_vector<node_group> connected_components(
    const graph& g, std::span<node* const> nodes, function_ref<bool(const edge&)> joins);

/// Splits nodes into components that any edges connect.
[[nodiscard]] pmr_vector<node_group> connected_components(const graph& g, std::span<node* const> nodes);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/partition/contraction_definition.hpp>
#endif

#endif
