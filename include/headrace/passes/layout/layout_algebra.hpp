// SPDX-License-Identifier: MIT
// Defines headrace::layout, the order in which the elements of a tensor are stored, and its algebra.
#ifndef HEADRACE_PASSES_LAYOUT_LAYOUT_ALGEBRA_HPP
#define HEADRACE_PASSES_LAYOUT_LAYOUT_ALGEBRA_HPP

#include <algorithm>
#include <optional>

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
    std::reverse(reversed.begin(), reversed.end());
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

}  // namespace headrace

#endif
