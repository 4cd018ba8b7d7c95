// SPDX-License-Identifier: MIT
// Defines the members of headrace::quantization_groups.

#include <headrace/quantization/quantization_groups.hpp>

#include <cstdint>

namespace headrace {

quantization_groups::quantization_groups(const graph& g)
    : first_edge_(g.id_bound()), first_result_(g.id_bound()) {
    std::uint32_t edges = 0;
    std::uint32_t results = 0;
    for (const node& n : g.nodes()) {
        first_edge_[n.id] = edges;
        first_result_[n.id] = results;
        edges += n.operand_count;
        results += n.result_count;
    }
    of_edge_.assign(edges, none);
    of_result_.assign(results, none);
}

quantization_groups::key quantization_groups::make(const tensor_scheme& scheme) {
    const auto k = static_cast<key>(parents_.size());
    parents_.push_back(k);
    schemes_.push_back(scheme);
    is_bias_.push_back(false);
    return k;
}

}  // namespace headrace
