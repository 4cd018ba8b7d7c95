// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of composite rearrangements, selections and searches of aten.
#ifndef HEADRACE_INFER_ATEN_SEARCH_HPP
#define HEADRACE_INFER_ATEN_SEARCH_HPP

#include <optional>
#include <string_view>

#include <headrace/infer/aten/composite.hpp>
#include <headrace/infer/aten/diagonal.hpp>
#include <headrace/infer/aten/index.hpp>
#include <headrace/infer/aten/split.hpp>

namespace headrace {

namespace detail {

/// Returns the number of elements of a diagonal.
[[nodiscard]] constexpr std::int64_t diagonal_length(
    std::int64_t rows, std::int64_t columns, std::int64_t offset) {
    const std::int64_t right = offset < 0 ? columns : saturating_sub(columns, offset);
    const std::int64_t down = offset < 0 ? saturating_add(rows, offset) : rows;
    const std::int64_t least = right < down ? right : down;
    return least < 0 ? 0 : least;
}
[[nodiscard]] constexpr std::int64_t magnitude(std::int64_t n) { return n < 0 ? saturating_sub(0, n) : n; }

/// Refuses tensors that cannot be compared in their common type.
template <class Op>
result<void> require_comparable(const tensor_meta& a, const tensor_meta& b) {
    HEADRACE_TRY(type, promoted_for<Op>(a, b));
    if (type != dtype::unknown) return {};
    return invalid({name_of(a.dtype), " and ", name_of(b.dtype), " have no type in which to compare them"});
}

/// Returns the shape of torch.diag_embed: the two axes of the square replace the last axis.
[[nodiscard]] inline result<shape_builder> embedded_shape(
    sizes shape, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
    HEADRACE_TRY(require_rank("self", shape, 1, shape_builder::capacity - 1));
    HEADRACE_TRY(first, axis_of(dim1, shape.size() + 1));
    HEADRACE_TRY(second, axis_of(dim2, shape.size() + 1));
    if (first == second) return invalid("dim1 and dim2 must be different axes");
    const std::int64_t size = saturating_add(shape.back(), magnitude(offset));
    shape_builder made(shape.first(shape.size() - 1));
    made.insert(first < second ? first : second, size);
    made.insert(first < second ? second : first, size);
    return made;
}

}  // namespace detail

// Rearrangements.

template <one_of<ops<aten::atleast_1d, aten::atleast_2d, aten::atleast_3d>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    constexpr std::size_t least = std::is_same_v<Op, aten::atleast_1d> ? 1
        : std::is_same_v<Op, aten::atleast_2d>                         ? 2
                                                                       : 3;
    shape_builder shape(self.shape);
    if (shape.empty()) shape.push_back(1);
    if (least > 1 && shape.size() == 1) shape.insert(0, 1);
    if (least > 2 && shape.size() == 2) shape.push_back(1);
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::diag>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 1, 2));
    if (self.rank() == 2)
        return add_result(
            out, self.dtype, {detail::diagonal_length(self.shape[0], self.shape[1], a.diagonal)});
    HEADRACE_TRY(shape, detail::embedded_shape(self.shape, a.diagonal, 0, 1));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::diag_embed>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, detail::embedded_shape(self.shape, a.offset, a.dim1, a.dim2));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::diagflat>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, detail::embedded_shape(shape_builder{element_count(self.shape)}, a.offset, 0, 1));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::linalg_diagonal>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return infer_results(aten::diagonal{}, args<aten::diagonal>{a.A, a.offset, a.dim1, a.dim2}, out);
}
template <one_of<ops<aten::diagonal_scatter>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& src = inference::of(a.src);
    HEADRACE_TRY(first, axis_of(a.dim1, self.rank()));
    HEADRACE_TRY(second, axis_of(a.dim2, self.rank()));
    HEADRACE_TRY(require_rank("self", self.shape, 2, shape_builder::capacity));
    if (first == second) return invalid("dim1 and dim2 must be different axes");
    shape_builder shape(self.shape);
    shape.erase(first < second ? second : first);
    shape.erase(first < second ? first : second);
    shape.push_back(detail::diagonal_length(self.shape[first], self.shape[second], a.offset));
    HEADRACE_TRY(require_shape("src", src.shape, shape));
    HEADRACE_TRY(require_dtype("src", src.dtype, self.dtype));
    return add_result(out, self);
}
template <one_of<ops<aten::trace>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 2));
    return add_result(out, as_accumulator(self.dtype), shape_builder());
}
template <one_of<ops<aten::block_diag>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.tensors.empty()) return add_result(out, default_float, {1, 0});
    shape_builder shape{0, 0};
    dtype type = dtype::unknown;
    for (const value v : a.tensors) {
        const tensor_meta& block = inference::of(v);
        HEADRACE_TRY(require_rank("a tensor", block.shape, 0, 2));
        type = promote(type, block.dtype);
        shape[0] = saturating_add(shape[0], block.rank() == 2 ? block.shape[0] : 1);
        shape[1] = saturating_add(shape[1], block.rank() == 0 ? 1 : block.shape.back());
    }
    return add_result(out, type, shape);
}
template <one_of<ops<aten::cartesian_prod>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.tensors.empty()) return invalid("there are no tensors");
    const tensor_meta& first = inference::of(a.tensors[0]);
    std::int64_t rows = 1;
    for (const value v : a.tensors) {
        const tensor_meta& t = inference::of(v);
        HEADRACE_TRY(require_rank("a tensor", t.shape, 1));
        HEADRACE_TRY(require_dtype("a tensor", t.dtype, first.dtype));
        rows = saturating_mul(rows, t.shape[0]);
    }
    if (a.tensors.size() == 1) return add_result(out, first.dtype, {rows});
    return add_result(out, first.dtype, {rows, static_cast<std::int64_t>(a.tensors.size())});
}
template <one_of<ops<aten::hsplit_int, aten::vsplit_int, aten::dsplit_int, aten::hsplit_array,
    aten::vsplit_array, aten::dsplit_array>>
        Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr std::size_t least = one_of<Op, ops<aten::hsplit_int, aten::hsplit_array>> ? 1
        : one_of<Op, ops<aten::vsplit_int, aten::vsplit_array>>                         ? 2
                                                                                        : 3;
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, least, SIZE_MAX));
    const std::int64_t axis = least == 3 ? 2 : least == 1 && self.rank() > 1 ? 1 : 0;
    if constexpr (requires { a.sections; }) {
        const std::int64_t size = self.shape[static_cast<std::size_t>(axis)];
        HEADRACE_TRY(require_at_least("sections", a.sections, 1));
        if (size % a.sections != 0) return invalid({a.sections, " sections of ", size, " are not equal"});
        return infer_results(
            aten::tensor_split_sections{}, args<aten::tensor_split_sections>{a.self, a.sections, axis}, out);
    } else {
        return infer_results(
            aten::tensor_split_indices{}, args<aten::tensor_split_indices>{a.self, a.indices, axis}, out);
    }
}

