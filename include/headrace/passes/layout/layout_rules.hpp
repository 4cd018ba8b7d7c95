// SPDX-License-Identifier: MIT
// Defines headrace::layout_rules: in which layouts an op of TOSA can be computed.
#ifndef HEADRACE_PASSES_LAYOUT_LAYOUT_RULES_HPP
#define HEADRACE_PASSES_LAYOUT_LAYOUT_RULES_HPP

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include <headrace/infer/tosa.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/passes/layout/axis_layout.hpp>

namespace headrace {

/// How the tensors lie that an op reads and makes.
struct op_layouts {
    std::pmr::vector<layout> operands;  ///< of its data operands, which come first
    layout result;

    friend bool operator==(const op_layouts&, const op_layouts&) = default;
};

/// What of a node has a layout to choose: an operand, or its result.
struct node_port {
    static constexpr std::size_t result = SIZE_MAX;

    std::size_t index = result;  ///< of the operand

    [[nodiscard]] bool is_result() const { return index == result; }
};

namespace layout_rules {

/// What the layout of one tensor of an op says of the others.
enum class kind : std::uint8_t {
    fixed,      ///< row-major, all of them
    move,       ///< RESHAPE, TRANSPOSE: the result is the operand, seen otherwise
    axes,       ///< any order of the axes, alike for all tensors; the axes that the op works along stay whole
    channels,   ///< the outer axes as they are, the last in any order of its factors, alike
    window,     ///< a convolution: likewise, but each of its two tensors by itself
    pointwise,  ///< a convolution of single pixels: their order is free, too, alike for both tensors
    matmul,     ///< rows, columns and what is summed over in any order of factors; or all of it transposed
};

namespace detail {

template <class... Ops>
[[nodiscard]] bool is_any(const node& n, ops<Ops...>) {
    return (is<Ops>(n) || ...);
}

using unary =
    ops<tosa::clamp, tosa::erf, tosa::sigmoid, tosa::tanh, tosa::abs, tosa::bitwise_not, tosa::ceil,
        tosa::clz, tosa::cos, tosa::exp, tosa::floor, tosa::log, tosa::logical_not, tosa::negate,
        tosa::reciprocal, tosa::rsqrt, tosa::sin, tosa::cast, tosa::rescale, tosa::table, tosa::identity>;
using binary =
    ops<tosa::add, tosa::arithmetic_right_shift, tosa::bitwise_and, tosa::bitwise_or, tosa::bitwise_xor,
        tosa::intdiv, tosa::logical_and, tosa::logical_left_shift, tosa::logical_right_shift,
        tosa::logical_or, tosa::logical_xor, tosa::maximum, tosa::minimum, tosa::mul, tosa::pow, tosa::sub,
        tosa::equal, tosa::greater, tosa::greater_equal>;
using along_axis = ops<tosa::reduce_all, tosa::reduce_any, tosa::reduce_max, tosa::reduce_min,
                       tosa::reduce_product, tosa::reduce_sum, tosa::argmax, tosa::reverse>;

[[nodiscard]] inline sizes shape_of(value v) { return meta_of(v)->shape; }

[[nodiscard]] inline bool is_constant(value v) { return is<builtin::constant>(*v.producer); }

template <class Op>
[[nodiscard]] bool has_constant_weights(const args<Op>& a) {
    return is_constant(a.weight) && is_constant(a.bias);
}

[[nodiscard]] inline bool all_are(const int_list& items, std::int64_t number) {
    for (const std::int64_t item : items) {
        if (item != number) return false;
    }
    return true;
}

[[nodiscard]] inline kind kind_of_convolution(const node& n) {
    if (const auto* a = args_if<tosa::conv2d>(n)) {
        if (!has_constant_weights<tosa::conv2d>(*a)) return kind::fixed;
        const sizes kernel = shape_of(a->weight);
        const bool single = kernel[1] == 1 && kernel[2] == 1 && all_are(a->stride, 1) && all_are(a->pad, 0);
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

[[nodiscard]] inline std::optional<std::int64_t> axis_of(const node& n) {
    std::optional<std::int64_t> axis;
    const auto look = [&]<class... Ops>(ops<Ops...>) {
        static_cast<void>(((is<Ops>(n) && (axis = args_of<Ops>(n).axis, true)) || ...));
    };
    look(joined<along_axis, ops<tosa::concat>>{});
    return axis;
}

}  // namespace detail

/// How many operands, from the first, are tensors that the op maps to its result element by element or axis
/// by axis. The others are parameters: weights, zero points, shapes.
[[nodiscard]] inline std::size_t data_operands(const node& n) {
    if (is<tosa::concat>(n)) return n.operand_count;
    if (is<tosa::select>(n)) return 3;
    return detail::is_any(n, joined<detail::binary, ops<tosa::matmul>>{}) ? 2 : 1;
}

[[nodiscard]] inline kind kind_of(const node& n) {
    if (n.result_count != 1 || !n.results[0].meta.has_value()) return kind::fixed;
    for (std::size_t i = 0; i != std::min<std::size_t>(data_operands(n), n.operand_count); ++i) {
        if (meta_of(n.operand(i)) == nullptr) return kind::fixed;
    }
    if (detail::is_any(n, ops<tosa::transpose, tosa::reshape>{})) return kind::move;
    if (const auto axis = detail::axis_of(n)) {  // along a single element there is nothing to say where it is
        const sizes shape =
            is<tosa::concat>(n) ? sizes(n.results[0].meta->shape) : detail::shape_of(n.operand(0));
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
    if (detail::is_any(n, joined<detail::unary, detail::binary, ops<tosa::select, tosa::tile>>{}))
        return kind::axes;
    if (detail::is_any(n, ops<tosa::avg_pool2d, tosa::max_pool2d, tosa::resize, tosa::gather>{}))
        return kind::channels;
    return is<tosa::matmul>(n) ? kind::matmul : detail::kind_of_convolution(n);
}

/// An op of kind::axes by its axes: the shapes of its tensors at one rank, in which axes that the op does not
/// have in one of them are 1.
struct axes_of_op {
    shape_builder full;                        ///< of the tensor that has all
    std::pmr::vector<shape_builder> operands;  ///< of its data operands
    shape_builder result;
    std::uint32_t whole = 0;     ///< axes, as bits, that the op works along
    std::uint32_t trailing = 0;  ///< axes that must be stored last

    explicit axes_of_op(const node& n) {
        const sizes first = detail::shape_of(n.operand(0));
        result = n.results[0].meta->shape;
        if (is<tosa::argmax>(n)) result.insert(static_cast<std::size_t>(args_of<tosa::argmax>(n).axis), 1);
        const bool shrinks = detail::is_any(n, joined<detail::along_axis, ops<tosa::slice>>{});
        full = shrinks ? shape_builder(first) : result;
        for (std::size_t i = 0; i != data_operands(n); ++i) {
            operands.emplace_back(detail::shape_of(n.operand(i)));
            const bool elementwise = detail::is_any(n, joined<detail::binary, ops<tosa::select>>{});
            for (std::size_t d = 0; d != full.size() && !elementwise; ++d) {
                if (operands[i][d] != result[d]) whole |= 1U << d;
            }
        }
        if (const auto axis = detail::axis_of(n)) whole |= 1U << static_cast<unsigned>(*axis);
        const auto* rescale = args_if<tosa::rescale>(n);
        if (rescale != nullptr && rescale->per_channel && full.size() != 0)
            trailing = 1U << (full.size() - 1);
    }
    [[nodiscard]] const shape_builder& of(node_port port) const {
        return port.is_result() ? result : operands[port.index];
    }
    /// Which of the tensors, as bits, have an axis.
    [[nodiscard]] std::uint64_t who_has(std::size_t d) const {
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i != operands.size() && i != 62; ++i) {
            bits = bits << 1U | std::uint64_t{operands[i][d] != 1};
        }
        return bits << 1U | std::uint64_t{result[d] != 1};
    }
};

namespace detail {

// The layout of axis d alone.
[[nodiscard]] inline layout within(const axis_layout& l, std::size_t d) {
    shape_builder factors;
    shape_builder order;
    std::size_t first = 0;
    while (first != l.axis.size() && static_cast<std::size_t>(l.axis[first]) != d) ++first;
    for (std::size_t k = first; k != l.axis.size() && static_cast<std::size_t>(l.axis[k]) == d; ++k)
        factors.push_back(l.pieces.factors[k]);
    for (std::size_t i = 0; i != l.axis.size(); ++i) {
        if (l.axis_at(i) == d) order.push_back(l.pieces.order[i] - static_cast<std::int64_t>(first));
    }
    return canonical(factors, order);
}

// The layouts within each axis of a tensor whose axes are stored in that order; none if they are not.
[[nodiscard]] inline std::optional<std::pmr::vector<layout>> blocks_of(const layout& l, sizes shape,
                                                                       sizes order) {
    const auto axes = along_axes(l, shape);
    if (!axes) return std::nullopt;
    std::size_t at = 0;
    for (std::size_t i = 0; i != axes->axis.size(); ++i) {
        while (at != order.size() && static_cast<std::size_t>(order[at]) != axes->axis_at(i)) ++at;
        if (at == order.size()) return std::nullopt;
    }
    std::pmr::vector<layout> blocks;
    for (std::size_t d = 0; d != shape.size(); ++d) blocks.push_back(within(*axes, d));
    return blocks;
}

// And back.
[[nodiscard]] inline layout from_blocks(sizes shape, std::span<const layout> blocks, sizes order) {
    shape_builder factors;
    shape_builder first;
    for (std::size_t d = 0; d != shape.size(); ++d) {
        first.push_back(static_cast<std::int64_t>(factors.size()));
        if (blocks[d].row_major()) {
            factors.push_back(shape[d]);
        } else {
            factors.append(blocks[d].factors);
        }
    }
    shape_builder places;
    for (const std::int64_t axis : order) {
        const auto d = static_cast<std::size_t>(axis);
        if (blocks[d].row_major()) places.push_back(first[d]);
        for (const std::int64_t k : blocks[d].order) places.push_back(first[d] + k);
    }
    return canonical(factors, places);
}

[[nodiscard]] inline shape_builder in_order(std::size_t rank) {
    shape_builder order;
    for (std::size_t d = 0; d != rank; ++d) order.push_back(static_cast<std::int64_t>(d));
    return order;
}

[[nodiscard]] inline sizes port_shape(const node& n, node_port port) {
    return port.is_result() ? sizes(n.results[0].meta->shape) : shape_of(n.operand(port.index));
}

[[nodiscard]] inline std::optional<op_layouts> accommodate_move(const node& n, node_port port,
                                                                const layout& wanted) {
    const auto* t = args_if<tosa::transpose>(n);
    if (t == nullptr) return op_layouts{{wanted}, wanted};
    const layout moved = layout_of(shape_of(t->input1), t->perms);
    const auto other = then(port.is_result() ? moved : inverse(moved), wanted);
    if (!other) return std::nullopt;
    return port.is_result() ? op_layouts{{*other}, wanted} : op_layouts{{wanted}, *other};
}

[[nodiscard]] inline std::optional<op_layouts> accommodate_axes(const node& n, node_port port,
                                                                const layout& wanted) {
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

// Only the last axis is in another order: `wanted` is one layout of a tensor, the result that of the other,
// or none.
[[nodiscard]] inline std::optional<layout> with_same_channels(const layout& wanted, sizes shape,
                                                              sizes other) {
    const shape_builder order = in_order(shape.size());
    auto blocks = blocks_of(wanted, shape, order);
    if (!blocks) return std::nullopt;
    for (std::size_t d = 0; d + 1 != shape.size(); ++d) {
        if (!(*blocks)[d].row_major()) return std::nullopt;
    }
    return from_blocks(other, *blocks, order);
}

// Another number of channels behind the same pixels.
[[nodiscard]] inline std::optional<layout> with_same_pixels(const layout& wanted, sizes shape, sizes other,
                                                            const layout& channels) {
    const std::size_t last = shape.size() - 1;
    const auto axes = along_axes(wanted, shape);
    if (!axes) return std::nullopt;
    shape_builder factors;
    shape_builder order;
    for (std::size_t i = 0; i != axes->axis.size(); ++i) {
        if (axes->axis_at(i) != last) {
            order.push_back(axes->pieces.order[i]);
        } else if (axes->axis.size() - i != axes->pieces_of(last)) {
            return std::nullopt;
        } else {
            break;
        }
    }
    for (std::size_t k = 0; k != axes->axis.size() && static_cast<std::size_t>(axes->axis[k]) != last; ++k)
        factors.push_back(axes->pieces.factors[k]);
    const auto pixels = static_cast<std::int64_t>(factors.size());
    if (channels.row_major()) {
        order.push_back(pixels);
        factors.push_back(other[last]);
    }
    for (const std::int64_t k : channels.order) order.push_back(pixels + k);
    factors.append(channels.factors);
    return canonical(factors, order);
}

[[nodiscard]] inline layout channels_of(const layout& l, sizes shape) {
    const auto axes = along_axes(l, shape);
    return axes ? within(*axes, shape.size() - 1) : layout{};
}

// Of MATMUL, which axis of which tensor is which: batch, rows, columns, and the one that is summed over.
[[nodiscard]] inline std::optional<op_layouts> accommodate_matmul(const node& n, node_port port,
                                                                  const layout& wanted,
                                                                  const op_layouts& now) {
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
    // What the wanted layout leaves open stays as it is.
    for (const tensor_axes& t : all) {
        const layout& l = t.port.is_result() ? now.result : now.operands[t.port.index];
        if (!read(t, l, straight)) static_cast<void>(read(t, l, swapped));
    }
    const tensor_axes& given = port.is_result() ? all[2] : all[port.index];
    const bool as_is = read(given, wanted, straight);
    if (!as_is && !read(given, wanted, swapped)) return std::nullopt;
    op_layouts found{std::pmr::vector<layout>(2), {}};
    for (const tensor_axes& t : all) {
        const layout blocks[] = {within_axis[t.axes[0]], within_axis[t.axes[1]], within_axis[t.axes[2]]};
        (t.port.is_result() ? found.result : found.operands[t.port.index]) =
            from_blocks(port_shape(n, t.port), blocks, as_is ? straight : swapped);
    }
    return found;
}

}  // namespace detail

/// Are the layouts of an op's operand and of its result chosen apart?
[[nodiscard]] inline bool is_split(kind k) { return k == kind::window; }

/// The layouts of an op with the tensor at `port` laid out as `wanted`; none if it cannot be computed so.
/// What that leaves open stays as it is `now`.
[[nodiscard]] inline std::optional<op_layouts> accommodate(const node& n, kind k, node_port port,
                                                           const layout& wanted, const op_layouts& now) {
    using namespace detail;
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
        there = with_same_pixels(wanted, shape, port_shape(n, other),
                                 channels_of(at_other, port_shape(n, other)));
    } else if (k == kind::channels) {
        there = with_same_channels(wanted, shape, port_shape(n, other));
    } else if (with_same_channels(wanted, shape, shape)) {
        there = at_other;
    }
    if (!there) return std::nullopt;
    return port.is_result() ? op_layouts{{*there}, wanted} : op_layouts{{wanted}, *there};
}

/// The layouts of an op as it stands: all row-major, but for the operand of a TRANSPOSE.
[[nodiscard]] inline op_layouts as_it_stands(const node& n, kind k) {
    if (k == kind::move) return *accommodate(n, k, {}, {}, {});
    return {std::pmr::vector<layout>(k == kind::fixed ? 0 : data_operands(n)), {}};
}

}  // namespace layout_rules

}  // namespace headrace

#endif
