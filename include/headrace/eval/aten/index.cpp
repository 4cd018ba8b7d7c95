// SPDX-License-Identifier: MIT
// Defines the kernels that read and write tensors by index.
#include <headrace/eval/aten/index.hpp>

#include <functional>
#include <optional>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/iterate.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>

namespace headrace::eval {

std::vector<std::int64_t> checked_indices(
    evaluation& e, const tensor& t, std::int64_t size, negative_index negative) {
    std::vector<std::int64_t> indices = t.to<std::int64_t>();
    for (std::int64_t& i : indices) {
        const std::int64_t given = i;
        if (i < 0 && negative == negative_index::from_end) i += size;
        if (i >= 0 && i < size) continue;
        e.fail("index " + std::to_string(given) + " is out of range for size " + std::to_string(size));
        i = 0;
    }
    return indices;
}

namespace {

/// Reads whole slices of an axis.
void take_slices(evaluation& e, const tensor& in, std::int64_t axis, const tensor& at) {
    const axis_view from(in.shape(), axis);
    const std::vector<std::int64_t> indices = checked_indices(e, at, from.size);
    if (e.failed()) return;
    const auto count = static_cast<std::int64_t>(indices.size());
    move_elements(e.output(), in, [&](auto move) {
        from.for_each_line([&](std::int64_t o, std::int64_t k) {
            for (std::int64_t i = 0; i != count; ++i) {
                move(idx((o * count + i) * from.inner + k), from.at(o, indices[idx(i)], k));
            }
        });
    });
}
void evaluate(aten::embedding, const args<aten::embedding>& a, evaluation& e) {
    take_slices(e, e.input(a.weight), 0, e.input(a.indices));
}
void evaluate(aten::index_select, const args<aten::index_select>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    take_slices(e, in.rank() == 0 ? in.reshaped({1}) : in, a.dim, e.input(a.index));
}

/// Returns the shape with at least one axis: a scalar paired with an index counts as a tensor of rank 1.
[[nodiscard]] inline extents at_least_1d(const extents& shape) { return shape.empty() ? extents{1} : shape; }

/// Calls `f(p, i)` for each element of `index`: i is its position there; p is the position in a tensor of
/// shape `shape` that it selects along the axis.
template <class F>
void for_each_indexed(evaluation& e, const tensor& at, const extents& shape, std::int64_t axis, F f) {
    const extents indexed = at_least_1d(shape);
    const std::size_t a = wrap_axis(axis, indexed.size());
    extents strides = row_major_strides(indexed);
    const std::int64_t step = strides[a];
    strides[a] = 0;
    const std::vector<std::int64_t> indices = checked_indices(e, at, indexed[a]);
    if (e.failed()) return;
    std::size_t i = 0;
    for_each_index<1>(at_least_1d(at.shape()), {strides}, [&](const auto& offset) {
        f(idx(offset[0] + indices[i] * step), i);
        ++i;
    });
}
void evaluate(aten::gather, const args<aten::gather>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    move_elements(e.output(), in, [&](auto move) {
        for_each_indexed(
            e, e.input(a.index), in.shape(), a.dim, [&](std::size_t p, std::size_t i) { move(i, p); });
    });
}
/// Returns the positions in `source` of the elements that correspond to those of `index`, whose axes may be
/// shorter.
[[nodiscard]] inline std::vector<std::size_t> positions_within(const extents& part, const extents& source) {
    std::vector<std::size_t> positions;
    for_each_index<1>(at_least_1d(part), {row_major_strides(at_least_1d(source))},
        [&](const auto& at) { positions.push_back(idx(at[0])); });
    return positions;
}
void evaluate(aten::scatter_src, const args<aten::scatter_src>& a, evaluation& e) {
    e.set_output(duplicate(e.input(a.self)));
    const auto from = positions_within(e.input(a.index).shape(), e.input(a.src).shape());
    move_elements(e.output(), e.input(a.src), [&](auto move) {
        for_each_indexed(e, e.input(a.index), e.output_shape(), a.dim,
            [&](std::size_t p, std::size_t i) { move(p, from[i]); });
    });
}
void evaluate(aten::scatter_add, const args<aten::scatter_add>& a, evaluation& e) {
    e.set_output(duplicate(e.input(a.self)));
    const auto from = positions_within(e.input(a.index).shape(), e.input(a.src).shape());
    add_elements(e.output(), e.input(a.src), [&](auto add) {
        for_each_indexed(e, e.input(a.index), e.output_shape(), a.dim,
            [&](std::size_t p, std::size_t i) { add(p, from[i]); });
    });
}
void evaluate(aten::scatter_value, const args<aten::scatter_value>& a, evaluation& e) {
    e.set_output(duplicate(e.input(a.self)));
    move_elements(e.output(), operand(e, a.value).cast(e.output_type()), [&](auto move) {
        for_each_indexed(
            e, e.input(a.index), e.output_shape(), a.dim, [&](std::size_t p, std::size_t) { move(p, 0); });
    });
}

/// Writes whole slices of an axis.
template <class Move>
void put_slices(evaluation& e, const tensor& at, const extents& shape, std::int64_t axis, Move move,
    negative_index negative = negative_index::refused) {
    const axis_view to(shape, axis);
    const std::vector<std::int64_t> indices = checked_indices(e, at, to.size, negative);
    if (e.failed()) return;
    const auto count = static_cast<std::int64_t>(indices.size());
    to.for_each_line([&](std::int64_t o, std::int64_t k) {
        for (std::int64_t i = 0; i != count; ++i) {
            move(to.at(o, indices[idx(i)], k), idx((o * count + i) * to.inner + k));
        }
    });
}
void evaluate(aten::index_copy, const args<aten::index_copy>& a, evaluation& e) {
    e.set_output(duplicate(e.input(a.self)));
    move_elements(e.output(), e.input(a.source),
        [&](auto move) { put_slices(e, e.input(a.index), e.output_shape(), a.dim, move); });
}
void evaluate(aten::index_fill_int_scalar, const args<aten::index_fill_int_scalar>& a, evaluation& e) {
    e.set_output(duplicate(e.input(a.self)));
    visit_compute(e.output_type(), [&]<class T>(T) {
        const tensor value =
            tensor::of(e.output_type(), {}, std::vector<T>{number_as<T>(a.value, e.output_type())});
        move_elements(e.output(), value, [&](auto move) {
            put_slices(
                e, e.input(a.index), e.output_shape(), a.dim,
                [&](std::size_t to, std::size_t) { move(to, 0); }, negative_index::from_end);
        });
    });
}
void evaluate(aten::index_add, const args<aten::index_add>& a, evaluation& e) {
    e.set_output(duplicate(e.input(a.self)));
    visit_compute(e.output_type(), [&]<class T>(T) {
        std::vector<T> source = e.input(a.source).to<T>();
        for (T& x : source) x = times()(x, number_as<T>(a.alpha, e.output_type()));
        add_elements(e.output(), tensor::of(e.output_type(), e.input(a.source).shape(), source),
            [&](auto add) { put_slices(e, e.input(a.index), e.output_shape(), a.dim, add); });
    });
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_index_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
