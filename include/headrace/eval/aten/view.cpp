// SPDX-License-Identifier: MIT
// Defines the kernels of ATen's views: reshapes share the elements of their operand, others copy them by
// strides.
#include <algorithm>
#include <numeric>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/iterate.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace::eval {

namespace {

/// Matches ops whose result has the elements of self in their order.
template <class Op>
concept keeps_elements =
    op_where<Op, aten::dialect, trait::forwarding | trait::copying | trait::reshaping | trait::casting> ||
    __is_same(Op, aten::_to_copy);
template <keeps_elements Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    e.set_output(e.input(a.self));
}
void evaluate(aten::dropout, const args<aten::dropout>& a, evaluation& e) { e.set_output(e.input(a.input)); }

template <one_of<ops<aten::broadcast_to, aten::expand, aten::expand_as>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    e.set_output(broadcast_to(e.input(a.self), e.output_shape()));
}
void evaluate(aten::as_strided, const args<aten::as_strided>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    std::int64_t last = a.storage_offset.value_or(0);
    for (std::size_t d = 0; d != a.size.size(); ++d)
        last = saturating_add(last, saturating_mul(a.size[d] - 1, a.stride[d]));
    if (last >= in.size()) return e.fail("reads outside its operand");
    extents strides(a.stride.begin(), a.stride.end());
    for (std::size_t d = 0; d != strides.size(); ++d) strides[d] = stepped(strides[d], 1, a.size[d]);
    copy_strided(e.output(), in, strides, a.storage_offset.value_or(0));
}

void evaluate(aten::permute, const args<aten::permute>& a, evaluation& e) {
    std::vector<std::size_t> order;
    for (const std::int64_t d : a.dims) order.push_back(wrap_axis(d, a.dims.size()));
    permute_into(e, a.self, order);
}
inline void swap_axes(evaluation& e, value self, std::int64_t first, std::int64_t second) {
    const std::size_t rank = e.input(self).rank();
    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (rank > 1) std::swap(order[wrap_axis(first, rank)], order[wrap_axis(second, rank)]);
    permute_into(e, self, order);
}
void evaluate(aten::transpose_int, const args<aten::transpose_int>& a, evaluation& e) {
    swap_axes(e, a.self, a.dim0, a.dim1);
}
void evaluate(aten::t, const args<aten::t>& a, evaluation& e) { swap_axes(e, a.self, 0, -1); }
void evaluate(aten::m_t, const args<aten::m_t>& a, evaluation& e) { swap_axes(e, a.self, -2, -1); }
void evaluate(aten::numpy_t, const args<aten::numpy_t>& a, evaluation& e) {
    std::vector<std::size_t> order(e.input(a.self).rank());
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    permute_into(e, a.self, order);
}
void move_axes(
    evaluation& e, value self, std::span<const std::int64_t> from, std::span<const std::int64_t> to) {
    const std::size_t rank = e.input(self).rank();
    if (rank == 0) return e.set_output(e.input(self));
    std::vector<std::size_t> order(rank, rank);
    std::vector<bool> moved(rank, false);
    for (std::size_t i = 0; i != from.size(); ++i) {
        order[wrap_axis(to[i], rank)] = wrap_axis(from[i], rank);
        moved[wrap_axis(from[i], rank)] = true;
    }
    std::size_t next = 0;
    for (std::size_t& d : order) {
        if (d != rank) continue;
        while (moved[next]) ++next;
        d = next++;
    }
    permute_into(e, self, order);
}
void evaluate(aten::movedim_int, const args<aten::movedim_int>& a, evaluation& e) {
    move_axes(e, a.self, std::span(&a.source, 1), std::span(&a.destination, 1));
}
void evaluate(aten::movedim_intlist, const args<aten::movedim_intlist>& a, evaluation& e) {
    move_axes(e, a.self, a.source, a.destination);
}

// --- parts -----------------------------------------------------------------------------

