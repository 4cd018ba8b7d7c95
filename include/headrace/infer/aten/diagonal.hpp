// SPDX-License-Identifier: MIT
// Defines the shape rules of the diagonals and triangles of aten.
#ifndef HEADRACE_INFER_ATEN_DIAGONAL_HPP
#define HEADRACE_INFER_ATEN_DIAGONAL_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

/// The two axes of a diagonal, and its number of elements.
struct diagonal_line {
    std::size_t axis1;
    std::size_t axis2;
    std::int64_t length;
};
[[nodiscard]] inline result<diagonal_line> diagonal_of(
    sizes shape, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
    HEADRACE_TRY(axis1, axis_of(dim1, shape.size()));
    HEADRACE_TRY(axis2, axis_of(dim2, shape.size()));
    if (axis1 == axis2) return invalid("a diagonal runs along two different axes");
    const std::int64_t down = offset < 0 ? saturating_add(shape[axis1], offset) : shape[axis1];
    const std::int64_t across = offset < 0 ? shape[axis2] : saturating_sub(shape[axis2], offset);
    return diagonal_line{axis1, axis2, std::max<std::int64_t>(std::min(down, across), 0)};
}

template <one_of<ops<aten::diagonal>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 2, shape_builder::capacity));
    HEADRACE_TRY(line, diagonal_of(self.shape, a.offset, a.dim1, a.dim2));
    shape_builder shape;
    for (std::size_t i = 0; i != self.rank(); ++i) {
        if (i != line.axis1 && i != line.axis2) shape.push_back(self.shape[i]);
    }
    shape.push_back(line.length);
    return add_result(out, self.dtype, shape);
}

/// Keeps a triangle of each matrix in the last two axes.
template <one_of<ops<aten::tril, aten::triu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 2, SIZE_MAX));
    return add_result(out, self);
}

/// Returns how many columns of row `r` are on or below (tril) a diagonal.
[[nodiscard]] constexpr std::int64_t columns_until(
    std::int64_t r, std::int64_t columns, std::int64_t offset) {
    const std::int64_t end = saturating_add(saturating_add(r, offset), 1);
    return end < 0 ? 0 : end > columns ? columns : end;
}
template <one_of<ops<aten::tril_indices, aten::triu_indices>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr std::int64_t most_rows = std::int64_t{1} << 20;
    HEADRACE_TRY(require_between("row", a.row, 0, most_rows));
    HEADRACE_TRY(require_at_least("col", a.col, 0));
    std::int64_t count = 0;
    for (std::int64_t r = 0; r != a.row; ++r) {
        if constexpr (std::is_same_v<Op, aten::tril_indices>) {
            count = saturating_add(count, columns_until(r, a.col, a.offset));
        } else {
            count = saturating_add(count, a.col - columns_until(r, a.col, saturating_sub(a.offset, 1)));
        }
    }
    const dtype type = a.dtype.value_or(dtype::int64);
    HEADRACE_TRY(require_real("dtype", type));
    return add_result(out, type, {2, count});
}

}  // namespace headrace

#endif
