// SPDX-License-Identifier: MIT
// Defines headrace::layout, the order in which the elements of a tensor lie, and its algebra.
#ifndef HEADRACE_PASSES_LAYOUT_AXIS_LAYOUT_HPP
#define HEADRACE_PASSES_LAYOUT_AXIS_LAYOUT_HPP

#include <algorithm>
#include <optional>

#include <headrace/passes/support/permuting.hpp>

namespace headrace {

/// Where the elements of a tensor lie: its row-major index is split into factors, outermost first, and
/// `order[i]` is the factor that is at place i of the order in which they are stored. A RESHAPE keeps the
/// row-major index and so the layout; a TRANSPOSE is a change of layout. In the canonical form, which all
/// functions here give, no factor is 1 and those that stay neighbours are one, so that equal layouts have
/// equal members; both lists are empty for row-major.
struct layout {
    shape_builder factors;
    shape_builder order;

    [[nodiscard]] constexpr bool row_major() const { return order.empty(); }
    friend constexpr bool operator==(const layout&, const layout&) = default;
};

/// The canonical form of a split index and the order of its factors.
[[nodiscard]] constexpr layout canonical(sizes factors, sizes order) {
    const build::merged_permutation merged = build::merge_axes(factors, order);
    return merged.perms.size() <= 1 ? layout{} : layout{merged.shape, merged.perms};
}

/// What TRANSPOSE does to a tensor of that shape.
[[nodiscard]] constexpr layout layout_of(sizes shape, sizes perms) { return canonical(shape, perms); }

/// The sizes of the factors in the order in which they are stored.
[[nodiscard]] constexpr shape_builder stored_factors(const layout& l) {
    return build::permuted(l.factors, l.order);
}

[[nodiscard]] constexpr layout inverse(const layout& l) {
    return {stored_factors(l), build::inverse(l.order)};
}

/// The coarsest split of an index that refines two splits of it; none where no split does, as of 6 = 2·3
/// and 6 = 3·2. Factors of 1 are left out.
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
    std::reverse(reversed.begin(), reversed.end());
    return reversed;
}

namespace detail {

// The same layout, not canonical, with each factor split as in `split`, which refines its factors.
[[nodiscard]] constexpr layout split_factors(const layout& l, const shape_builder& split) {
    shape_builder first;  // of each factor: the first of those that it is split into
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

}  // namespace detail

/// The layout of a tensor that is laid out by `first`, and what is stored then by `second`. None where the
/// factors of the two do not go together; then only a way by row-major leads from one to the other.
[[nodiscard]] constexpr std::optional<layout> then(const layout& first, const layout& second) {
    if (first.row_major()) return second;
    if (second.row_major()) return first;
    const auto split = common_refinement(stored_factors(first), second.factors);
    if (!split) return std::nullopt;
    const layout undo = detail::split_factors(inverse(first), *split);
    const layout redo = detail::split_factors(second, *split);
    const shape_builder factors = stored_factors(undo);
    return canonical(factors, build::permuted(build::inverse(undo.order), redo.order));
}

/// A layout, not canonical, whose factors lie each within one axis of a shape.
struct axis_layout {
    layout pieces;
    shape_builder axis;  ///< of each factor

    [[nodiscard]] constexpr std::size_t pieces_of(std::size_t d) const {
        return static_cast<std::size_t>(std::count(axis.begin(), axis.end(), static_cast<std::int64_t>(d)));
    }
    /// The axis of the factor at that place of the stored order.
    [[nodiscard]] constexpr std::size_t axis_at(std::size_t place) const {
        return static_cast<std::size_t>(axis[static_cast<std::size_t>(pieces.order[place])]);
    }
};

/// The layout of a tensor of that shape by its axes; none where a factor and an axis cut each other.
[[nodiscard]] constexpr std::optional<axis_layout> along_axes(const layout& l, sizes shape) {
    const layout whole = l.row_major() ? layout{{element_count(shape)}, {0}} : l;
    const auto split = common_refinement(whole.factors, shape);
    if (!split) return std::nullopt;
    axis_layout result{detail::split_factors(whole, *split), {}};
    std::size_t d = 0;
    std::int64_t left = shape.empty() ? 1 : shape[0];
    for (const std::int64_t factor : *split) {
        while (left == 1) left = shape[++d];
        result.axis.push_back(static_cast<std::int64_t>(d));
        left /= factor;
    }
    return result;
}

/// The layout of a tensor beside one that is laid out so, with the same axes but other sizes of some: axes of
/// size 1 there take no place, others of another size must not be split. None where that does not say how
/// it lies: where it has an axis that is 1 here.
[[nodiscard]] constexpr std::optional<layout> resized(const axis_layout& l, sizes from, sizes to) {
    shape_builder factors;
    shape_builder place = shape_builder::filled(l.axis.size(), -1);  // of each factor that is kept
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

}  // namespace headrace

#endif
