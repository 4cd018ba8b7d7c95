// SPDX-License-Identifier: MIT
// Defines headrace::layout, the order in which the elements of a tensor are stored, its algebra, and queries
// about the axes of a shape.
#ifndef HEADRACE_PASSES_LAYOUT_LAYOUT_ALGEBRA_HPP
#define HEADRACE_PASSES_LAYOUT_LAYOUT_ALGEBRA_HPP

#include <algorithm>
#include <optional>
#include <span>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/support/permuting.hpp>

namespace headrace {

/// The order in which the elements of a tensor are stored. The row-major index is split into factors,
/// outermost first, and `order[i]` is the factor at place i of the stored order. A RESHAPE keeps the
/// row-major index and thus the layout; a TRANSPOSE changes the layout. Example: NHWC stored as NCHW has the
/// factors {N, H·W, C} and the order {0, 2, 1}. In the canonical form no factor is 1, and factors that stay
/// adjacent are merged, so that equal layouts have equal members; both lists are empty for row-major.
/// Functions return canonical layouts unless they say otherwise.
struct layout {
    shape_builder factors;
    shape_builder order;

    [[nodiscard]] constexpr bool row_major() const { return order.empty(); }
    friend constexpr bool operator==(const layout&, const layout&) = default;
};

/// Returns the canonical form of a split index and the order of its factors.
[[nodiscard]] constexpr layout canonical(sizes factors, sizes order) {
    const build::merged_permutation merged = build::merge_axes(factors, order);
    return merged.perms.size() <= 1 ? layout{} : layout{merged.shape, merged.perms};
}

/// Returns the layout that a TRANSPOSE gives to a tensor of that shape.
[[nodiscard]] constexpr layout layout_of(sizes shape, sizes perms) { return canonical(shape, perms); }

/// Returns the sizes of the factors in stored order.
[[nodiscard]] constexpr shape_builder stored_factors(const layout& l) {
    return build::permuted(l.factors, l.order);
}

[[nodiscard]] constexpr layout inverse(const layout& l) {
    return {stored_factors(l), build::inverse(l.order)};
}

/// Returns the coarsest split that refines two splits of an index, without factors of 1; none if there is
/// none, as for 6 = 2 * 3 and 6 = 3 * 2.
[[nodiscard]] constexpr std::optional<shape_builder> common_refinement(sizes a, sizes b) {
    shape_builder reversed;
    std::size_t i = a.size();
    std::size_t j = b.size();
    std::int64_t of_a = 1;
    std::int64_t of_b = 1;
    while (true) {
        while (of_a == 1 && i != 0) of_a = a[--i];
        while (of_b == 1 && j != 0) of_b = b[--j];
        const std::int64_t factor = std::min(of_a, of_b);
        if (of_a == 1 && of_b == 1) break;
        if (factor <= 1 || std::max(of_a, of_b) % factor != 0) return std::nullopt;
        reversed.push_back(factor);
        of_a /= factor;
        of_b /= factor;
    }
    if (reversed.overflowed()) return std::nullopt;
    std::ranges::reverse(reversed);
    return reversed;
}

/// Splits the factors of a layout as in `split`, which refines them; the result is not canonical.
[[nodiscard]] constexpr layout split_factors(const layout& l, const shape_builder& split) {
    shape_builder first;  // index of the first part of each factor
    std::size_t at = 0;
    for (const std::int64_t factor : l.factors) {
        first.push_back(static_cast<std::int64_t>(at));
        for (std::int64_t left = factor; left != 1; left /= split[at++]) {
        }
    }
    first.push_back(static_cast<std::int64_t>(at));
    layout fine{split, {}};
    for (const std::int64_t factor : l.order) {
        const auto f = static_cast<std::size_t>(factor);
        for (std::int64_t k = first[f]; k != first[f + 1]; ++k) fine.order.push_back(k);
    }
    return fine;
}

/// Composes two layouts: `first`, and then `second` on the result. None if no split refines the factors of
/// both: the tensor must then become row-major in between.
[[nodiscard]] constexpr std::optional<layout> then(const layout& first, const layout& second) {
    if (first.row_major()) return second;
    if (second.row_major()) return first;
    const auto split = common_refinement(stored_factors(first), second.factors);
    if (!split) return std::nullopt;
    const layout undo = split_factors(inverse(first), *split);
    const layout redo = split_factors(second, *split);
    const shape_builder factors = stored_factors(undo);
    return canonical(factors, build::permuted(build::inverse(undo.order), redo.order));
}

/// A layout, not canonical, each of whose factors is within one axis of a shape.
struct axis_layout {
    layout pieces;
    shape_builder axis;  ///< axis of each factor

