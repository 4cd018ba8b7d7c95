// SPDX-License-Identifier: MIT
// Defines annotations about layers that are computed as one: headrace::kept_branches,
// headrace::quantized_merges and headrace::merged_layers of an output node, headrace::merge_group of any.
#ifndef HEADRACE_IR_LINEAR_MERGES_HPP
#define HEADRACE_IR_LINEAR_MERGES_HPP

#include <cstdint>
#include <string_view>

#include <headrace/ir/graph.hpp>

namespace headrace {

/// Annotation: branches and chains of linear layers stay as they were exported.
struct kept_branches {
    static constexpr bool inherited = true;  // by outputs that take the place of these
};

/// Asks for that. Does nothing to a graph without outputs, which has no layers either.
inline void keep_branches(graph& g) {
    if (g.output() != nullptr) g.annotate(*g.output(), kept_branches{});
}
/// True if that was asked of a graph, or of the one that it is a region of.
[[nodiscard]] inline bool keeps_branches(const graph& g) {
    if (g.parent() != nullptr) return keeps_branches(*g.parent());
    return g.output() != nullptr && g.output()->find_annotation<kept_branches>() != nullptr;
}

/// Annotation: the layers become quantized. A sum is not merged with an addend if the merged weights lose
/// much more than the two apart.
struct quantized_merges {
    static constexpr bool inherited = true;
    int weight_bits = 8, activation_bits = 8;
};
[[nodiscard]] inline const quantized_merges* quantized_merges_of(const graph& g) {
    if (g.parent() != nullptr) return quantized_merges_of(*g.parent());
    return g.output() == nullptr ? nullptr : g.output()->find_annotation<quantized_merges>();
}

/// Annotation: the node is merged with nodes of its group alone. Nodes without have group 0.
struct merge_group {
    static constexpr bool inherited = true;
    std::uint32_t group = 0;
};
[[nodiscard]] inline std::uint32_t merge_group_of(const node& n) {
    const auto* known = n.find_annotation<merge_group>();
    return known == nullptr ? 0 : known->group;
}

/// A layer that took the place of several nodes.
struct layer_merge {
    std::string_view result;        ///< the exported node whose result it gives
    list<std::string_view> merged;  ///< the exported nodes that it computes, in order
    double error =
        0;  ///< of the weights' rounding to float32: Σ|difference| / Σ|weight|, of the worst channel
};

/// Annotation: all merges of a graph.
struct merged_layers {
    static constexpr bool inherited = true;
    list<layer_merge> all;
};
[[nodiscard]] inline list<layer_merge> merges_of(const graph& g) {
    const auto* known = g.output() == nullptr ? nullptr : g.output()->find_annotation<merged_layers>();
    return known == nullptr ? list<layer_merge>() : known->all;
}

}  // namespace headrace

#endif
