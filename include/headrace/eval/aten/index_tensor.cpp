// SPDX-License-Identifier: MIT
// Defines the kernels of advanced indexing: several index tensors at once, and masks.
#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/aten/index.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/infer/preconditions.hpp>

namespace headrace::eval {

namespace {

[[nodiscard]] inline bool broadcasts_to(const extents& from, const extents& to) {
    if (from.size() > to.size()) return false;
    for (std::size_t d = 0; d != from.size(); ++d) {
        if (from[d] != 1 && from[d] != to[to.size() - from.size() + d]) return false;
    }
    return true;
}

/// Advanced indexing: one position in self for each index of the result, which combines the shape of the
/// broadcast index tensors with the axes that have none.
struct indexed_positions {
    extents shape;  ///< of the result
    std::vector<std::size_t> positions;
};

/// Replaces a mask by one index tensor for each axis that it covers: the coordinates of its true elements.
void add_mask_indices(const tensor& mask, std::vector<std::optional<tensor>>& indices) {
    const std::vector<std::int64_t> flags = mask.to<std::int64_t>();
    const extents strides = row_major_strides(mask.shape());
    for (std::size_t d = 0; d != mask.rank(); ++d) {
        std::vector<std::int64_t> found;
        for (std::size_t i = 0; i != flags.size(); ++i) {
            if (flags[i] != 0) found.push_back(static_cast<std::int64_t>(i) / strides[d] % mask.dim(d));
        }
        indices.emplace_back(tensor::of(dtype::int64, {static_cast<std::int64_t>(found.size())}, found));
    }
}
[[nodiscard]] std::vector<std::optional<tensor>> index_tensors(
    const evaluation& e, list<std::optional<value>> given, std::size_t rank) {
    std::vector<std::optional<tensor>> indices;
    for (const std::optional<value>& v : given) {
        if (!v) {
            indices.emplace_back();
        } else if (const tensor& t = e.input(*v); is_mask(t.type())) {
            add_mask_indices(t, indices);
        } else {
            indices.emplace_back(t);
        }
    }
    indices.resize(rank);
    return indices;
}

/// Returns the shape that the index tensors broadcast to. Fails if they do not: the number of elements that a
/// mask selects is known only from the data.
[[nodiscard]] extents common_shape(evaluation& e, const std::vector<std::optional<tensor>>& indices) {
    extents shape;
    for (const auto& t : indices) {
        if (!t) continue;
        if (t->rank() > shape.size()) shape.insert(shape.begin(), t->rank() - shape.size(), 1);
        for (std::size_t d = 0; d != t->rank(); ++d) {
            std::int64_t& size = shape[shape.size() - t->rank() + d];
            if (size == 1) size = t->dim(d);
            if (t->dim(d) != 1 && t->dim(d) != size) e.fail("index tensors do not broadcast");
        }
    }
    return shape;
}

/// The axes of self that have no index tensor: those before the first indexed axis, and the others. If the
/// indexed axes are not adjacent, PyTorch puts their common axes first.
struct free_axes {
    extents before, after, strides_before, strides_after;
};
[[nodiscard]] free_axes free_axes_of(const tensor& self, const std::vector<std::optional<tensor>>& indices) {
    const extents dense = row_major_strides(self.shape());
    free_axes axes;
    int runs = 0;
    for (std::size_t d = 0; d != indices.size(); ++d)
        runs += indices[d] && (d == 0 || !indices[d - 1]) ? 1 : 0;
    bool before = runs <= 1;
    for (std::size_t d = 0; d != indices.size(); ++d) {
        before = before && !indices[d];
        if (indices[d]) continue;
        (before ? axes.before : axes.after).push_back(self.dim(d));
        (before ? axes.strides_before : axes.strides_after).push_back(dense[d]);
    }
    return axes;
}
/// Returns the position in self for each index of the common shape.
[[nodiscard]] std::vector<std::int64_t> indexed_bases(evaluation& e, const tensor& self,
    const std::vector<std::optional<tensor>>& indices, const extents& common) {
    const extents dense = row_major_strides(self.shape());
    std::vector<std::int64_t> bases(idx(elements_in(common)), 0);
    for (std::size_t d = 0; d != indices.size(); ++d) {
        if (!indices[d]) continue;
        const std::vector<std::int64_t> numbers =
            checked_indices(e, *indices[d], self.dim(d), negative_index::from_end);
        std::size_t i = 0;
        for_each_index<1>(common, {broadcast_strides(indices[d]->shape(), common)},
            [&](const auto& at) { bases[i++] += numbers[idx(at[0])] * dense[d]; });
    }
    return bases;
}

[[nodiscard]] indexed_positions positions_of(
    evaluation& e, const tensor& self, list<std::optional<value>> given) {
    for (const std::optional<value>& v : given) {
        if (v && is_mask(e.input(*v).type()) && e.input(*v).rank() == 0)
            e.fail("a mask of rank 0 is not supported");
    }
    if (e.failed()) return {};
    const std::vector<std::optional<tensor>> indices = index_tensors(e, given, self.rank());
    const extents common = common_shape(e, indices);
    if (e.failed()) return {};
    const free_axes axes = free_axes_of(self, indices);
    const std::vector<std::int64_t> bases = indexed_bases(e, self, indices, common);
    if (e.failed()) return {};
    indexed_positions result{axes.before, {}};
    result.shape.insert(result.shape.end(), common.begin(), common.end());
    result.shape.insert(result.shape.end(), axes.after.begin(), axes.after.end());
    for_each_index<1>(axes.before, {axes.strides_before}, [&](const auto& outer) {
        for (const std::int64_t base : bases) {
            for_each_index<1>(axes.after, {axes.strides_after},
                [&](const auto& inner) { result.positions.push_back(idx(outer[0] + base + inner[0])); });
        }
    });
    return result;
}
template <one_of<ops<aten::index_tensor, aten::_unsafe_index_tensor>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    const indexed_positions from = positions_of(e, in, a.indices);
    if (e.failed()) return;
    if (from.shape != e.output_shape())
        return e.fail("a mask selects a different number of elements than inference says");
    move_elements(e.output(), in, [&](auto move) {
        for (std::size_t i = 0; i != from.positions.size(); ++i) move(i, from.positions[i]);
    });
}
template <one_of<ops<aten::index_put, aten::_unsafe_index_put>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const indexed_positions to = positions_of(e, e.input(a.self), a.indices);
    if (e.failed()) return;
    if (!broadcasts_to(e.input(a.values).shape(), to.shape)) return e.fail("values do not broadcast");
    e.set_output(duplicate(e.input(a.self)));
    const tensor values = broadcast_to(e.input(a.values), to.shape);
    const auto positions = [&](auto move) {
        for (std::size_t i = 0; i != to.positions.size(); ++i) move(to.positions[i], i);
    };
    if (a.accumulate) {
        add_elements(e.output(), values, positions);
    } else {
        move_elements(e.output(), values, positions);
    }
}

