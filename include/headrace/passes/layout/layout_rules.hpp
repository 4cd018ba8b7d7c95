// SPDX-License-Identifier: MIT
// Defines headrace::layout_rules: how freely the layouts of an op's tensors can be chosen, and those in which
// it can be computed.
#ifndef HEADRACE_PASSES_LAYOUT_LAYOUT_RULES_HPP
#define HEADRACE_PASSES_LAYOUT_LAYOUT_RULES_HPP

#include <algorithm>
#include <cstdint>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/passes/layout/layout_algebra.hpp>
#include <headrace/passes/layout/matmul_layouts.hpp>
#include <headrace/passes/layout/op_layouts.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

namespace layout_rules {

/// The layouts in which an op can be computed.
enum class kind : std::uint8_t {
    fixed,      ///< all tensors row-major
    move,       ///< RESHAPE, TRANSPOSE: the result keeps the operand's elements where they are stored
    axes,       ///< any order of the axes, equal for all tensors; axes that the op works along stay whole,
                ///< except those that it reduces
    channels,   ///< the outer axes in order, the factors of the last axis in any order, equal for all tensors
    window,     ///< a convolution: as `channels`, but independently for operand and result
    pointwise,  ///< a convolution of single pixels: also the pixels in any order, equal for both tensors
    matmul,     ///< rows, columns and the contracted axis in any order of factors; or everything transposed
    matrices,   ///< a MATMUL whose matrices may also be stored side by side
};

/// Ops that work along the single axis in their attribute, and keep or reduce it.
inline constexpr trait along_axis = trait::reduction | trait::reversing;

[[nodiscard]] inline bool is_constant(value v) { return is<builtin::constant>(*v.producer); }

// Convolutions of computed weights are fixed.
[[nodiscard]] inline kind kind_of_convolution(const node& n) {
    const auto has_constants = [](const auto* a) {
        return a != nullptr && is_constant(a->weight) && is_constant(a->bias);
    };
    const auto* a = args_if<tosa::conv2d>(n);
    if (has_constants(a)) {
        const sizes kernel = shape_of(a->weight);
        const bool single =
            kernel[1] == 1 && kernel[2] == 1 && build::all_are(a->stride, 1) && build::all_are(a->pad, 0);
        return single ? kind::pointwise : kind::window;
    }
    const auto* depthwise = args_if<tosa::depthwise_conv2d>(n);
    if (has_constants(depthwise)) return shape_of(depthwise->weight)[3] == 1 ? kind::channels : kind::fixed;
    const bool has_window =
        has_constants(args_if<tosa::transpose_conv2d>(n)) || has_constants(args_if<tosa::conv3d>(n));
    return has_window ? kind::window : kind::fixed;
}

/// Returns the axis that an op works along.
[[nodiscard]] inline std::optional<std::int64_t> worked_axis(const node& n) {
    std::optional<std::int64_t> axis;
    visit_args(ops_where<tosa::dialect, along_axis | trait::joining>{}, n,
        [&](auto, const auto& a) { axis = a.axis; });
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
    if (const auto* slice = args_if<tosa::slice>(n))
        return match<tosa::const_shape>(slice->start) != nullptr ? kind::axes : kind::fixed;
    if (n.op->has(trait::elementwise | trait::repeating)) return kind::axes;
    if (n.op->has(trait::pooling | trait::resampling | trait::gathering)) return kind::channels;
    return is<tosa::matmul>(n) ? kind::matmul : kind_of_convolution(n);
}

/// Returns the layouts in which an op can be computed on a target.
[[nodiscard]] inline kind kind_of(const node& n, const target_preferences& target) {
    const kind k = kind_of(n);
    const bool separable = k == kind::matmul && shape_of(n.operand(0))[0] <= target.separate_matrices;
    return separable ? kind::matrices : k;
}

/// An op of kind::axes by its axes: the shapes of its tensors, brought to one rank. Axes that a tensor lacks
/// have size 1.
struct axes_of_op {
    shape_builder full;                  ///< of the tensor that has all axes
    pmr_vector<shape_builder> operands;  ///< of the data operands
    shape_builder result;
    std::uint32_t whole = 0;     ///< axes, as bits, that the op works along
    std::uint32_t reduced = 0;   ///< those of them whose pieces can be reduced in any order, one by one
    std::uint32_t trailing = 0;  ///< axes that must be stored last

