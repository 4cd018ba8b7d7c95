// SPDX-License-Identifier: MIT
// Defines headrace::create_pattern_support and headrace::generate_pattern_op_partitions, which partition a
// graph by patterns.
#ifndef HEADRACE_FX_PATTERN_SUPPORT_HPP
#define HEADRACE_FX_PATTERN_SUPPORT_HPP

#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include <headrace/fx/subgraph_matcher.hpp>
#include <headrace/partition/capability_partitioner.hpp>

namespace headrace {

/// Supports the nodes of a graph that are in a match of any of the patterns, including overlapping matches.
/// It is valid for the graph as it is now. Fails if a pattern cannot match anything.
[[nodiscard]] inline result<operator_support> create_pattern_support(
    const graph& g, std::span<const graph* const> patterns, const matcher_options& options = {}) {
    std::unordered_set<const node*> matched;
    matcher_options all = options;
    all.remove_overlapping_matches = false;
    for (const graph* pattern : patterns) {
        HEADRACE_TRY(matches, subgraph_matcher(*pattern, all).match(g));
        for (const subgraph_match& m : matches) {
            for (const node* n : m.nodes()) matched.insert(n);
        }
    }
    return create_op_support([matched = std::move(matched)](const node& n) { return matched.contains(&n); });
}

/// Returns the partitions of the nodes that are supported or in a match; single nodes are partitions, too.
[[nodiscard]] inline result<std::vector<node_group>> generate_pattern_op_partitions(
    graph& g, std::span<const graph* const> patterns, std::optional<operator_support> support = {}) {
    HEADRACE_TRY(of_patterns, create_pattern_support(g, patterns));
    const operator_support both = support ? any_chain(*support, of_patterns) : of_patterns;
    return capability_based_partitioner(g, both, {.allows_single_node_partition = true}).propose_partitions();
}

}  // namespace headrace

#endif
