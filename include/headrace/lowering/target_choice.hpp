// SPDX-License-Identifier: MIT
// Defines headrace::default_targets, what a model is lowered to if its user names no target.
#ifndef HEADRACE_LOWERING_TARGET_CHOICE_HPP
#define HEADRACE_LOWERING_TARGET_CHOICE_HPP

#include <vector>

#include <headrace/base/target_spec.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Has the graph ops that quantize or dequantize?
[[nodiscard]] inline bool is_quantized(const graph& g) {
    bool found = false;
    g.census().for_each([&](const op_info& op, std::size_t) {
        found = found || op.dialect == &info_of_dialect<quantized_decomposed::dialect>;
    });
    return found;
}

/// The targets to try, in order; the first that can hold the graph is meant. FP for a float model; for a
/// quantized one INT, then INT+FP in case it has float parts as well.
[[nodiscard]] inline std::vector<target_spec> default_targets(const graph& g) {
    if (!is_quantized(g)) return {target_spec{}.with(target_feature::profile_fp)};
    const target_spec integers = target_spec{}.with(target_feature::profile_int);
    return {integers, integers.with(target_feature::profile_fp)};
}

/// A target that can hold all ops of a graph, before any is lowered: FP, and INT as well if it is quantized.
[[nodiscard]] inline target_spec widest_default_target(const graph& g) { return default_targets(g).back(); }

}  // namespace headrace

#endif