    explicit axes_of_op(const node& n) {
        const sizes first = shape_of(n.operand(0));
        result = n.results[0].meta->shape;
        if (is<tosa::argmax>(n)) result.insert(static_cast<std::size_t>(args_of<tosa::argmax>(n).axis), 1);
        const bool shrinks = n.op->has(along_axis | trait::slicing);
        full = shrinks ? shape_builder(first) : result;
        for (std::size_t i = 0; i != data_operands(n); ++i) {
            operands.emplace_back(shape_of(n.operand(i)));
            const bool elementwise = n.op->has(trait::binary | trait::ternary);
            for (std::size_t d = 0; d != full.size() && !elementwise; ++d) {
                const bool broadcasts = n.op->has(trait::repeating) && operands[i][d] == 1;
                if (operands[i][d] != result[d] && !broadcasts) whole |= 1U << d;
            }
        }
        if (const auto axis = worked_axis(n)) whole |= 1U << static_cast<unsigned>(*axis);
        if (n.op->has(trait::reduction) && !n.op->has(trait::locating)) reduced = whole;
        const auto* rescale = args_if<tosa::rescale>(n);
        if (rescale != nullptr && rescale->per_channel && full.size() != 0 && full.back() != 1)
            trailing = 1U << (full.size() - 1);
    }
    [[nodiscard]] const shape_builder& of(node_port port) const {
        return port.is_result() ? result : operands[port.index];
    }
    /// Returns the tensors, as bits, that have an axis.
    [[nodiscard]] std::uint64_t who_has(std::size_t d) const {
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i != operands.size() && i != 62; ++i) {
            bits = bits << 1U | std::uint64_t{operands[i][d] != 1};
        }
        return bits << 1U | std::uint64_t{result[d] != 1};
    }
};

[[nodiscard]] inline std::optional<op_layouts> accommodate_move(
    const node& n, node_port port, const layout& wanted) {
    const auto* t = args_if<tosa::transpose>(n);
    if (t == nullptr) return op_layouts{{wanted}, wanted};
    const layout moved = layout_of(shape_of(t->input1), t->perms);
    const auto other = then(port.is_result() ? moved : inverse(moved), wanted);
    if (!other) return std::nullopt;
    return port.is_result() ? op_layouts{{*other}, wanted} : op_layouts{{wanted}, *other};
}

[[nodiscard]] inline std::optional<op_layouts> accommodate_axes(
    const node& n, node_port port, const layout& wanted) {
    const axes_of_op op(n);
    auto axes = along_axes(wanted, op.of(port));
    if (!axes) return std::nullopt;
    if (op.of(port) != op.full) {
        const auto all = resized(*axes, op.of(port), op.full);
        axes = all ? along_axes(*all, op.full) : std::nullopt;
        if (!axes) return std::nullopt;
    }
    std::size_t runs = 0;
    for (std::size_t i = 0; i != axes->axis.size(); ++i) {
        const std::size_t here = axes->axis_at(i), before = axes->axis_at(i == 0 ? 0 : i - 1);
        if ((op.whole & ~op.reduced & 1U << here) != 0 && axes->pieces_of(here) > 1) return std::nullopt;
        if ((op.trailing & 1U << before) != 0 && (op.trailing & 1U << here) == 0) return std::nullopt;
        const bool joins = here == before ||
            ((op.whole & (1U << here | 1U << before)) == 0 && op.who_has(here) == op.who_has(before));
        runs += i == 0 || !joins;
    }
    if (runs > static_cast<std::size_t>(tosa::level_8k::max_rank)) return std::nullopt;
    op_layouts found;
    for (const shape_builder& shape : op.operands) {
        const auto l = resized(*axes, op.full, shape);
        if (!l) return std::nullopt;
        found.operands.push_back(*l);
    }
    const auto l = resized(*axes, op.full, op.result);
    if (!l) return std::nullopt;
    found.result = *l;
    return found;
}

/// True if the layouts of an op's operand and result are independent.
[[nodiscard]] inline bool is_split(kind k) { return k == kind::window; }

/// Returns the layouts of an op if the tensor at `port` has layout `wanted`; none if the op cannot be
/// computed that way. Layouts that this does not determine stay as they are `now`, except that a MATMUL's
/// result is stored like its rows if `rows_follow`.
[[nodiscard]] inline std::optional<op_layouts> accommodate(const node& n, kind k, node_port port,
    const layout& wanted, const op_layouts& now, bool rows_follow = false) {
    switch (k) {
        case kind::fixed:
            return std::nullopt;
        case kind::move:
            return accommodate_move(n, port, wanted);
        case kind::axes:
            return accommodate_axes(n, port, wanted);
        case kind::matmul:
        case kind::matrices:
            return accommodate_matmul(n, port, wanted, now, k == kind::matrices, rows_follow);
        default:
            break;
    }
    const sizes shape = port_shape(n, port);
    const node_port other = port.is_result() ? node_port{0} : node_port{};
    const layout& at_other = port.is_result() ? now.operands[0] : now.result;
    std::optional<layout> there;
    if (k == kind::pointwise) {
        there = with_same_pixels(
            wanted, shape, port_shape(n, other), channels_of(at_other, port_shape(n, other)));
    } else if (k == kind::channels) {
        there = with_same_channels(wanted, shape, port_shape(n, other));
    } else if (with_same_channels(wanted, shape, shape)) {
        there = at_other;
    }
    if (!there) return std::nullopt;
    return port.is_result() ? op_layouts{{*there}, wanted} : op_layouts{{wanted}, *there};
}

/// Returns the layouts of an op in the original graph: all row-major, except the operand of a TRANSPOSE.
[[nodiscard]] inline op_layouts as_it_stands(const node& n, kind k) {
    if (k == kind::move) return *accommodate(n, k, {}, {}, {});
    return {pmr_vector<layout>(k == kind::fixed ? 0 : data_operands(n)), {}};
}

}  // namespace layout_rules

}  // namespace headrace

#endif
