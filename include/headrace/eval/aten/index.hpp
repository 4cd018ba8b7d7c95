// SPDX-License-Identifier: MIT
// Defines the kernels that read and write tensors by index.
#ifndef HEADRACE_EVAL_ATEN_INDEX_HPP
#define HEADRACE_EVAL_ATEN_INDEX_HPP

#include <functional>
#include <optional>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/aten/view.hpp>
#include <headrace/eval/map.hpp>

namespace headrace::eval {

/// The meaning of an index below 0.
enum class negative_index : unsigned char { refused, from_end };

/// Returns indices into an axis of that size. Fails on an index that is out of range.
[[nodiscard]] inline std::vector<std::int64_t> checked_indices(
    evaluation& e, const tensor& t, std::int64_t size, negative_index negative = negative_index::refused) {
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

/// Moves elements between two tensors of one dtype: `positions(move)` calls move(to, from). With `add`,
/// elements are summed instead of copied.
template <class F>
void move_elements(tensor& to, const tensor& from, F positions) {
    visit_width(to.type(), [&]<class U>(U) {
        const std::span<U> target = to.mutable_data<U>();
        const std::span<const U> source = from.data<U>();
        positions([&](std::size_t t, std::size_t s) { target[t] = source[s]; });
    });
}
template <class F>
void add_elements(tensor& to, const tensor& from, F positions) {
    visit_compute(to.type(), [&]<class T>(T) {
        std::vector<T> target = to.to<T>();
        const std::vector<T> source = from.to<T>();
        positions([&](std::size_t t, std::size_t s) { target[t] = plus()(target[t], source[s]); });
        to.assign(target);
    });
}

/// Reads whole slices of an axis.
inline void take_slices(evaluation& e, const tensor& in, std::int64_t axis, const tensor& at) {
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
inline void evaluate(aten::embedding, const args<aten::embedding>& a, evaluation& e) {
    take_slices(e, e.input(a.weight), 0, e.input(a.indices));
}
inline void evaluate(aten::index_select, const args<aten::index_select>& a, evaluation& e) {
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
inline void evaluate(aten::gather, const args<aten::gather>& a, evaluation& e) {
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
inline void evaluate(aten::scatter_src, const args<aten::scatter_src>& a, evaluation& e) {
    e.set_output(duplicate(e.input(a.self)));
    const auto from = positions_within(e.input(a.index).shape(), e.input(a.src).shape());
    move_elements(e.output(), e.input(a.src), [&](auto move) {
        for_each_indexed(e, e.input(a.index), e.output_shape(), a.dim,
            [&](std::size_t p, std::size_t i) { move(p, from[i]); });
    });
}
inline void evaluate(aten::scatter_add, const args<aten::scatter_add>& a, evaluation& e) {
    e.set_output(duplicate(e.input(a.self)));
    const auto from = positions_within(e.input(a.index).shape(), e.input(a.src).shape());
    add_elements(e.output(), e.input(a.src), [&](auto add) {
        for_each_indexed(e, e.input(a.index), e.output_shape(), a.dim,
            [&](std::size_t p, std::size_t i) { add(p, from[i]); });
    });
}
inline void evaluate(aten::scatter_value, const args<aten::scatter_value>& a, evaluation& e) {
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
inline void evaluate(aten::index_copy, const args<aten::index_copy>& a, evaluation& e) {
    e.set_output(duplicate(e.input(a.self)));
    move_elements(e.output(), e.input(a.source),
        [&](auto move) { put_slices(e, e.input(a.index), e.output_shape(), a.dim, move); });
}
inline void evaluate(aten::index_fill_int_scalar, const args<aten::index_fill_int_scalar>& a, evaluation& e) {
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
inline void evaluate(aten::index_add, const args<aten::index_add>& a, evaluation& e) {
    e.set_output(duplicate(e.input(a.self)));
    visit_compute(e.output_type(), [&]<class T>(T) {
        std::vector<T> source = e.input(a.source).to<T>();
        for (T& x : source) x = times()(x, number_as<T>(a.alpha, e.output_type()));
        add_elements(e.output(), tensor::of(e.output_type(), e.input(a.source).shape(), source),
            [&](auto add) { put_slices(e, e.input(a.index), e.output_shape(), a.dim, add); });
    });
}

}  // namespace headrace::eval

#endif