// Selections.

template <one_of<ops<aten::take>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& index = inference::of(a.index);
    HEADRACE_TRY(require_indices("index", index));
    return add_result(out, inference::of(a.self).dtype, index.shape);
}
template <one_of<ops<aten::take_along_dim>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& indices = inference::of(a.indices);
    HEADRACE_TRY(require_indices("indices", indices));
    if (!a.dim) return add_result(out, self.dtype, {element_count(indices.shape)});
    HEADRACE_TRY(require_rank("indices", indices.shape, self.rank()));
    HEADRACE_TRY(axis, axis_of(*a.dim, self.rank()));
    shape_builder wide(self.shape);
    if (!wide.empty()) wide[axis] = indices.shape[axis];
    HEADRACE_TRY(shape, broadcast(wide, indices.shape));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::isin_tensor_tensor, aten::isin_tensor_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_real("elements", inference::of(a.elements).dtype));
    return add_result(out, dtype::boolean, inference::of(a.elements));
}
template <one_of<ops<aten::isin_scalar_tensor>> Op>
result<void> infer_results(Op, const args<Op>&, inference& out) {
    return add_result(out, dtype::boolean, shape_builder());
}
template <one_of<ops<aten::bucketize_tensor, aten::bucketize_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& boundaries = inference::of(a.boundaries);
    HEADRACE_TRY(require_rank("boundaries", boundaries.shape, 1));
    const dtype type = a.out_int32 ? dtype::int32 : dtype::int64;
    if constexpr (std::is_same_v<Op, aten::bucketize_tensor>) {
        HEADRACE_TRY(detail::require_comparable<Op>(boundaries, inference::of(a.self)));
        return add_result(out, type, inference::of(a.self).shape);
    } else {
        HEADRACE_TRY(detail::require_comparable<Op>(boundaries, boundaries));
        return add_result(out, type, shape_builder());
    }
}
template <one_of<ops<aten::searchsorted_tensor, aten::searchsorted_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& sequence = inference::of(a.sorted_sequence);
    HEADRACE_TRY(require_rank("sorted_sequence", sequence.shape, 1, SIZE_MAX));
    if (a.side && *a.side != "left" && *a.side != "right") return invalid("side must be left or right");
    if (a.sorter) {
        HEADRACE_TRY(require_shape("sorter", a.sorter, sequence.shape));
        HEADRACE_TRY(require_dtype("sorter", a.sorter, dtype::int64));
    }
    const dtype type = a.out_int32 ? dtype::int32 : dtype::int64;
    if constexpr (std::is_same_v<Op, aten::searchsorted_tensor>) {
        const tensor_meta& self = inference::of(a.self);
        if (sequence.rank() != 1) {
            HEADRACE_TRY(require_rank("self", self.shape, sequence.rank()));
            HEADRACE_TRY(require_shape_beside("self", self.shape, sequence.shape, sequence.rank() - 1));
        }
        HEADRACE_TRY(detail::require_comparable<Op>(sequence, self));
        return add_result(out, type, self.shape);
    } else {
        HEADRACE_TRY(detail::require_comparable<Op>(sequence, sequence));
        HEADRACE_TRY(require_rank("sorted_sequence", sequence.shape, 1));
        return add_result(out, type, shape_builder());
    }
}
template <one_of<ops<aten::masked_scatter>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_mask("mask", inference::of(a.mask)));
    HEADRACE_TRY(require_dtype("source", inference::of(a.source).dtype, self.dtype));
    HEADRACE_TRY(shape, broadcast(self.shape, inference::of(a.mask).shape));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::scatter_reduce_two, aten::scatter_src_reduce>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(detail::check_scatter(self, a.dim, inference::of(a.index), inference::of(a.src)));
    constexpr bool is_two = std::is_same_v<Op, aten::scatter_reduce_two>;
    const auto is = [&](std::string_view name) { return a.reduce == name; };
    const bool known = is_two ? is("sum") || is("prod") || is("mean") || is("amax") || is("amin")
                              : is("add") || is("multiply");
    if (!known) return invalid({"reduce is unknown: ", a.reduce});
    return add_result(out, self);
}
template <one_of<ops<aten::index_reduce>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(detail::check_slices(self, a.dim, inference::of(a.index), inference::of(a.source)));
    if (a.reduce != "prod" && a.reduce != "mean" && a.reduce != "amax" && a.reduce != "amin")
        return invalid({"reduce is unknown: ", a.reduce});
    return add_result(out, self);
}