// --- parts -----------------------------------------------------------------------------

void evaluate(aten::select_scatter, const args<aten::select_scatter>& a, evaluation& e) {
    e.set_output(duplicate(e.input(a.self)));
    const axis_view view(e.output_shape(), a.dim);
    extents strides = row_major_strides(e.output_shape());
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(wrap_axis(a.dim, strides.size())));
    const std::int64_t at = a.index < 0 ? a.index + view.size : a.index;
    store_strided(e.output(), e.input(a.src).cast(e.output_type()), strides, at * view.inner);
}
void evaluate(aten::slice_scatter, const args<aten::slice_scatter>& a, evaluation& e) {
    e.set_output(duplicate(e.input(a.self)));
    tensor& out = e.output();
    extents strides = row_major_strides(out.shape());
    extents part = out.shape();
    const std::size_t axis = wrap_axis(a.dim, out.rank());
    const slice_range range = clamped_slice(a.start, a.end, out.dim(axis));
    part[axis] = range.count(a.step);
    const std::int64_t offset = range.start * strides[axis];
    strides[axis] = stepped(strides[axis], a.step, part[axis]);
    store_strided(out, broadcast_to(e.input(a.src).cast(out.type()), part), strides, offset);
}
void evaluate(aten::one_hot, const args<aten::one_hot>& a, evaluation& e) {
    tensor& out = e.output();
    const std::int64_t classes = out.rank() == 0 ? 1 : out.shape().back();
    const std::vector<std::int64_t> indices = checked_indices(e, e.input(a.self), classes);
    if (e.failed()) return;
    std::vector<std::int64_t> flags(idx(out.size()), 0);
    for (std::size_t i = 0; i != indices.size(); ++i) flags[i * idx(classes) + idx(indices[i])] = 1;
    out.assign(flags);
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_index_tensor_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
