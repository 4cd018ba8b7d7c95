// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the indexing ops of aten.
#ifndef HEADRACE_INFER_ATEN_INDEX_HPP
#define HEADRACE_INFER_ATEN_INDEX_HPP

#include <algorithm>
#include <optional>
#include <string_view>
#include <type_traits>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten/arithmetic.hpp>
#include <headrace/infer/aten/elementwise.hpp>
#include <headrace/infer/aten/view.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

/// Returns the shape of x[indices]: the broadcast shape of the indices replaces the indexed axes, at the
/// first of them if they are adjacent, else in front.
[[nodiscard]] inline result<shape_builder> indexed_shape(sizes shape, list<std::optional<value>> indices) {
    if (indices.size() > shape.size()) {
        return invalid({indices.size(), " indices are too many for ", shape_text(shape)});
    }
    shape_builder given;
    shape_builder left;
    std::optional<std::size_t> first;
    std::size_t runs = 0;
    for (std::size_t i = 0; i != shape.size(); ++i) {
        const bool indexed = i < indices.size() && indices[i];
        if (!indexed) {
            left.push_back(shape[i]);
            continue;
        }
        const tensor_meta& index = inference::of(*indices[i]);
        if (is_mask(index.dtype)) return invalid("the shape that a mask selects depends on its data");
        HEADRACE_TRY(require_indices(text_of({"index ", i}), index));
        HEADRACE_TRY(both, broadcast(given, index.shape));
        given = both;
        if (!first) first = i;
        runs += i == 0 || !indices[i - 1];
    }
    const std::size_t at = runs == 1 ? *first : 0;
    const sizes rest(left);
    shape_builder whole(rest.first(at));
    whole.append(given);
    whole.append(rest.subspan(at));
    return whole;
}

namespace detail {

/// The properties of x[indices] that do not depend on data: whether there are masks, the rank, and how many
/// of the last axes are the axes of x after all indexed ones.
struct indexed_axes {
    bool has_masks = false;
    std::size_t rank = 0;
    std::size_t behind = 0;
};

/// Refuses masks whose sizes differ from the axes that they cover, and other indices that do not broadcast.
inline result<indexed_axes> check_masks(sizes shape, list<std::optional<value>> indices) {
    indexed_axes found{false, shape.size(), 0};
    shape_builder given;     // by all indices except masks
    std::size_t widest = 0;  // largest rank of an index; a mask counts as rank 1
    std::size_t axis = 0;
    for (const std::optional<value>& v : indices) {
        const tensor_meta* mask = v && is_mask(inference::of(*v).dtype) ? &inference::of(*v) : nullptr;
        const std::size_t covered = mask != nullptr ? mask->rank() : 1;
        if (covered > shape.size() - axis) return invalid("there are more indices than axes");
        if (mask != nullptr) {
            HEADRACE_TRY(require_shape("mask", mask->shape, shape.subspan(axis, covered)));
        } else if (v) {
            HEADRACE_TRY(require_indices("index", inference::of(*v)));
            HEADRACE_TRY(both, broadcast(given, inference::of(*v).shape));
            given = both;
        }
        found.has_masks = found.has_masks || mask != nullptr;
        if (v) {
            found.rank -= covered;
            widest = std::max(widest, mask != nullptr ? 1 : inference::of(*v).rank());
        }
        axis += covered;
    }
    found.rank += widest;
    found.behind = shape.size() - axis;
    return found;
}

/// Refuses an index of gather or scatter that does not have the tensor's rank (a number counts as rank 1) or
/// is larger along any axis except `free_axis`.
inline result<void> check_paired(
    std::string_view what, sizes shape, sizes index, std::optional<std::size_t> free_axis) {
    const shape_builder wide = shape.empty() ? shape_builder{1} : shape_builder(shape);
    const shape_builder part = index.empty() ? shape_builder{1} : shape_builder(index);
    bool fits = wide.size() == part.size();
    for (std::size_t i = 0; fits && i != part.size(); ++i) fits = i == free_axis || part[i] <= wide[i];
    if (fits) return {};
    return invalid({"index ", shape_text(index), " does not fit ", what, " ", shape_text(shape)});
}
inline result<void> check_scatter(const tensor_meta& self, std::int64_t dim, const tensor_meta& index) {
    HEADRACE_TRY(axis, axis_of(dim, self.rank()));
    if (element_count(index.shape) == 0) return {};  // nothing is scattered
    HEADRACE_TRY(require_indices("index", index));
    return check_paired("self", self.shape, index.shape, axis);
}
inline result<void> check_scatter(
    const tensor_meta& self, std::int64_t dim, const tensor_meta& index, const tensor_meta& src) {
    HEADRACE_TRY(check_scatter(self, dim, index));
    HEADRACE_TRY(require_dtype("src", src.dtype, self.dtype));
    if (element_count(index.shape) == 0) return {};
    return check_paired("src", src.shape, index.shape, std::nullopt);
}

/// Checks the index of ops like index_select: at most one axis.
inline result<void> check_index_list(const tensor_meta& index) {
    HEADRACE_TRY(require_rank("index", index.shape, 0, 1));
    return require_indices("index", index);
}
/// Checks that a source has one slice along the axis for each index.
inline result<void> check_slices(
    const tensor_meta& self, std::int64_t dim, const tensor_meta& index, const tensor_meta& source) {
    HEADRACE_TRY(axis, axis_of(dim, self.rank()));
    HEADRACE_TRY(check_index_list(index));
    HEADRACE_TRY(require_dtype("source", source.dtype, self.dtype));
    shape_builder expected(self.shape);
    if (!expected.empty()) expected[axis] = element_count(index.shape);
    const bool number = source.rank() == 0 || self.rank() == 0;  // counts as a list of one
    if (!number) return require_shape("source", source.shape, expected);
    HEADRACE_TRY(require_elements("source", source.shape, 1));
    HEADRACE_TRY(require_elements("index", index.shape, 1));
    return require_rank("self", self.shape, 0, 1);
}

}  // namespace detail

