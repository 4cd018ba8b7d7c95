// SPDX-License-Identifier: MIT
// Defines headrace::cortex_m::broadcast, which gives two operands shapes that CMSIS-NN's kernels take.
#ifndef HEADRACE_PASSES_CORTEX_M_BROADCASTING_HPP
#define HEADRACE_PASSES_CORTEX_M_BROADCASTING_HPP

#include <optional>
#include <utility>

#include <headrace/infer/aten.hpp>
#include <headrace/passes/cortex_m/images.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace::cortex_m {

/// The ops that broadcast may emit.
using broadcast_ops = ops<aten::view, aten::expand>;

namespace detail {

// True if `part` has one element for each index of the last axis of `whole`.
[[nodiscard]] inline bool is_row_of(sizes part, sizes whole) {
    return !whole.empty() && part.size() == whole.size() && part.back() == whole.back() &&
        element_count(part) == whole.back() && whole.back() > 1;
}

// Repeats a tensor to a shape; a constant is repeated at once.
inline value expanded(emit<broadcast_ops> e, value v, sizes shape) {
    if (e.shape(v) == int_list(shape)) return v;
    const auto numbers = e.dtype(v) == dtype::int8 ? constant_integers(v) : std::nullopt;
    if (!numbers) return e.make<aten::expand>({.self = v, .size = int_list(shape)});
    const shape_builder from(e.shape(v));
    return build::constant_at(e, dtype::int8, shape_builder(shape), [&](sizes position) {
        std::int64_t index = 0;
        for (std::size_t i = 0; i != from.size(); ++i)
            index = index * from[i] + (from[i] == 1 ? 0 : position[i]);
        return scalar((*numbers)[static_cast<std::size_t>(index)]);
    });
}

}  // namespace detail

/// Gives the operands of an elementwise kernel one shape, or views them as (n, C, 1, 1) and (1, C, 1, 1), the
/// only broadcast that the kernels of sums and products have. The caller views the result. Nothing if the
/// ranks differ.
inline std::optional<std::pair<value, value>> broadcast(
    emit<broadcast_ops> e, value x, value y, bool takes_rows = true) {
    const sizes left = e.shape(x), right = e.shape(y);
    if (left.size() != right.size()) return std::nullopt;
    const auto is_row = [&](sizes part, sizes whole) {
        return takes_rows && part.size() == whole.size() && detail::is_row_of(part, whole);
    };
    if (std::ranges::equal(left, right)) return std::pair(x, y);
    const auto rows_of = [&](value v) {
        const std::int64_t channels = e.shape(v)[e.rank(v) - 1];
        return view(e, v, shape_builder{element_count(e.shape(v)) / channels, channels, 1, 1});
    };
    if (is_row(right, left) || is_row(left, right)) return std::pair(rows_of(x), rows_of(y));
    shape_builder shape(left);
    for (std::size_t i = 0; i != shape.size(); ++i) shape[i] = std::max(left[i], right[i]);
    return std::pair(detail::expanded(e, x, shape), detail::expanded(e, y, shape));
}

}  // namespace headrace::cortex_m

#endif
