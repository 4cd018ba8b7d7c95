// SPDX-License-Identifier: MIT
// Defines headrace::layout_rules::accommodate, which finds the layouts in which an op can be computed.
#ifndef HEADRACE_PASSES_LAYOUT_LAYOUT_RULES_HPP
#define HEADRACE_PASSES_LAYOUT_LAYOUT_RULES_HPP

#include <cstdint>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/layout/axis_layout.hpp>
#include <headrace/passes/layout/layout_kind.hpp>

namespace headrace {

namespace layout_rules {

/// An op of kind::axes by its axes: the shapes of its tensors, brought to one rank. Axes that a tensor lacks
/// have size 1.
struct axes_of_op {
    shape_builder full;                  ///< of the tensor that has all axes
    pmr_vector<shape_builder> operands;  ///< of the data operands
    shape_builder result;
    std::uint32_t whole = 0;     ///< axes, as bits, that the op works along
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
                if (operands[i][d] != result[d]) whole |= 1U << d;
            }
        }
        if (const auto axis = worked_axis(n)) whole |= 1U << static_cast<unsigned>(*axis);
        const auto* rescale = args_if<tosa::rescale>(n);
        if (rescale != nullptr && rescale->per_channel && full.size() != 0)
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

[[nodiscard]] inline sizes port_shape(const node& n, node_port port) {
    return port.is_result() ? sizes(n.results[0].meta->shape) : shape_of(n.operand(port.index));
}

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
        const std::size_t d = axes->axis_at(i);
        const std::uint32_t bit = 1U << d;
        if ((op.whole & bit) != 0 && axes->pieces_of(d) > 1) return std::nullopt;
        if ((op.trailing & bit) == 0 && op.trailing != 0 && i != 0 &&
            (op.trailing & 1U << axes->axis_at(i - 1)) != 0) {
            return std::nullopt;
        }
        const bool joins = i != 0 && ((op.whole & bit) | (op.whole & 1U << axes->axis_at(i - 1))) == 0 &&
            op.who_has(d) == op.who_has(axes->axis_at(i - 1));
        runs += !joins;
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

// MATMUL's tensors share axes: batch, rows, columns, and the contracted one.
[[nodiscard]] inline std::optional<op_layouts> accommodate_matmul(
    const node& n, node_port port, const layout& wanted, const op_layouts& now) {
    constexpr std::size_t batch = 0, rows = 1, inner = 2, columns = 3;
    struct tensor_axes {
        node_port port;
        std::size_t axes[3];
    };
    constexpr tensor_axes all[] = {
        {{0}, {batch, rows, inner}}, {{1}, {batch, inner, columns}}, {{}, {batch, rows, columns}}};
    const shape_builder straight{0, 1, 2};
    const shape_builder swapped{0, 2, 1};
    layout within_axis[4];
    const auto read = [&](const tensor_axes& t, const layout& l, sizes order) {
        const auto blocks = blocks_of(l, port_shape(n, t.port), order);
        for (std::size_t d = 0; blocks && d != 3; ++d) within_axis[t.axes[d]] = (*blocks)[d];
        return blocks.has_value();
    };
    // Axes that the wanted layout does not determine are unchanged.
    for (const tensor_axes& t : all) {
        const layout& l = t.port.is_result() ? now.result : now.operands[t.port.index];
        if (!read(t, l, straight)) static_cast<void>(read(t, l, swapped));
    }
    const tensor_axes& given = port.is_result() ? all[2] : all[port.index];
    const bool as_is = read(given, wanted, straight);
    if (!as_is && !read(given, wanted, swapped)) return std::nullopt;
    op_layouts found{pmr_vector<layout>(2), {}};
    for (const tensor_axes& t : all) {
        const layout blocks[] = {within_axis[t.axes[0]], within_axis[t.axes[1]], within_axis[t.axes[2]]};
        (t.port.is_result() ? found.result : found.operands[t.port.index]) =
            from_blocks(port_shape(n, t.port), blocks, as_is ? straight : swapped);
    }
    return found;
}

/// True if the layouts of an op's operand and result are independent.
[[nodiscard]] inline bool is_split(kind k) { return k == kind::window; }

/// Returns the layouts of an op if the tensor at `port` has layout `wanted`; none if the op cannot be
/// computed that way. Layouts that this does not determine stay as they are `now`.
[[nodiscard]] inline std::optional<op_layouts> accommodate(
    const node& n, kind k, node_port port, const layout& wanted, const op_layouts& now) {
    switch (k) {
        case kind::fixed:
            return std::nullopt;
        case kind::move:
            return accommodate_move(n, port, wanted);
        case kind::axes:
            return accommodate_axes(n, port, wanted);
        case kind::matmul:
            return accommodate_matmul(n, port, wanted, now);
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
