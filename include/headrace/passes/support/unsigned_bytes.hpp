// SPDX-License-Identifier: MIT
// Defines headrace::holds_unsigned_bytes.
#ifndef HEADRACE_PASSES_SUPPORT_UNSIGNED_BYTES_HPP
#define HEADRACE_PASSES_SUPPORT_UNSIGNED_BYTES_HPP

#include <cstdint>

#include <headrace/ir/regions.hpp>

namespace headrace {

[[nodiscard]] inline bool is_unsigned_bytes(value v) {
    const tensor_meta* meta = meta_of(v);
    return meta != nullptr && meta->dtype == dtype::uint8;
}

/// True if a value of the graph, or of a graph nested in its nodes, is uint8.
[[nodiscard]] inline bool holds_unsigned_bytes(const graph& g) {
    bool found = false;
    for_each_graph(g, [&](const graph& sub) {
        for (const node& n : sub.nodes()) {
            for (std::uint32_t i = 0; i != n.result_count && !found; ++i)
                found = n.results[i].meta && n.results[i].meta->dtype == dtype::uint8;
        }
    });
    return found;
}

}  // namespace headrace

#endif
