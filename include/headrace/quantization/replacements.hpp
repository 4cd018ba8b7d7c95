// SPDX-License-Identifier: MIT
// Defines headrace::replace_with and replace_with_constant, which keep metadata, name and annotations.
#ifndef HEADRACE_QUANTIZATION_REPLACEMENTS_HPP
#define HEADRACE_QUANTIZATION_REPLACEMENTS_HPP

#include <cstddef>
#include <span>
#include <utility>

#include <headrace/ir/graph.hpp>

namespace headrace {

/// Replaces a node of one result, or of which only the first is used, by an op that computes that result.
template <op_tag Op>
void replace_with(graph& g, node& n, const args<Op>& arguments) {
    node& made = g.create<Op>(arguments, &n);
    g.set_meta(made.result(), *meta_of(n.result()));
    g.set_name(made.result(), n.name());
    g.inherit_annotations(made, n);
    g.replace_all_uses(n.result(), made.result());
    g.erase(n);
}

/// Replaces an operand, for this reader alone, by a constant whose bytes `fill(std::span<std::byte>)` writes.
template <class Fill>
void replace_with_constant(graph& g, edge& operand, Fill&& fill) {
    const value old = *operand.slot;
    const value made = create_constant(g, *meta_of(old), operand.target, std::forward<Fill>(fill));
    g.set_name(made, old.producer->results[old.result].name);
    g.inherit_annotations(*made.producer, *old.producer);
    g.set_operand(operand, made);
}

}  // namespace headrace

#endif
