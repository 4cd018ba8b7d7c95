// SPDX-License-Identifier: MIT
// Defines headrace::axis_layout, a layout split along the axes of a shape, and queries about single axes.
#ifndef HEADRACE_PASSES_LAYOUT_AXIS_LAYOUT_HPP
#define HEADRACE_PASSES_LAYOUT_AXIS_LAYOUT_HPP

#include <algorithm>
#include <optional>
#include <span>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/layout/layout_algebra.hpp>

namespace headrace {

/// A layout, not canonical, each of whose factors is within one axis of a shape.
struct axis_layout {
    layout pieces;
    shape_builder axis;  ///< axis of each factor

    [[nodiscard]] constexpr std::size_t pieces_of(std::size_t d) const {
        return static_cast<std::size_t>(std::count(axis.begin(), axis.end(), static_cast<std::int64_t>(d)));
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

}  // namespace headrace

#endif
