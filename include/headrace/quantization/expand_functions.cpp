// SPDX-License-Identifier: MIT
// Defines the members of headrace::expand_functions.

#include <headrace/quantization/expand_functions.hpp>

namespace headrace {

value expand_functions::product_of(emit<ops<aten::bmm, aten::view, aten::expand>> e, value a, value b) {
    const sizes shape_a = e.shape(a);
    const sizes shape_b = e.shape(b);
    if (e.failed()) return {};
    auto batch = broadcast(shape_a.first(shape_a.size() - 2), shape_b.first(shape_b.size() - 2));
    if (!batch) return e.fail(std::move(batch).error());
    shape_builder all(batch.value());
    all.push_back(shape_a[shape_a.size() - 2]);
    all.push_back(shape_b.back());
    const auto joined_batch = [&](value v) {
        const sizes shape = e.shape(v);
        shape_builder wide(batch.value());
        wide.append(shape.last(2));
        const value expanded = e.make<aten::expand>({.self = v, .size = int_list(wide)});
        return e.make<aten::view>({.self = expanded,
            .size = {element_count(batch.value()), shape[shape.size() - 2], shape.back()}});
    };
    const value first = joined_batch(a);
    const value second = joined_batch(b);
    return e.make<aten::view>({.self = e.make<aten::bmm>(first, second), .size = int_list(all)});
}

value expand_functions::pool(
    emit<ops<aten::slice_tensor, aten::avg_pool2d, aten::cat>> e, value v, const int_list& size) {
    const int_list in = e.shape(v);
    if (size.size() != 2 || size[0] < 1 || size[1] < 1 || in[2] < 1 || in[3] < 1)
        return e.unsupported("pooling from or to an empty tensor");
    if (!e.may_unroll(size[0] * size[1])) return {};
    const auto begin = [&](std::size_t axis, std::int64_t i) { return i * in[axis] / size[axis - 2]; };
    const auto end = [&](std::size_t axis, std::int64_t i) {
        return ((i + 1) * in[axis] + size[axis - 2] - 1) / size[axis - 2];
    };
    const auto cut = [&](value from, std::size_t axis, std::int64_t i) {
        return e.make<aten::slice_tensor>({.self = from,
            .dim = static_cast<std::int64_t>(axis),
            .start = begin(axis, i),
            .end = end(axis, i)});
    };
    const auto joined_parts = [&](const value_list& parts, std::int64_t axis) {
        return parts.size() == 1 ? parts[0] : e.make<aten::cat>({.tensors = parts, .dim = axis});
    };
    value_list rows;
    for (std::int64_t i = 0; i != size[0]; ++i) {
        value_list row;
        for (std::int64_t k = 0; k != size[1]; ++k) {
            row.push_back(e.make<aten::avg_pool2d>({.self = cut(cut(v, 2, i), 3, k),
                .kernel_size = {end(2, i) - begin(2, i), end(3, k) - begin(3, k)},
                .stride = {1, 1},
                .count_include_pad = false}));
        }
        rows.push_back(joined_parts(row, 3));
    }
    return joined_parts(rows, 2);
}

}  // namespace headrace
