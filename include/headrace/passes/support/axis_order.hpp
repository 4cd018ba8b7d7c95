// SPDX-License-Identifier: MIT
// Defines headrace::build::order_of, the permutation that a PyTorch op which moves axes performs.
#ifndef HEADRACE_PASSES_SUPPORT_AXIS_ORDER_HPP
#define HEADRACE_PASSES_SUPPORT_AXIS_ORDER_HPP

#include <cstddef>
#include <utility>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten/view.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace::build {

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
