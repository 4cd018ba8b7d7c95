// SPDX-License-Identifier: MIT
// Defines the shape rules of the views of aten and their copies.
#ifndef HEADRACE_INFER_ATEN_VIEW_HPP
#define HEADRACE_INFER_ATEN_VIEW_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

namespace detail {

inline result<void> infer_view(inference& out, const tensor_meta& self, sizes shape) {
    HEADRACE_TRY(viewed, viewed_shape(self.shape, shape));
    return add_result(out, self.dtype, viewed);
}
inline result<void> infer_expanded(inference& out, const tensor_meta& self, sizes shape) {
    HEADRACE_TRY(expanded, expanded_shape(self.shape, shape));
    return add_result(out, self.dtype, expanded);
}
inline result<void> infer_transposed(
    inference& out, const tensor_meta& self, std::int64_t a, std::int64_t b) {
    HEADRACE_TRY(first, axis_of(a, self.rank()));
    HEADRACE_TRY(second, axis_of(b, self.rank()));
    shape_builder shape(self.shape);
    std::swap(shape[first], shape[second]);
    return add_result(out, self.dtype, shape);
}
inline result<void> infer_squeezed(inference& out, const tensor_meta& self, axis_set axes) {
    axis_set dropped;
    for (std::size_t i = 0; i != self.rank(); ++i) {
        if (axes.contains(i) && self.shape[i] == 1) dropped.insert(i);
    }
    return add_result(out, self.dtype, reduced_shape(self.shape, dropped, false));
}

}  // namespace detail

/// Returns, for each axis of the result, the axis of the operand that it comes from.
[[nodiscard]] inline result<shape_builder> moved_axes(sizes sources, sizes destinations, std::size_t rank) {
    if (sources.size() != destinations.size()) {
        return invalid({"cannot move axes ", shape_text(sources), " to ", shape_text(destinations)});
    }
    HEADRACE_TRY(moved, axes_of(sources, rank, no_axes::none));
    HEADRACE_TRY(taken, axes_of(destinations, rank, no_axes::none));
    shape_builder order = shape_builder::filled(rank, 0);
    std::size_t next = 0;
    for (std::size_t i = 0; i != rank; ++i) {
        if (taken.contains(i)) continue;
        while (moved.contains(next)) ++next;
        order[i] = static_cast<std::int64_t>(next++);
    }
    for (std::size_t i = 0; i != sources.size(); ++i) {
        const std::size_t at = *normalized_axis(destinations[i], rank);
        order[at] = static_cast<std::int64_t>(*normalized_axis(sources[i], rank));
    }
    return order;
}

namespace detail {

inline result<void> infer_permuted(inference& out, const tensor_meta& self, sizes order) {
    shape_builder shape;
    for (const std::int64_t axis : order) shape.push_back(self.shape[static_cast<std::size_t>(axis)]);
    return add_result(out, self.dtype, shape);
}

}  // namespace detail

/// Returns the shape of the selection at one index of an axis.
[[nodiscard]] inline result<shape_builder> selected_shape(sizes from, std::int64_t dim, std::int64_t index) {
    HEADRACE_TRY(axis, axis_of(dim, from.size()));
    shape_builder shape(from);
    if (shape.empty()) return invalid("a tensor of rank 0 has nothing to select from");
    if (index < -shape[axis] || index >= shape[axis]) {
        return invalid({"index ", index, " is out of range for axis ", axis, " of ", shape_text(from)});
    }
    shape.erase(axis);
    return shape;
}
/// Returns the shape of a slice along an axis.
[[nodiscard]] inline result<shape_builder> sliced_shape(sizes from, std::int64_t dim,
    std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step) {
    HEADRACE_TRY(axis, axis_of(dim, from.size()));
    HEADRACE_TRY(require_at_least("step", step, 1));
    shape_builder shape(from);
    if (shape.empty()) return invalid("a tensor of rank 0 cannot be sliced");
    shape[axis] = clamped_slice(start, end, shape[axis]).count(step);
    return shape;
}

template <one_of<ops<aten::view, aten::_unsafe_view>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_view(out, inference::of(a.self), a.size);
}
template <one_of<ops<aten::reshape>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_view(out, inference::of(a.self), a.shape);
}
template <one_of<ops<aten::reshape_as, aten::view_as>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_view(out, inference::of(a.self), inference::of(a.other).shape);
}
template <one_of<ops<aten::as_strided>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_count("stride", a.stride.size(), a.size.size()));
    for (const std::int64_t step : a.stride) {
        HEADRACE_TRY(require_at_least("stride", step, 0));
    }
    HEADRACE_TRY(require_at_least("storage_offset", a.storage_offset.value_or(0), 0));
    return add_result(out, inference::of(a.self).dtype, a.size);
}
template <one_of<ops<aten::broadcast_to, aten::expand>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_expanded(out, inference::of(a.self), a.size);
}
template <one_of<ops<aten::expand_as>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_expanded(out, inference::of(a.self), inference::of(a.other).shape);
}

