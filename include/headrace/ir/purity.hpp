// SPDX-License-Identifier: MIT
// Defines headrace::has_effects and headrace::is_pure: what running a node does beside giving its results.
#ifndef HEADRACE_IR_PURITY_HPP
#define HEADRACE_IR_PURITY_HPP

#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

/// Does a node of that op do something even if nothing uses its results? Ops without results do (assertions,
/// TOSA's variables), and ops that write in place.
[[nodiscard]] constexpr bool has_effects(const op_info& op) {
    return op.has(trait::no_results | trait::in_place);
}

/// The same of one node: an op that holds graphs has the effects of what is in them.
[[nodiscard]] inline bool has_effects(const node& n) {
    // An unknown op without results is called for what else it does.
    bool found = has_effects(*n.op) || (is<builtin::opaque>(n) && n.result_count == 0);
    for_each_region(n, [&](const field_info&, const graph* region) {
        if (region == nullptr) return;
        for (const node& inner : region->nodes()) {
            found = found || (!is<builtin::output>(inner) && has_effects(inner));
        }
    });
    return found;
}

/// Is the node a function of its operands and arguments alone, with nothing else that can see it run? Of a
/// dialect that does not say so, no op is.
[[nodiscard]] inline bool is_pure(const node& n) {
    if (n.result_count == 0 || has_effects(*n.op)) return false;
    if (!n.op->dialect->is_pure || n.op->has(trait::impure)) return false;
    for (const field_info& f : *n.op) {
        if (f.kind == field_kind::region) return false;
    }
    return true;
}

}  // namespace headrace

#endif
