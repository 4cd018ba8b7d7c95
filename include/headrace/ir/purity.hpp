// SPDX-License-Identifier: MIT
// Defines headrace::has_effects and headrace::is_pure: what running a node does beside giving its results.
#ifndef HEADRACE_IR_PURITY_HPP
#define HEADRACE_IR_PURITY_HPP

#include <cstddef>
#include <string_view>

#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

/// Does a node of that op do something even if nothing uses its results? Ops without results do (assertions,
/// TOSA's variables), and ops that write in place.
[[nodiscard]] constexpr bool has_effects(const op_info& op) {
    return op.has(trait::no_results | trait::in_place);
}

/// True if an op of PyTorch of that name writes in place, as "aten.fill_.Scalar" and "aten.__iand__.Tensor"
/// do; "aten.__and__.Tensor" does not.
[[nodiscard]] constexpr bool is_named_in_place(std::string_view target) {
    const std::size_t end = target.rfind('.');
    if (end == std::string_view::npos || end == 0) return false;
    if (target.find(".__i") != std::string_view::npos) return true;
    return target[end - 1] == '_' && target.find("__") == std::string_view::npos;
}

/// The same of one node: an op that holds graphs has the effects of what is in them.
[[nodiscard]] inline bool has_effects(const node& n) {
    // An unknown op without results is called for what else it does.
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
