// SPDX-License-Identifier: MIT
// Defines headrace::layout_rules::kind, which says how freely the layouts of an op's tensors can be chosen.
#ifndef HEADRACE_PASSES_LAYOUT_LAYOUT_KIND_HPP
#define HEADRACE_PASSES_LAYOUT_LAYOUT_KIND_HPP

#include <algorithm>
#include <cstdint>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/passes/layout/layout_algebra.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// The layouts of the tensors that an op reads and produces.
struct op_layouts {
    pmr_vector<layout> operands;  ///< of the data operands, which come first
    layout result;

    friend bool operator==(const op_layouts&, const op_layouts&) = default;
};

/// An operand of a node, or its result.
struct node_port {
    static constexpr std::size_t result = SIZE_MAX;

    std::size_t index = result;  ///< index of the operand

    [[nodiscard]] bool is_result() const { return index == result; }
};

namespace layout_rules {

/// The layouts in which an op can be computed.
enum class kind : std::uint8_t {
    fixed,      ///< all tensors row-major
    move,       ///< RESHAPE, TRANSPOSE: the result keeps the operand's elements where they are stored
    axes,       ///< any order of the axes, equal for all tensors; axes that the op works along stay whole
    channels,   ///< the outer axes in order, the factors of the last axis in any order, equal for all tensors
    window,     ///< a convolution: as `channels`, but independently for operand and result
    pointwise,  ///< a convolution of single pixels: also the pixels in any order, equal for both tensors
    matmul,     ///< rows, columns and the contracted axis in any order of factors; or everything transposed
};

/// Ops that work along the single axis in their attribute, and keep or reduce it.
inline constexpr trait along_axis = trait::reduction | trait::reversing;

[[nodiscard]] inline sizes shape_of(value v) { return meta_of(v)->shape; }

[[nodiscard]] inline bool is_constant(value v) { return is<builtin::constant>(*v.producer); }

template <class Op>
[[nodiscard]] bool has_constant_weights(const args<Op>& a) {
    return is_constant(a.weight) && is_constant(a.bias);
}

[[nodiscard]] inline kind kind_of_convolution(const node& n) {
    if (const auto* a = args_if<tosa::conv2d>(n)) {
        if (!has_constant_weights<tosa::conv2d>(*a)) return kind::fixed;
        const sizes kernel = shape_of(a->weight);
        const bool single =
            kernel[1] == 1 && kernel[2] == 1 && build::all_are(a->stride, 1) && build::all_are(a->pad, 0);
        return single ? kind::pointwise : kind::window;
    }
    if (const auto* a = args_if<tosa::depthwise_conv2d>(n)) {
        return has_constant_weights<tosa::depthwise_conv2d>(*a) && shape_of(a->weight)[3] == 1
            ? kind::channels
            : kind::fixed;
    }
    if (const auto* a = args_if<tosa::transpose_conv2d>(n)) {
        return has_constant_weights<tosa::transpose_conv2d>(*a) ? kind::window : kind::fixed;
    }
    const auto* a = args_if<tosa::conv3d>(n);
    return a != nullptr && has_constant_weights<tosa::conv3d>(*a) ? kind::window : kind::fixed;
}

/// Returns the axis that an op works along.
[[nodiscard]] inline std::optional<std::int64_t> worked_axis(const node& n) {
    std::optional<std::int64_t> axis;
    const auto look = [&]<class... Ops>(ops<Ops...>) {
        static_cast<void>(((is<Ops>(n) && (axis = args_of<Ops>(n).axis, true)) || ...));
    };
    look(ops_where<tosa::dialect, along_axis | trait::joining>{});
    return axis;
}

/// Returns how many leading operands are tensors whose layouts the op relates to that of its result. The
/// others are parameters: weights, zero points, shapes.
[[nodiscard]] inline std::size_t data_operands(const node& n) {
    if (is<tosa::concat>(n)) return n.operand_count;
    if (n.op->has(trait::ternary)) return 3;
    return n.op->has(trait::binary) || is<tosa::matmul>(n) ? 2 : 1;
}

[[nodiscard]] inline kind kind_of(const node& n) {
    // Ops that no pass has lowered are left unchanged.
    if (!is_of_dialect<tosa::dialect>(n)) return kind::fixed;
    if (n.result_count != 1 || n.results[0].meta == nullptr) return kind::fixed;
    for (std::size_t i = 0; i != std::min<std::size_t>(data_operands(n), n.operand_count); ++i) {
        if (meta_of(n.operand(i)) == nullptr) return kind::fixed;
    }
    if (n.op->has(trait::permuting | trait::reshaping)) return kind::move;
    if (const auto axis = worked_axis(n)) {  // an axis of size 1 has no place in a layout
        const sizes shape = is<tosa::concat>(n) ? sizes(n.results[0].meta->shape) : shape_of(n.operand(0));
        return shape[static_cast<std::size_t>(*axis)] != 1 ? kind::axes : kind::fixed;
    }
    if (const auto* pad = args_if<tosa::pad>(n))
        return match<tosa::const_shape>(pad->padding) != nullptr ? kind::axes : kind::fixed;
    if (const auto* slice = args_if<tosa::slice>(n)) {
        return match<tosa::const_shape>(slice->start) != nullptr ? kind::axes : kind::fixed;
    }
    const auto* rescale = args_if<tosa::rescale>(n);
    if (rescale != nullptr && rescale->per_channel && n.results[0].meta->shape.back() == 1)
        return kind::fixed;
    if (n.op->has(trait::elementwise | trait::repeating)) return kind::axes;
    if (n.op->has(trait::pooling | trait::resampling | trait::gathering)) return kind::channels;
    return is<tosa::matmul>(n) ? kind::matmul : kind_of_convolution(n);
}

}  // namespace layout_rules
}  // namespace headrace

#endif