template <one_of<ops<aten::index_tensor, aten::_unsafe_index_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, indexed_shape(self.shape, a.indices));
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::index_put, aten::_unsafe_index_put>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& values = inference::of(a.values);
    HEADRACE_TRY(require_dtype("values", values.dtype, self.dtype));
    HEADRACE_TRY(selected, detail::check_masks(self.shape, a.indices));
    HEADRACE_TRY(require_rank("values", values.shape, 0, selected.rank));
    if (selected.has_masks) {  // only the last axes of `values` can be checked: the others depend on data
        const std::size_t behind = std::min(values.rank(), selected.behind);
        HEADRACE_TRY(require_expandable(
            "the end of values", sizes(values.shape).last(behind), sizes(self.shape).last(selected.behind)));
    } else {
        HEADRACE_TRY(indexed, indexed_shape(self.shape, a.indices));
        HEADRACE_TRY(require_expandable("values", values.shape, indexed));
    }
    return add_result(out, self);
}

template <one_of<ops<aten::embedding>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& weight = inference::of(a.weight);
    const tensor_meta& indices = inference::of(a.indices);
    HEADRACE_TRY(require_rank("weight", weight.shape, 2));
    HEADRACE_TRY(require_indices("indices", indices));
    shape_builder shape(indices.shape);
    shape.push_back(weight.shape[1]);
    return add_result(out, weight.dtype, shape);
}

template <one_of<ops<aten::gather>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& index = inference::of(a.index);
    HEADRACE_TRY(detail::check_scatter(self, a.dim, index));
    return add_result(out, self.dtype, index.shape);
}

template <one_of<ops<aten::scatter_add, aten::scatter_src>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_scatter(self, a.dim, inference::of(a.index), inference::of(a.src)));
    return add_result(out, self);
}
template <one_of<ops<aten::scatter_value>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_scatter(self, a.dim, inference::of(a.index)));
    return add_result(out, self);
}

template <one_of<ops<aten::index_select>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& index = inference::of(a.index);
    HEADRACE_TRY(axis, axis_of(a.dim, self.rank()));
    HEADRACE_TRY(detail::check_index_list(index));
    if (self.rank() == 0) {
        HEADRACE_TRY(require_elements("index", index.shape, 1));
    }
    shape_builder shape(self.shape);
    if (!shape.empty()) shape[axis] = element_count(index.shape);
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::index_add, aten::index_copy>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_slices(self, a.dim, inference::of(a.index), inference::of(a.source)));
    if constexpr (requires { a.alpha; }) {
        HEADRACE_TRY(detail::check_alpha(a.alpha, self.dtype));
    }
    return add_result(out, self);
}
template <one_of<ops<aten::index_fill_int_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axis_of(a.dim, self.rank()));
    HEADRACE_TRY(detail::check_index_list(inference::of(a.index)));
    return add_result(out, self);
}

template <one_of<ops<aten::select_scatter>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(slice, selected_shape(self.shape, a.dim, a.index));
    HEADRACE_TRY(require_shape("src", inference::of(a.src).shape, slice));
    return add_result(out, self);
}
template <one_of<ops<aten::slice_scatter>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(part, sliced_shape(self.shape, a.dim, a.start, a.end, a.step));
    HEADRACE_TRY(require_shape("src", inference::of(a.src).shape, part));
    return add_result(out, self);
}

template <one_of<ops<aten::one_hot>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.num_classes < 0) return invalid("num_classes depends on data");
    HEADRACE_TRY(require_indices("self", inference::of(a.self)));
    shape_builder shape(inference::of(a.self).shape);
    shape.push_back(a.num_classes);
    return add_result(out, dtype::int64, shape);
}

template <one_of<ops<aten::masked_fill_scalar, aten::masked_fill_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& mask = inference::of(a.mask);
    HEADRACE_TRY(require_dtype("mask", mask.dtype, dtype::boolean));
    if constexpr (std::is_same_v<Op, aten::masked_fill_tensor>) {
        HEADRACE_TRY(require_rank("value", inference::of(a.value).shape, 0));
    }
    HEADRACE_TRY(shape, broadcast(self.shape, mask.shape));
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::where_self>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_mask("condition", inference::of(a.condition)));
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(shape, broadcast(inference::of(a.condition).shape, self.shape, other.shape));
    return add_result(out, result_type(self, other), shape);
}
template <one_of<ops<aten::where_scalarother>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_mask("condition", inference::of(a.condition)));
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, broadcast(inference::of(a.condition).shape, self.shape));
    return add_result(out, result_type(self, a.other), shape);
}
template <one_of<ops<aten::where_scalarself>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_mask("condition", inference::of(a.condition)));
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(shape, broadcast(inference::of(a.condition).shape, other.shape));
    return add_result(out, result_type(other, a.self), shape);
}
template <one_of<ops<aten::where_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_mask("condition", inference::of(a.condition)));
    return add_result(out, result_type(a.self, a.other), inference::of(a.condition).shape);
}

}  // namespace headrace

#endif
