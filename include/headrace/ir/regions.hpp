// SPDX-License-Identifier: MIT
// Defines headrace::for_each_region, which finds the nested graphs that a node holds, and holds_regions.
#ifndef HEADRACE_IR_REGIONS_HPP
#define HEADRACE_IR_REGIONS_HPP

#include <algorithm>
#include <cstddef>
#include <optional>

#include <headrace/ir/node.hpp>

namespace headrace {

/// Calls `f(const field_info&, graph*)` for each argument of a node that is a graph, null or not; an optional
/// one that is missing is passed over.
template <class F>
void for_each_region(const node& n, F&& f) {
    for (const field_info& field : *n.op) {
        if (field.kind != field_kind::region) continue;
        const std::byte* const at = static_cast<const std::byte*>(n.arguments) + field.offset;
        if (!field.optional) {
            f(field, *reinterpret_cast<graph* const*>(at));
        } else if (const auto& region = *reinterpret_cast<const std::optional<graph*>*>(at)) {
            f(field, *region);
        }
    }
}

/// Has an op graphs among its arguments?
[[nodiscard]] inline bool holds_regions(const op_info& op) {
    return std::any_of(op.begin(), op.end(),
                       [](const field_info& f) { return f.kind == field_kind::region; });
}

}  // namespace headrace

#endif
