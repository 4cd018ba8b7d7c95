// SPDX-License-Identifier: MIT
// Defines the shape rules of the ops of aten that join tensors or bring them to one shape.
#ifndef HEADRACE_INFER_ATEN_JOIN_HPP
#define HEADRACE_INFER_ATEN_JOIN_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

namespace aten {

/// Returns the shape to which hstack, vstack, dstack and column_stack reshape a tensor before joining
/// (PyTorch, torch.atleast_1d to atleast_3d).
template <class Op>
[[nodiscard]] constexpr shape_builder stacked_shape(sizes s) {
    if constexpr (std::is_same_v<Op, column_stack>) {
        return s.size() < 2 ? shape_builder{s.empty() ? 1 : s[0], 1} : shape_builder(s);
    } else if constexpr (std::is_same_v<Op, hstack>) {
        return s.empty() ? shape_builder{1} : shape_builder(s);
    } else if constexpr (std::is_same_v<Op, vstack>) {
        return s.size() < 2 ? shape_builder{1, s.empty() ? 1 : s[0]} : shape_builder(s);
    } else {
        if (s.size() > 2) return shape_builder(s);
        return s.size() == 2 ? shape_builder{s[0], s[1], 1} : shape_builder{1, s.empty() ? 1 : s[0], 1};
    }
}
/// Returns the axis along which they join tensors of that rank.
template <class Op>
[[nodiscard]] constexpr std::int64_t stacked_axis(std::size_t rank) {
    if constexpr (std::is_same_v<Op, vstack>) return 0;
    if constexpr (std::is_same_v<Op, dstack>) return 2;
    return rank == 1 ? 0 : 1;
}

}  // namespace aten

namespace detail {

/// True if torch.cat skips the tensor: empty tensors of rank 1 may be joined with tensors of any rank.
inline bool skipped_in_cat(const tensor_meta& t) { return t.rank() == 1 && t.shape[0] == 0; }

inline result<void> infer_cat(inference& out, list<value> tensors, std::int64_t dim) {
    promotion type;
    const tensor_meta* first = nullptr;
    for (const value v : tensors) {
        const tensor_meta& t = inference::of(v);
        type.add(t);
        if (first == nullptr && !skipped_in_cat(t)) first = &t;
    }
    if (tensors.empty()) return invalid("there are no tensors to join");
    if (first == nullptr) return add_result(out, type.type(), {0});
    HEADRACE_TRY(axis, axis_of(dim, first->rank()));
    if (first->rank() == 0) return invalid("tensors of rank 0 cannot be joined");
    shape_builder shape(first->shape);
    std::int64_t sum = 0;
    for (const value v : tensors) {
        const tensor_meta& t = inference::of(v);
        if (skipped_in_cat(t)) continue;
        shape_builder expected(t.shape);
        if (axis < expected.size()) expected[axis] = first->shape[axis];
        if (expected != shape) {
            return invalid({"cannot join ", shape_text(first->shape), " and ", shape_text(t.shape),
                " along axis ", axis});
        }
        sum = saturating_add(sum, t.shape[axis]);
    }
    shape[axis] = sum;
    return add_result(out, type.type(), shape);
}

/// Infers a concatenation of tensors that are reshaped first.
template <class Shape, class Axis>
result<void> infer_stacked(inference& out, list<value> tensors, Shape&& shape_of, Axis&& axis_of_rank) {
    promotion type;
    shape_builder joined;
    std::int64_t sum = 0;
    for (const value v : tensors) {
        const tensor_meta& t = inference::of(v);
        shape_builder shape = shape_of(t.shape);
        type.add({t.dtype, int_list(shape), {}});  // no longer a number in promotion
        const auto axis = static_cast<std::size_t>(axis_of_rank(shape.size()));
        sum = saturating_add(sum, shape[axis]);
        if (!joined.empty() && joined.size() == shape.size()) shape[axis] = joined[axis];
        if (!joined.empty() && joined != shape) {
            return invalid({"cannot join ", shape_text(joined), " and ", shape_text(shape)});
        }
        joined = shape;
    }
    if (tensors.empty()) return invalid("there are no tensors to join");
    joined[static_cast<std::size_t>(axis_of_rank(joined.size()))] = sum;
    return add_result(out, type.type(), joined);
}

}  // namespace detail

template <one_of<ops<aten::cat>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_cat(out, a.tensors, a.dim);
}
template <one_of<ops<aten::stack>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.tensors.empty()) return invalid("there are no tensors to stack");
    const tensor_meta& first = inference::of(a.tensors[0]);
    HEADRACE_TRY(axis, axis_of(a.dim, first.rank() + 1));
    promotion type;
    for (const value v : a.tensors) {
        const tensor_meta& t = inference::of(v);
        if (t.shape != first.shape) {
            return invalid({"cannot stack ", shape_text(first.shape), " and ", shape_text(t.shape)});
        }
        type.add(t);
    }
    shape_builder shape(first.shape);
    shape.insert(axis, static_cast<std::int64_t>(a.tensors.size()));
    return add_result(out, type.type(), shape);
}
/// Joins tensors reshaped as in NumPy: to at least one axis (hstack), two (vstack) or three (dstack), or to
/// columns (column_stack).
template <one_of<ops<aten::hstack, aten::vstack, aten::dstack, aten::column_stack>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_stacked(
        out, a.tensors, [](sizes s) { return aten::stacked_shape<Op>(s); }, aten::stacked_axis<Op>);
}
template <one_of<ops<aten::broadcast_tensors>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    shape_builder shape;
    for (const value v : a.tensors) {
        HEADRACE_TRY(both, broadcast(shape, inference::of(v).shape));
        shape = both;
    }
    for (const value v : a.tensors) {
        HEADRACE_TRY(add_result(out, inference::of(v).dtype, shape));
    }
    return {};
}
template <one_of<ops<aten::diff>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axis, axis_of(a.dim, self.rank()));
    if (self.rank() == 0) return invalid("a tensor of rank 0 has no axis to take differences along");
    shape_builder shape(self.shape);
    promotion type;
    type.add(self);
    for (const std::optional<value>& more : {a.prepend, a.append}) {
        if (!more) continue;
        const tensor_meta& beside = inference::of(*more);
        HEADRACE_TRY(require_shape_beside("prepend or append", beside.shape, self.shape, axis));
        shape[axis] = saturating_add(shape[axis], beside.shape[axis]);
        type.add(beside);
    }
    HEADRACE_TRY(require_at_least("n", a.n, 0));
    shape[axis] = a.n < shape[axis] ? shape[axis] - a.n : 0;
    return add_result(out, type.type(), shape);
}

template <one_of<ops<aten::meshgrid_indexing>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    shape_builder shape;
    if (a.tensors.empty()) return invalid("there are no tensors to span a grid");
    for (const value v : a.tensors) {
        const tensor_meta& t = inference::of(v);
        HEADRACE_TRY(require_dtype("tensor", t.dtype, inference::of(a.tensors[0]).dtype));
        HEADRACE_TRY(require_rank("tensor", t.shape, 0, 1));
        shape.push_back(t.rank() == 0 ? 1 : t.shape[0]);
    }
    if (a.indexing != "xy" && a.indexing != "ij") return invalid("indexing must be xy or ij");
    if (a.indexing == "xy" && shape.size() > 1) std::swap(shape[0], shape[1]);
    for (const value v : a.tensors) {
        HEADRACE_TRY(add_result(out, inference::of(v).dtype, shape));
    }
    return {};
}

}  // namespace headrace

#endif
