// SPDX-License-Identifier: MIT
// Defines headrace::has_effects and headrace::is_pure, the effects of a node beyond its results.
#ifndef HEADRACE_IR_PURITY_HPP
#define HEADRACE_IR_PURITY_HPP

#include <cstddef>
#include <string_view>

#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

/// True if a node of that op has an effect even if its results are unused: ops without results (assertions,
/// TOSA's variables) and ops that write in place.
[[nodiscard]] constexpr bool has_effects(const op_info& op) {
    return op.has(trait::no_results | trait::in_place);
}

/// True if a PyTorch op of that name writes in place, such as "aten.fill_.Scalar" or "aten.__iand__.Tensor",
/// but not "aten.__and__.Tensor".
[[nodiscard]] constexpr bool is_named_in_place(std::string_view target) {
    const std::size_t end = target.rfind('.');
    if (end == std::string_view::npos || end == 0) return false;
    if (target.find(".__i") != std::string_view::npos) return true;
    return target[end - 1] == '_' && target.find("__") == std::string_view::npos;
}

/// True if a node has an effect; a node that holds graphs has the effects of their nodes.
[[nodiscard]] inline bool has_effects(const node& n) {
    // An unknown op without results must have an effect.
    bool found = has_effects(*n.op);
    if (const auto* unknown = args_if<builtin::opaque>(n))
        found = n.result_count == 0 || is_named_in_place(unknown->target);
    for_each_region(n, [&](const field_info&, const graph* region) {
        if (region == nullptr) return;
        for (const node& inner : region->nodes()) {
            found = found || (!is<builtin::output>(inner) && has_effects(inner));
        }
    });
    return found;
}

/// True if the node is a function of its operands and arguments alone, and running it has no other observable
/// effect. False for all ops of a dialect that does not declare purity.
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