/// One row per bag. The other results locate the bags and serve the gradient.
template <one_of<ops<aten::embedding_bag, aten::embedding_bag_padding_idx, aten::_embedding_bag,
    aten::_embedding_bag_forward_only>>
        Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& weight = inference::of(a.weight);
    const tensor_meta& indices = inference::of(a.indices);
    const tensor_meta& offsets = inference::of(a.offsets);
    HEADRACE_TRY(require_rank("weight", weight.shape, 2));
    HEADRACE_TRY(require_rank("indices", indices.shape, 1));
    HEADRACE_TRY(require_rank("offsets", offsets.shape, 1));
    HEADRACE_TRY(require_indices("indices", indices));
    HEADRACE_TRY(require_indices("offsets", offsets));
    HEADRACE_TRY(require_floating("weight", weight.dtype));
    HEADRACE_TRY(require_real("weight", weight.dtype));
    HEADRACE_TRY(require_between("mode", a.mode, 0, 2));
    if (a.per_sample_weights) {
        HEADRACE_TRY(require_equal("mode beside per_sample_weights", a.mode, 0));
        HEADRACE_TRY(require_shape("per_sample_weights", a.per_sample_weights, indices.shape));
        HEADRACE_TRY(require_dtype("per_sample_weights", a.per_sample_weights, weight.dtype));
    }
    const std::int64_t bags = offsets.shape[0] - (a.include_last_offset ? 1 : 0);
    HEADRACE_TRY(require_at_least("the number of bags", bags, 0));
    HEADRACE_TRY(add_result(out, weight.dtype, {bags, weight.shape[1]}));
    for (int i = 1; i != Op::results; ++i) out.add(dtype::unknown, sizes());
    return {};
}

}  // namespace headrace

#endif
