// SPDX-License-Identifier: MIT
// Defines headrace::build::permute, the arithmetic of permutations that passes share, and
// headrace::build::order_of, the permutation that a PyTorch op which moves axes performs.
#ifndef HEADRACE_PASSES_SUPPORT_PERMUTING_HPP
#define HEADRACE_PASSES_SUPPORT_PERMUTING_HPP

#include <cstddef>
#include <utility>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten/view.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/target/tosa_legality.hpp>

namespace headrace::build {

/// Returns the inverse of a permutation.
[[nodiscard]] constexpr shape_builder inverse(sizes perms) {
    shape_builder result = shape_builder::filled(perms.size(), 0);
    for (std::size_t i = 0; i != perms.size(); ++i) {
        result[static_cast<std::size_t>(perms[i])] = static_cast<std::int64_t>(i);
    }
    return result;
}

/// Composes two permutations: axis i of the result is axis first[second[i]] of the operand.
[[nodiscard]] constexpr shape_builder composed(sizes first, sizes second) { return permuted(first, second); }

/// True if the elements stay in order, since only axes of size 1 move.
[[nodiscard]] constexpr bool moves_only_ones(sizes shape, sizes perms) {
    std::int64_t last = -1;
    for (const std::int64_t axis : perms) {
        if (shape[static_cast<std::size_t>(axis)] == 1) continue;
        if (axis < last) return false;
        last = axis;
    }
    return true;
}

/// A permutation of fewer axes, of a reshaped tensor.
struct merged_permutation {
    shape_builder shape;  ///< of the operand
    shape_builder perms;
};
/// Drops axes of size 1, and merges axes that stay adjacent.
[[nodiscard]] constexpr merged_permutation merge_axes(sizes shape, sizes perms) {
    shape_builder group = shape_builder::filled(shape.size(), -1);  // by axis: the first axis of its group
    shape_builder moved;  // the groups' first axes, in the order of the result
    std::int64_t last = -2;
    for (const std::int64_t axis : perms) {
        const auto i = static_cast<std::size_t>(axis);
        if (shape[i] == 1) continue;
        // Only axes of size 1 are between two axes that become adjacent.
        const bool follows = last >= 0 && axis > last &&
            element_count(shape.subspan(
                static_cast<std::size_t>(last) + 1, i - static_cast<std::size_t>(last) - 1)) == 1;
        group[i] = follows ? group[static_cast<std::size_t>(last)] : axis;
        if (!follows) moved.push_back(axis);
        last = axis;
    }
    merged_permutation merged;
    shape_builder position = shape_builder::filled(shape.size(), 0);
    for (std::size_t i = 0; i != shape.size(); ++i) {
        if (group[i] < 0) continue;
        const auto first = static_cast<std::size_t>(group[i]);
        if (first == i) {
            position[i] = static_cast<std::int64_t>(merged.shape.size());
            merged.shape.push_back(1);
        }
        merged.shape[static_cast<std::size_t>(position[first])] *= shape[i];
    }
    for (const std::int64_t axis : moved) merged.perms.push_back(position[static_cast<std::size_t>(axis)]);
    return merged;
}

using permute_ops = joined<reshape_ops, transpose_ops>;

/// Permutes: axis i of the result is axis perms[i] of `v`. If only axes of size 1 move, this is a RESHAPE; a
/// rank above TOSA's limit is reduced by merging axes that move together.
inline value permute(emit<permute_ops> e, value v, sizes perms) {
    if (!v || is_identity(perms)) return v;
    const shape_builder result = permuted(e.shape(v), perms);
    if (moves_only_ones(e.shape(v), perms)) return reshape(e, v, result);
    constexpr auto max_rank = static_cast<std::size_t>(tosa::level_8k::max_rank);
    if (perms.size() <= max_rank) return transpose(e, v, perms);
    const merged_permutation merged = merge_axes(e.shape(v), perms);
    if (merged.perms.size() > max_rank) {
        return e.unsupported({"a permutation of ", merged.perms.size(),
            " axes that move apart: TOSA's largest rank is 6; permute fewer axes at a time"});
    }
    return reshape(e, transpose(e, reshape(e, v, merged.shape), merged.perms), result);
}

// --- the order of axes after an op of PyTorch that moves them ----------------------------------------------

/// Returns the axes in order, with two of them exchanged.
[[nodiscard]] inline result<shape_builder> swapped_axes(std::int64_t a, std::int64_t b, std::size_t rank) {
    HEADRACE_TRY(first, axis_of(a, rank));
    HEADRACE_TRY(second, axis_of(b, rank));
    shape_builder order = axes_in_order(rank);
    std::swap(order[first], order[second]);
    return order;
}

/// Returns, for each axis of the result, the axis of the operand.
[[nodiscard]] inline result<shape_builder> order_of(const args<aten::permute>& a, std::size_t rank) {
    return permutation_of(a.dims, rank);
}
[[nodiscard]] inline result<shape_builder> order_of(const args<aten::transpose_int>& a, std::size_t rank) {
    return swapped_axes(a.dim0, a.dim1, rank);
}
[[nodiscard]] inline result<shape_builder> order_of(const args<aten::t>&, std::size_t rank) {
    return rank < 2 ? axes_in_order(rank) : swapped_axes(0, 1, rank);
}
[[nodiscard]] inline result<shape_builder> order_of(const args<aten::movedim_int>& a, std::size_t rank) {
    if (rank == 0) return axes_in_order(rank);
    return moved_axes(sizes(&a.source, 1), sizes(&a.destination, 1), rank);
}
[[nodiscard]] inline result<shape_builder> order_of(const args<aten::movedim_intlist>& a, std::size_t rank) {
    return moved_axes(a.source, a.destination, rank);
}

}  // namespace headrace::build

#endif
