// SPDX-License-Identifier: MIT
// Defines the dtypes that TOSA has instead of PyTorch's, and finds and replaces dtypes in graphs.
#ifndef HEADRACE_PASSES_SUPPORT_NARROWING_HPP
#define HEADRACE_PASSES_SUPPORT_NARROWING_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <headrace/base/dtype.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

/// Returns int32 for int64, since TOSA 1.0 has no INT64; other dtypes are unchanged.
[[nodiscard]] constexpr dtype narrowed(dtype t) { return t == dtype::int64 ? dtype::int32 : t; }

[[nodiscard]] inline bool is_unsigned_bytes(value v) {
    const tensor_meta* meta = meta_of(v);
    return meta != nullptr && meta->dtype == dtype::uint8;
}

/// True if a result of the node has that dtype.
[[nodiscard]] inline bool has_result_of(const node& n, dtype type) {
    return std::any_of(n.results, n.results + n.result_count,
        [&](const result_slot& r) { return r.meta && r.meta->dtype == type; });
}
/// True if a value of the graph, or of a graph nested in its nodes, is uint8.
[[nodiscard]] inline bool holds_unsigned_bytes(const graph& g) {
    bool found = false;
    for_each_graph(g, [&](const graph& sub) {
        for (const node& n : sub.nodes()) found = found || has_result_of(n, dtype::uint8);
    });
    return found;
}

/// Gives a value that dtype; its shape and the order of its dimensions stay.
inline void set_dtype(value v, dtype type) {
    const tensor_meta& meta = *meta_of(v);
    v.producer->owner->set_meta(v, {type, meta.shape, meta.dim_order});
}

/// Replaces a dtype among the arguments of a node.
inline void replace_dtype(node& n, dtype from, dtype to) {
    const auto replace = [&](auto& type) {
        if (type == from) type = to;
    };
    for (const field_info& f : *n.op) {
        if (f.kind != field_kind::element_type) continue;
        std::byte* const at = static_cast<std::byte*>(n.arguments) + f.offset;
        if (f.optional) {
            replace(*reinterpret_cast<std::optional<dtype>*>(at));
        } else {
            replace(*reinterpret_cast<dtype*>(at));
        }
    }
}

}  // namespace headrace

#endif