template <one_of<ops<aten::flatten_using_ints>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(first, axis_of(a.start_dim, self.rank()));
    HEADRACE_TRY(last, axis_of(a.end_dim, self.rank()));
    if (self.rank() == 0) return add_result(out, self.dtype, {1});
    if (first > last) return invalid("start_dim must not come after end_dim");
    const sizes shape(self.shape);
    shape_builder flat(shape.first(first));
    flat.push_back(element_count(shape.subspan(first, last - first + 1)));
    flat.append(shape.subspan(last + 1));
    return add_result(out, self.dtype, flat);
}

template <one_of<ops<aten::unflatten_int>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const sizes shape(self.shape);
    HEADRACE_TRY(axis, axis_of(a.dim, self.rank()));
    if (shape.empty()) return invalid("a tensor of rank 0 has no axis to unflatten");
    if (a.sizes.empty()) return invalid("sizes must not be empty");
    HEADRACE_TRY(parts, viewed_shape(shape.subspan(axis, 1), a.sizes));
    shape_builder given(shape.first(axis));
    given.append(parts);
    given.append(shape.subspan(axis + 1));
    return add_result(out, self.dtype, given);
}

template <one_of<ops<aten::permute>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(order, permutation_of(a.dims, self.rank()));
    return detail::infer_permuted(out, self, order);
}
template <one_of<ops<aten::movedim_int, aten::movedim_intlist>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(order, moved_axes(int_list{a.source}, int_list{a.destination}, self.rank()));
    return detail::infer_permuted(out, self, order);
}
template <one_of<ops<aten::m_t>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 2, shape_builder::capacity));
    return detail::infer_transposed(out, self, -2, -1);
}
template <one_of<ops<aten::numpy_t>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    shape_builder shape(self.shape);
    std::reverse(shape.begin(), shape.end());
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::ravel>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, self.dtype, {element_count(self.shape)});
}
template <one_of<ops<aten::transpose_int>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_transposed(out, inference::of(a.self), a.dim0, a.dim1);
}
template <one_of<ops<aten::t>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 0, 2));
    return self.rank() < 2 ? add_result(out, self) : detail::infer_transposed(out, self, 0, 1);
}

template <one_of<ops<aten::narrow>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axis, axis_of(a.dim, self.rank()));
    shape_builder shape(self.shape);
    if (shape.empty()) return invalid("a tensor of rank 0 cannot be narrowed");
    const std::int64_t start = a.start < 0 ? a.start + shape[axis] : a.start;
    if (start < 0 || a.length < 0 || start > shape[axis] || a.length > shape[axis] - start) {
        return invalid({"start ", a.start, " and length ", a.length, " do not lie in axis ", axis, " of ",
            shape_text(self.shape)});
    }
    shape[axis] = a.length;
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::slice_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, sliced_shape(self.shape, a.dim, a.start, a.end, a.step));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::select_int>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, selected_shape(self.shape, a.dim, a.index));
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::squeeze>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axes, axes_of({}, self.rank()));
    return detail::infer_squeezed(out, self, axes);
}
template <one_of<ops<aten::squeeze_dim>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axes, axes_of({&a.dim, 1}, self.rank()));
    return detail::infer_squeezed(out, self, axes);
}
template <one_of<ops<aten::squeeze_dims>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axes, axes_of(a.dim, self.rank(), no_axes::none));
    return detail::infer_squeezed(out, self, axes);
}
template <one_of<ops<aten::unsqueeze>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axis, axis_of(a.dim, self.rank() + 1));
    shape_builder shape(self.shape);
    shape.insert(axis, 1);
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::unfold>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axis, axis_of(a.dimension, self.rank()));
    shape_builder shape(self.shape);
    const std::int64_t room = shape.empty() ? 1 : shape[axis];
    if (a.size < 0 || a.size > room || a.step <= 0) {
        return invalid({"windows of ", a.size, " with step ", a.step, " do not fit axis ", axis, " of ",
            shape_text(self.shape)});
    }
    if (!shape.empty()) shape[axis] = (room - a.size) / a.step + 1;
    shape.push_back(a.size);
    return add_result(out, self.dtype, shape);
}

}  // namespace headrace

#endif
