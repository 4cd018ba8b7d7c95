// SPDX-License-Identifier: MIT
// Defines headrace::inline_region, which copies the nodes of a region to where the region is called.
#ifndef HEADRACE_PASSES_SUPPORT_INLINING_HPP
#define HEADRACE_PASSES_SUPPORT_INLINING_HPP

#include <memory_resource>
#include <span>
#include <unordered_map>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

/// Copies the nodes of a region before `call`, with `inputs` in place of its inputs, and returns the copies
/// of its outputs. Every input that a node uses must be given.
inline pmr_vector<value> inline_region(const graph& region, node& call, std::span<const value> inputs) {
    graph& g = *call.owner;
    std::pmr::unordered_map<const node*, node*> copies;
    std::pmr::unordered_map<const node*, value> given;
    std::size_t next = 0;
    const auto mapped = [&](value v) {
        const auto input = given.find(v.producer);
        return input != given.end() ? input->second : value{copies.at(v.producer), v.result};
    };
    for (const node& n : region.nodes()) {
        if (is<builtin::placeholder>(n) && next < inputs.size()) given[&n] = inputs[next++];
        if (is<builtin::placeholder>(n) || is<builtin::output>(n)) continue;
        node& made = g.create(*n.op, n.arguments, n.result_count, &call);
        for (edge& e : std::span(made.operands, made.operand_count)) g.set_operand(e, mapped(*e.slot));
        for (std::uint32_t i = 0; i != n.result_count; ++i) made.results[i] = n.results[i];
        made.annotations = n.annotations;
        g.inherit_annotations(made, call);
        copies[&n] = &made;
    }
    pmr_vector<value> outputs;
    for (const value v : region.outputs()) outputs.push_back(mapped(v));
    return outputs;
}

/// Erases the nodes of a region that is no longer called, so that no pass visits them.
inline void erase_nodes(graph& region) {
    while (region.last() != nullptr) region.erase(*region.last());
}

}  // namespace headrace

#endif
