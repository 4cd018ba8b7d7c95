// SPDX-License-Identifier: MIT
// Defines headrace::add_refusals, which finds the nodes of a partition that a lowering of its copy refuses.
#ifndef HEADRACE_PARTITION_REFUSALS_HPP
#define HEADRACE_PARTITION_REFUSALS_HPP

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include <headrace/ir/regions.hpp>
#include <headrace/partition/contraction.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

/// Nodes that a backend refuses, each with the reason.
using refusal_reasons = std::unordered_map<const node*, std::string>;

namespace detail {

// A backend that refuses an input, which comes from outside, refuses the nodes that use it.
inline std::size_t refuse_readers(const node_group& nodes, const diagnostic& d, refusal_reasons& refused) {
    std::size_t found = 0;
    for (const node* n : nodes) {
        const bool reads = std::ranges::any_of(n->operand_edges(), [&](const edge& e) {
            const node& source = *e.source;
            const std::string_view name(d.node);
            const bool is_inside = std::find(nodes.begin(), nodes.end(), e.source) != nodes.end();
            return !is_inside &&
                (source.name() == name || origin_name(source) == name ||
                    source.results[e.slot->result].name == name);
        });
        if (!reads) continue;
        refused.emplace(n, d.reason);
        ++found;
    }
    return found;
}

// A node is refused for any node in the graphs that it holds.
inline void add_names(
    const node& n, const node& outer, std::unordered_map<std::string_view, const node*>& by_name) {
    if (!origin_name(n).empty()) by_name.emplace(origin_name(n), &outer);
    for_each_region(n, [&](const field_info&, const graph* region) {
        if (region == nullptr) return;
        for (const node& inner : region->nodes()) add_names(inner, outer, by_name);
    });
}

}  // namespace detail

/// Adds the nodes of a partition that are refused, if any, to `refused`: `done` and the diagnostics of
/// `context` are what a lowering of a copy of the partition has given.
inline void add_refusals(const node_group& nodes, const result<void>& done, const pass_context& context,
    refusal_reasons& refused) {
    if (context.diagnostics().empty()) {
        if (done) return;
        for (const node* n : nodes) refused.emplace(n, done.error().message);
        return;
    }
    std::unordered_map<std::string_view, const node*> by_name;
    for (const node* n : nodes) detail::add_names(*n, *n, by_name);
    std::size_t found = 0;
    for (const diagnostic& d : context.diagnostics()) {
        const auto at = by_name.find(d.node);
        if (at == by_name.end()) {
            found += detail::refuse_readers(nodes, d, refused);
        } else {
            refused.emplace(at->second, d.reason);
            ++found;
        }
    }
    // The refused node cannot be told apart from the others of the partition.
    if (found == 0) {
        for (const node* n : nodes) refused.emplace(n, context.diagnostics()[0].reason);
    }
}

}  // namespace headrace

#endif