/// Takes every `step`th element of an axis of `in`, from `start` on.
inline void take_slice(
    tensor& out, const tensor& in, std::int64_t axis, std::int64_t start, std::int64_t step = 1) {
    extents strides = row_major_strides(in.shape());
    const std::size_t a = wrap_axis(axis, in.rank());
    const std::int64_t offset = start * strides[a];
    strides[a] = stepped(strides[a], step, out.dim(a));
    copy_strided(out, in, strides, offset);
}
void evaluate(aten::slice_tensor, const args<aten::slice_tensor>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    const std::int64_t size = in.dim(wrap_axis(a.dim, in.rank()));
    take_slice(e.output(), in, a.dim, clamped_slice(a.start, a.end, size).start, a.step);
}
void evaluate(aten::narrow, const args<aten::narrow>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    take_slice(e.output(), in, a.dim, a.start < 0 ? a.start + in.dim(wrap_axis(a.dim, in.rank())) : a.start);
}
inline void take_index(tensor& out, const tensor& in, std::int64_t axis, std::int64_t i) {
    const axis_view view(in.shape(), axis);
    const std::int64_t at = i < 0 ? i + view.size : i;
    extents strides = row_major_strides(in.shape());
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(wrap_axis(axis, in.rank())));
    copy_strided(out, in, strides, at * view.inner);
}
void evaluate(aten::select_int, const args<aten::select_int>& a, evaluation& e) {
    take_index(e.output(), e.input(a.self), a.dim, a.index);
}
void evaluate(aten::unbind_int, const args<aten::unbind_int>& a, evaluation& e) {
    for (std::size_t i = 0; i != e.output_count(); ++i) {
        take_index(e.output(i), e.input(a.self), a.dim, static_cast<std::int64_t>(i));
    }
}
/// The sizes of the results say where each begins, unless an op's indices overlap.
template <
    one_of<ops<aten::chunk, aten::split_tensor, aten::split_with_sizes, aten::tensor_split_sections>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    std::int64_t start = 0;
    for (std::size_t i = 0; i != e.output_count(); ++i) {
        take_slice(e.output(i), in, a.dim, start);
        start += e.output(i).dim(wrap_axis(a.dim, in.rank()));
    }
}
void evaluate(aten::tensor_split_indices, const args<aten::tensor_split_indices>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    const std::int64_t size = in.dim(wrap_axis(a.dim, in.rank()));
    for (std::size_t i = 0; i != e.output_count(); ++i) {
        take_slice(e.output(i), in, a.dim, part_start(a.indices, i, size));
    }
}
void evaluate(aten::unfold, const args<aten::unfold>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    extents strides = row_major_strides(in.shape());
    strides.push_back(strides.empty() ? 1 : strides[wrap_axis(a.dimension, in.rank())]);
    if (in.rank() != 0) {
        const std::size_t axis = wrap_axis(a.dimension, in.rank());
        strides[axis] = stepped(strides[axis], a.step, e.output().dim(axis));
    }
    copy_strided(e.output(), in, strides);
}
void evaluate(aten::diagonal, const args<aten::diagonal>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    const extents along = row_major_strides(in.shape());
    const std::size_t axis1 = wrap_axis(a.dim1, in.rank());
    const std::size_t axis2 = wrap_axis(a.dim2, in.rank());
    extents strides;
    for (std::size_t i = 0; i != in.rank(); ++i) {
        if (i != axis1 && i != axis2) strides.push_back(along[i]);
    }
    strides.push_back(along[axis1] + along[axis2]);
    const std::int64_t offset = a.offset < 0 ? -a.offset * along[axis1] : a.offset * along[axis2];
    if (e.output().size() != 0) copy_strided(e.output(), in, strides, offset);
}
/// Expands tensors to one shape by strides.
void evaluate(aten::broadcast_tensors, const args<aten::broadcast_tensors>& a, evaluation& e) {
    for (std::size_t i = 0; i != e.output_count(); ++i)
        e.set_output(i, broadcast_to(e.input(a.tensors[i]), e.output(i).shape()));
}
[[nodiscard]] tensor flipped(const tensor& in, std::span<const std::int64_t> dims) {
    tensor out(in.type(), in.shape());
    extents strides = row_major_strides(in.shape());
    std::int64_t offset = 0;
    for (const std::int64_t dim : dims) {
        if (in.rank() == 0) break;
        const std::size_t d = wrap_axis(dim, in.rank());
        offset += (in.dim(d) - 1) * strides[d];
        strides[d] = -strides[d];
    }
    copy_strided(out, in, strides, offset);
    return out;
}
void evaluate(aten::flip, const args<aten::flip>& a, evaluation& e) {
    e.set_output(flipped(e.input(a.self), a.dims));
}
void evaluate(aten::fliplr, const args<aten::fliplr>& a, evaluation& e) {
    e.set_output(flipped(e.input(a.self), int_list{1}));
}
void evaluate(aten::flipud, const args<aten::flipud>& a, evaluation& e) {
    e.set_output(flipped(e.input(a.self), int_list{0}));
}
/// Rotates by k quarter turns, from the first axis of the plane toward the second.
void evaluate(aten::rot90, const args<aten::rot90>& a, evaluation& e) {
    tensor turned = e.input(a.self);
    const std::size_t first = wrap_axis(a.dims[0], turned.rank());
    const std::size_t second = wrap_axis(a.dims[1], turned.rank());
    for (std::int64_t k = (a.k % 4 + 4) % 4; k != 0; --k) {
        std::vector<std::size_t> order(turned.rank());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::swap(order[first], order[second]);
        turned = permuted(flipped(turned, int_list{a.dims[1]}), order);
    }
    e.set_output(turned);
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_view_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
