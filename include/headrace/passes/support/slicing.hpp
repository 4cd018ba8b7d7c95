// SPDX-License-Identifier: MIT
// Defines headrace::build's slices, concatenations, padding and reversals along one axis.
#ifndef HEADRACE_PASSES_SUPPORT_SLICING_HPP
#define HEADRACE_PASSES_SUPPORT_SLICING_HPP

#include <algorithm>
#include <span>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/target/tosa_legality.hpp>

namespace headrace::build {

/// Returns an axis that an argument names, counted from the front; refuses one that is out of range.
inline std::size_t axis_in(emit<ops<>> e, std::int64_t axis, std::size_t rank) {
    if (const auto found = normalized_axis(axis, rank)) return *found;
    e.unsupported({"axis ", axis, " is out of range for rank ", rank});
    return 0;
}

/// A shape as three sizes: element counts before a range of axes, of the range, and after it.
struct three_axes {
    std::int64_t before = 1;
    std::int64_t size = 1;
    std::int64_t after = 1;
};
[[nodiscard]] constexpr three_axes around(sizes shape, std::size_t first, std::size_t count = 1) {
    if (first + count > shape.size()) return {};
    return {element_count(shape.first(first)), element_count(shape.subspan(first, count)),
        element_count(shape.subspan(first + count))};
}
/// Replaces `count` axes of a shape from `first` on.
[[nodiscard]] constexpr shape_builder with_axes(sizes shape, std::size_t first, std::size_t count, sizes by) {
    shape_builder result(shape.first(std::min(first, shape.size())));
    result.append(by);
    if (first + count <= shape.size()) result.append(shape.subspan(first + count));
    return result;
}
[[nodiscard]] constexpr shape_builder with_axis(sizes shape, std::size_t axis, std::int64_t size) {
    return with_axes(shape, axis, 1, sizes(&size, 1));
}

using slice_ops = ops<tosa::const_shape, tosa::slice>;

/// Slices the part of `v` that starts at a position and has a shape.
inline value slice_at(emit<slice_ops> e, value v, sizes start, sizes shape) {
    return e.make<tosa::slice>({.input1 = v, .start = const_shape(e, start), .size = const_shape(e, shape)});
}
/// Slices the leading part of `v` that has that shape.
inline value crop(emit<slice_ops> e, value v, sizes shape) {
    if (!v || e.shape(v) == int_list(shape)) return v;
    return slice_at(e, v, shape_builder::filled(shape.size(), 0), shape);
}
/// Slices `count` elements of an axis from `start` on, all of which must exist.
inline value slice(emit<slice_ops> e, value v, std::size_t axis, std::int64_t start, std::int64_t count) {
    if (!v || axis >= e.rank(v) || e.shape(v)[axis] == count) return v;
    shape_builder starts = shape_builder::filled(e.rank(v), 0);
    starts[axis] = start;
    return slice_at(e, v, starts, with_axis(e.shape(v), axis, count));
}

/// Returns the parts of an axis, one for each result, which has its size, or lacks the axis: `part(axis,
/// start, size)` makes one. They begin at the `indices` of the arguments, or each where the one before ends.
template <class Args>
value_list split(emit<ops<>> e, const Args& a,
    function_ref<value(std::size_t axis, std::int64_t start, std::int64_t size)> part) {
    const std::size_t axis = axis_in(e, a.dim, e.rank(a.self));
    value_list parts;
    std::int64_t start = 0;
    for (std::uint32_t i = 0; i != e.current().result_count && !e.failed(); ++i) {
        const int_list& shape = e.result_meta(i).shape;
        const std::int64_t available = e.shape(a.self)[axis];
        const std::int64_t size = shape.size() == e.rank(a.self) ? shape[axis] : 1;
        if constexpr (requires { a.indices; }) start = part_start(a.indices, i, available);
        start = std::min(start, available - size);
        parts.push_back(part(axis, start, size));
        start += size;
    }
    return parts;
}

using concat_ops = ops<tosa::concat>;

/// Concatenates the parts. CONCAT takes at most 64 (TOSA 1.0, level 8K): more are joined in groups.
inline value concat(emit<concat_ops> e, std::span<const value> parts, std::size_t axis) {
    constexpr auto max_parts = static_cast<std::size_t>(tosa::level_8k::max_tensor_list);
    if (parts.size() == 1) return parts[0];
    if (parts.size() <= max_parts)
        return e.make<tosa::concat>({.input1 = list<value>(parts), .axis = static_cast<std::int64_t>(axis)});
    pmr_vector<value> groups;
    for (; !parts.empty(); parts = parts.subspan(std::min(parts.size(), max_parts)))
        groups.push_back(concat(e, parts.first(std::min(parts.size(), max_parts)), axis));
    return concat(e, groups, axis);
}

/// Selects elements of an axis by position: slices consecutive ones and joins the slices.
inline value pick(emit<joined<slice_ops, concat_ops>> e, value v, std::size_t axis,
    std::span<const std::int64_t> positions) {
    pmr_vector<value> parts;
    for (std::size_t i = 0, end = 0; i != positions.size(); i = end) {
        for (end = i + 1; end != positions.size() && positions[end] == positions[end - 1] + 1;) ++end;
        parts.push_back(slice(e, v, axis, positions[i], static_cast<std::int64_t>(end - i)));
    }
    return concat(e, parts, axis);
}
/// Returns the number of slices that pick takes.
[[nodiscard]] inline std::size_t count_runs(std::span<const std::int64_t> positions) {
    std::size_t count = 0;
    for (std::size_t i = 0; i != positions.size(); ++i)
        count += i == 0 || positions[i] != positions[i - 1] + 1;
    return count;
}

using pad_ops = ops<tosa::const_shape, tosa::pad>;

/// Pads `v` with elements that equal `with`; `padding` has two numbers for each axis.
inline value pad(emit<pad_ops> e, value v, sizes padding, scalar with) {
    return e.make<tosa::pad>(
        {.input1 = v, .padding = const_shape(e, padding), .pad_const = e.splat(with, e.dtype(v), 1)});
}
/// Pads an axis of `v` with `before` and `after` elements that equal `with`.
inline value pad(
    emit<pad_ops> e, value v, std::size_t axis, std::int64_t before, std::int64_t after, scalar with = 0) {
    if (before == 0 && after == 0) return v;
    shape_builder padding = shape_builder::filled(2 * e.rank(v), 0);
    padding[2 * axis] = before;
    padding[2 * axis + 1] = after;
    return pad(e, v, padding, with);
}

using strided_slice_ops = joined<reshape_ops, slice_ops, pad_ops>;

/// Slices `count` elements of an axis: `start`, `start + step` and so on. A span of count * step elements is
/// reshaped to [count, step], of which one column is kept; the span is moved back to fit in the axis, or
/// padded if the axis is too short.
inline value strided_slice(emit<strided_slice_ops> e, value v, std::size_t axis, std::int64_t start,
    std::int64_t count, std::int64_t step) {
    if (count <= 1 || step == 1) return slice(e, v, axis, start, count);
    const std::int64_t size = e.shape(v)[axis];
    const std::int64_t span = saturating_mul(count, step);
    const std::int64_t first = std::min(start, std::max<std::int64_t>(size - span, 0));
    const shape_builder result = with_axis(e.shape(v), axis, count);
    const three_axes a = around(e.shape(v), axis);
    v = slice(e, v, axis, first, std::min(span, size - first));
    v = pad(e, v, axis, 0, span - std::min(span, size - first));
    v = reshape(e, v, shape_builder{a.before, count, step, a.after});
    v = slice(e, v, 2, start - first, 1);
    return reshape(e, v, result);
}

using reverse_ops = ops<tosa::reverse>;

inline value reverse(emit<reverse_ops> e, value v, std::size_t axis) {
    if (!v || axis >= e.rank(v) || e.shape(v)[axis] == 1) return v;
    return e.make<tosa::reverse>({.input1 = v, .axis = static_cast<std::int64_t>(axis)});
}

}  // namespace headrace::build

#endif
