// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/constant_bytes.hpp.

#include <headrace/lowering/constant_bytes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include <headrace/dialect/aten.hpp>

namespace headrace {

namespace {

// True if the op needs all elements of all its operands, so that no pass can shrink constants among them.
bool needs_all_elements(const node& n) {
    return n.op->has(trait::convolving | trait::matrix_product) || is<aten::embedding>(n);
}

// True if the op's result has as many elements as its first operand.
bool keeps_all_elements(const node& n) {
    return n.op->has(trait::reshaping | trait::permuting | trait::dequantizing);
}

}  // namespace

std::uint64_t least_constant_bytes(const graph& g) {
    std::vector<bool> lives(g.id_bound());    // the output needs it
    std::vector<bool> stays(g.id_bound());    // all elements of its first result are needed
    std::unordered_set<const void*> counted;  // constants may share their data
    std::uint64_t bytes = 0;
    for (const node* n = g.last(); n != nullptr; n = n->previous) {
        lives[n->id] = lives[n->id] || is<builtin::output>(*n);
        if (!lives[n->id]) continue;
        const bool needs_all = needs_all_elements(*n);
        const bool keeps_all = stays[n->id] && keeps_all_elements(*n);
        const auto edges = n->operand_edges();
        for (std::size_t i = 0; i != edges.size(); ++i) {
            lives[edges[i].source->id] = true;
            if (needs_all || (keeps_all && i == 0)) stays[edges[i].source->id] = true;
        }
        if (!stays[n->id] || !is<builtin::constant>(*n) || !n->results[0].meta) continue;
        const tensor_meta& meta = *n->results[0].meta;
        const auto& data = args_of<builtin::constant>(*n).data;
        const bool is_spread = std::ranges::find(data.strides, 0) != data.strides.end();
        if (is_spread || !counted.insert(data.bytes).second) continue;
        bytes += std::min(packed_bytes(meta), 4 * static_cast<std::uint64_t>(meta.elements()));
    }
    return bytes;
}

}  // namespace headrace