    [[nodiscard]] constexpr std::size_t pieces_of(std::size_t d) const {
        return static_cast<std::size_t>(std::ranges::count(axis, static_cast<std::int64_t>(d)));
    }
    /// Returns the axis of the factor at a place of the stored order.
    [[nodiscard]] constexpr std::size_t axis_at(std::size_t place) const {
        return static_cast<std::size_t>(axis[static_cast<std::size_t>(pieces.order[place])]);
    }
};

/// Splits a layout along the axes of a shape; none if a factor overlaps two axes partly.
[[nodiscard]] constexpr std::optional<axis_layout> along_axes(const layout& l, sizes shape) {
    const layout whole = l.row_major() ? layout{{element_count(shape)}, {0}} : l;
    const auto split = common_refinement(whole.factors, shape);
    if (!split) return std::nullopt;
    axis_layout result{split_factors(whole, *split), {}};
    std::size_t d = 0;
    std::int64_t left = shape.empty() ? 1 : shape[0];
    for (const std::int64_t factor : *split) {
        while (left == 1) left = shape[++d];
        result.axis.push_back(static_cast<std::int64_t>(d));
        left /= factor;
    }
    return result;
}

/// Returns the layout of a tensor with the axes in the same order as in `l`, but with sizes `to` instead of
/// `from`. An axis whose size changes must not be split, unless its new size is 1. None otherwise, and if an
/// axis of size 1 changes its size, since `l` has no place for it.
[[nodiscard]] constexpr std::optional<layout> resized(const axis_layout& l, sizes from, sizes to) {
    shape_builder factors;
    shape_builder place = shape_builder::filled(l.axis.size(), -1);  // by factor; -1 if it is dropped
    for (std::size_t d = 0; d != from.size(); ++d) {
        if (from[d] == 1 && to[d] != 1) return std::nullopt;
        if (from[d] != to[d] && to[d] != 1 && l.pieces_of(d) > 1) return std::nullopt;
    }
    for (std::size_t k = 0; k != l.axis.size(); ++k) {
        const auto d = static_cast<std::size_t>(l.axis[k]);
        if (to[d] == 1) continue;
        place[k] = static_cast<std::int64_t>(factors.size());
        factors.push_back(from[d] == to[d] ? l.pieces.factors[k] : to[d]);
    }
    shape_builder order;
    for (const std::int64_t k : l.pieces.order) {
        if (place[static_cast<std::size_t>(k)] >= 0) order.push_back(place[static_cast<std::size_t>(k)]);
    }
    return canonical(factors, order);
}

/// Returns the layout within axis d.
[[nodiscard]] inline layout within(const axis_layout& l, std::size_t d) {
    const auto first = std::ranges::find(l.axis, static_cast<std::int64_t>(d)) - l.axis.begin();
    shape_builder order;
    for (std::size_t i = 0; i != l.axis.size(); ++i) {
        if (l.axis_at(i) == d) order.push_back(l.pieces.order[i] - first);
    }
    return canonical(sizes(l.pieces.factors).subspan(static_cast<std::size_t>(first), order.size()), order);
}

/// Returns the layouts within each axis of a tensor whose axes are stored in `order`; none if they are not.
[[nodiscard]] inline std::optional<pmr_vector<layout>> blocks_of(const layout& l, sizes shape, sizes order) {
    const auto axes = along_axes(l, shape);
    if (!axes) return std::nullopt;
    std::size_t at = 0;
    for (std::size_t i = 0; i != axes->axis.size(); ++i) {
        while (at != order.size() && static_cast<std::size_t>(order[at]) != axes->axis_at(i)) ++at;
        if (at == order.size()) return std::nullopt;
    }
    pmr_vector<layout> blocks;
    for (std::size_t d = 0; d != shape.size(); ++d) blocks.push_back(within(*axes, d));
    return blocks;
}

/// Returns the layout of a tensor whose axes are stored in `order`, each with its layout in `blocks`.
[[nodiscard]] inline layout from_blocks(sizes shape, std::span<const layout> blocks, sizes order) {
    shape_builder factors;
    shape_builder first;
    for (std::size_t d = 0; d != shape.size(); ++d) {
        first.push_back(static_cast<std::int64_t>(factors.size()));
        factors.append(blocks[d].row_major() ? shape.subspan(d, 1) : sizes(blocks[d].factors));
    }
    shape_builder places;
    for (const std::int64_t axis : order) {
        const auto d = static_cast<std::size_t>(axis);
        if (blocks[d].row_major()) places.push_back(first[d]);
        for (const std::int64_t k : blocks[d].order) places.push_back(first[d] + k);
    }
    return canonical(factors, places);
}

/// Returns the layout within the last axis; row-major if the layout does not split along the axes.
[[nodiscard]] inline layout channels_of(const layout& l, sizes shape) {
    const auto axes = along_axes(l, shape);
    return axes ? within(*axes, shape.size() - 1) : layout{};
}

/// Returns the layout of a tensor of shape `other` with the channels in the same order as in `wanted`; none
/// if `wanted` changes more than the order of channels.
[[nodiscard]] inline std::optional<layout> with_same_channels(
    const layout& wanted, sizes shape, sizes other) {
    const shape_builder order = build::axes_in_order(shape.size());
    auto blocks = blocks_of(wanted, shape, order);
    if (!blocks) return std::nullopt;
    for (std::size_t d = 0; d + 1 != shape.size(); ++d) {
        if (!(*blocks)[d].row_major()) return std::nullopt;
    }
    return from_blocks(other, *blocks, order);
}

/// Returns the layout of a tensor of shape `other` with the pixels in the same order as in `wanted`, and with
/// its own `channels`; none if `wanted` does not keep the channels last.
[[nodiscard]] inline std::optional<layout> with_same_pixels(
    const layout& wanted, sizes shape, sizes other, const layout& channels) {
    const std::size_t last = shape.size() - 1;
    const auto axes = along_axes(wanted, shape);
    if (!axes) return std::nullopt;
    const std::size_t pixels = axes->axis.size() - axes->pieces_of(last);
    for (std::size_t i = 0; i != pixels; ++i) {
        if (axes->axis_at(i) == last) return std::nullopt;
    }
    shape_builder factors(sizes(axes->pieces.factors).first(pixels));
    shape_builder order(sizes(axes->pieces.order).first(pixels));
    factors.append(channels.row_major() ? other.subspan(last, 1) : sizes(channels.factors));
    if (channels.row_major()) order.push_back(static_cast<std::int64_t>(pixels));
    for (const std::int64_t k : channels.order) order.push_back(static_cast<std::int64_t>(pixels) + k);
    return canonical(factors, order);
}

}  // namespace headrace

#endif
