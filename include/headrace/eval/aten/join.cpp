// SPDX-License-Identifier: MIT
// Defines the kernels that join, repeat, rearrange and pad tensors.
#include <headrace/eval/aten/join.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>
#include <headrace/infer/aten/join.hpp>

namespace headrace::eval {

void concatenate(evaluation& e, list<value> tensors, std::int64_t axis) {
    tensor& out = e.output();
    const std::size_t a = wrap_axis(axis, out.rank());
    const extents strides = row_major_strides(out.shape());
    std::int64_t offset = 0;
    for (const value v : tensors) {
        const tensor in = e.input(v).cast(out.type());
        if (in.rank() != out.rank()) continue;
        store_strided(out, in, strides, offset);
        offset += in.dim(a) * strides[a];
    }
}

void repeat_into(evaluation& e, value self) {
    const tensor& in = e.input(self);
    extents shape = in.shape();
    shape.insert(shape.begin(), e.output().rank() - in.rank(), 1);
    const tensor wide = in.reshaped(shape);
    copy_by_axis(e.output(), wide, [&](std::size_t d, std::int64_t i) { return i % shape[d]; });
}

namespace {

void evaluate(aten::cat, const args<aten::cat>& a, evaluation& e) { concatenate(e, a.tensors, a.dim); }
template <one_of<ops<aten::hstack, aten::vstack, aten::dstack, aten::column_stack>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    tensor& out = e.output();
    const auto axis = static_cast<std::size_t>(aten::stacked_axis<Op>(out.rank()));
    const extents strides = row_major_strides(out.shape());
    std::int64_t offset = 0;
    for (const value v : a.tensors) {
        const tensor in = e.input(v).cast(out.type());
        const shape_builder shape = aten::stacked_shape<Op>(in.shape());
        store_strided(out, in.reshaped(extents(shape.begin(), shape.end())), strides, offset);
        offset += shape[axis] * strides[axis];
    }
}
/// Each round computes out[i + 1] - out[i].
void evaluate(aten::diff, const args<aten::diff>& a, evaluation& e) {
    extents shape = e.input(a.self).shape();
    const std::size_t axis = wrap_axis(a.dim, shape.size());
    const dtype type = e.output_type();
    visit_compute(type, [&]<class T>(T) {
        tensor now = e.input(a.self);
        const auto join = [&](const tensor& x, const tensor& y) {
            shape[axis] = x.dim(axis) + y.dim(axis);
            tensor both(type, shape);
            const extents strides = row_major_strides(shape);
            store_strided(both, x.cast(type), strides, 0);
            store_strided(both, y.cast(type), strides, x.dim(axis) * strides[axis]);
            return both;
        };
        if (a.prepend) now = join(e.input(*a.prepend), now);
        if (a.append) now = join(now, e.input(*a.append));
        for (std::int64_t n = 0; n != a.n && now.dim(axis) != 0; ++n) {
            const std::vector<T> in = now.to<T>();
            const axis_view from(now.shape(), a.dim);
            shape[axis] = from.size - 1;
            const axis_view to(shape, a.dim);
            std::vector<T> out(idx(elements_in(shape)));
            to.for_each_line([&](std::int64_t o, std::int64_t k) {
                for (std::int64_t i = 0; i != to.size; ++i)
                    out[to.at(o, i, k)] = minus()(in[from.at(o, i + 1, k)], in[from.at(o, i, k)]);
            });
            now = tensor::of(type, shape, out);
        }
        e.set_output(now);
    });
}
void evaluate(aten::stack, const args<aten::stack>& a, evaluation& e) {
    tensor& out = e.output();
    const std::size_t axis = wrap_axis(a.dim, out.rank());
    extents strides = row_major_strides(out.shape());
    const std::int64_t step = strides[axis];
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis));
    for (std::size_t i = 0; i != a.tensors.size(); ++i) {
        const tensor in = e.input(a.tensors[i]).cast(out.type());
        store_strided(out, in, strides, static_cast<std::int64_t>(i) * step);
    }
}

template <one_of<ops<aten::repeat, aten::tile>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    repeat_into(e, a.self);
}
void evaluate(
    aten::repeat_interleave_self_int, const args<aten::repeat_interleave_self_int>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    const tensor flat = a.dim && in.rank() != 0 ? in : in.reshaped({in.size()});
    const std::size_t axis = wrap_axis(a.dim.value_or(0), flat.rank());
    copy_by_axis(
        e.output(), flat, [&](std::size_t d, std::int64_t i) { return d == axis ? i / a.repeats : i; });
}
void evaluate(aten::roll, const args<aten::roll>& a, evaluation& e) {
    const tensor& in = e.input(a.self);
    const bool flat = a.dims.empty();
    const tensor from = flat ? in.reshaped({in.size()}) : in;
    extents shift(from.rank(), 0);
    for (std::size_t k = 0; k != a.shifts.size() && !shift.empty(); ++k) {
        const std::size_t d = flat ? 0 : wrap_axis(a.dims[k], from.rank());
        if (from.dim(d) != 0) shift[d] = (shift[d] + a.shifts[k] % from.dim(d)) % from.dim(d);
    }
    tensor out(in.type(), from.shape());
    copy_by_axis(out, from, [&](std::size_t d, std::int64_t i) {
        const std::int64_t size = from.dim(d);
        return ((i - shift[d]) % size + size) % size;
    });
    e.set_output(out);
}
/// Matrix d of the grid repeats tensor d along axis d; "xy" swaps the first two axes.
void evaluate(aten::meshgrid_indexing, const args<aten::meshgrid_indexing>& a, evaluation& e) {
    for (std::size_t k = 0; k != a.tensors.size(); ++k) {
        const bool swapped = a.indexing == "xy" && k < 2 && a.tensors.size() > 1;
        extents strides(a.tensors.size(), 0);
        strides[swapped ? 1 - k : k] = 1;
        copy_strided(e.output(k), e.input(a.tensors[k]), strides);
    }
}

/// Splits self into `parts`, permutes these, and reshapes them to the result's shape.
inline void shuffle(evaluation& e, value self, const extents& parts, std::span<const std::size_t> order) {
    e.set_output(permuted(e.input(self).reshaped(parts), order));
}
void evaluate(aten::pixel_shuffle, const args<aten::pixel_shuffle>& a, evaluation& e) {
    const extents& s = e.input(a.self).shape();
    const std::size_t n = s.size();
    const std::int64_t r = a.upscale_factor;
    const std::int64_t lead = elements_in(std::span(s).first(n - 3));
    const std::size_t order[] = {0, 1, 4, 2, 5, 3};
    shuffle(e, a.self, {lead, s[n - 3] / (r * r), r, r, s[n - 2], s[n - 1]}, order);
}
void evaluate(aten::pixel_unshuffle, const args<aten::pixel_unshuffle>& a, evaluation& e) {
    const extents& s = e.input(a.self).shape();
    const std::size_t n = s.size();
    const std::int64_t r = a.downscale_factor;
    const std::int64_t lead = elements_in(std::span(s).first(n - 3));
    const std::size_t order[] = {0, 1, 3, 5, 2, 4};
    shuffle(e, a.self, {lead, s[n - 3], s[n - 2] / r, r, s[n - 1] / r, r}, order);
}
void evaluate(aten::channel_shuffle, const args<aten::channel_shuffle>& a, evaluation& e) {
    const axis_view channels(e.input(a.self).shape(), 1);
    const std::size_t order[] = {0, 2, 1, 3};
    shuffle(e, a.self, {channels.outer, a.groups, channels.size / a.groups, channels.inner}, order);
}

/// Keeps the elements for which `keep(column - row)` is true.
template <class F>
void keep_triangle(evaluation& e, value self, F keep) {
    e.set_output(duplicate(e.input(self)));
    tensor& out = e.output();
    const std::int64_t columns = out.shape().back();
    const std::int64_t rows = out.dim(out.rank() - 2);
    visit_width(out.type(), [&]<class U>(U) {
        for (std::int64_t i = 0; i != out.size(); ++i) {
            if (!keep(i % columns - i / columns % rows)) out.mutable_data<U>()[idx(i)] = U{};
        }
    });
}
void evaluate(aten::tril, const args<aten::tril>& a, evaluation& e) {
    keep_triangle(e, a.self, [&](std::int64_t d) { return d <= a.diagonal; });
}
void evaluate(aten::triu, const args<aten::triu>& a, evaluation& e) {
    keep_triangle(e, a.self, [&](std::int64_t d) { return d >= a.diagonal; });
}

// --- padding ---------------------------------------------------------------------------

struct axis_padding {
    std::int64_t before = 0, after = 0;  ///< negative: crop
};
/// Returns the index of the input that padding reads for index i of the result, on an axis of `size` input
/// elements; -1 for the padding value. Circular padding wraps around the elements that are left after
/// cropping.
[[nodiscard]] std::int64_t padded_source(
    std::string_view mode, std::int64_t i, std::int64_t size, axis_padding by) {
    i -= by.before;
    if (mode == "circular") {
        const std::int64_t first = std::max<std::int64_t>(-by.before, 0);
        const std::int64_t count = size - first - std::max<std::int64_t>(-by.after, 0);
        return first + ((i - first) % count + count) % count;
    }
    if (i >= 0 && i < size) return i;
    if (mode == "replicate") return i < 0 ? 0 : size - 1;
    if (mode == "reflect") return i < 0 ? -i : 2 * (size - 1) - i;
    return -1;
}
/// `pad` holds the padding before and after each axis, last axis first.
void pad_into(evaluation& e, value self, const int_list& pad, std::string_view mode, const scalar& fill) {
    const tensor& in = e.input(self);
    tensor& out = e.output();
    if (mode == "constant") {
        visit_compute(out.type(),
            [&]<class T>(T) { out.assign(std::vector<T>(idx(out.size()), number_as<T>(fill, out.type()))); });
    }
    copy_by_axis(out, in, [&](std::size_t d, std::int64_t i) {
        const std::size_t at = 2 * (in.rank() - 1 - d);
        const axis_padding by = at < pad.size() ? axis_padding{pad[at], pad[at + 1]} : axis_padding{};
        return padded_source(mode, i, in.dim(d), by);
    });
}
void evaluate(aten::constant_pad_nd, const args<aten::constant_pad_nd>& a, evaluation& e) {
    pad_into(e, a.self, a.pad, "constant", a.value);
}
void evaluate(aten::pad, const args<aten::pad>& a, evaluation& e) {
    pad_into(e, a.self, a.pad, a.mode, a.value.value_or(0.0));
}
template <one_of<ops<aten::reflection_pad1d, aten::reflection_pad2d, aten::reflection_pad3d>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    pad_into(e, a.self, a.padding, "reflect", 0);
}
template <one_of<ops<aten::replication_pad1d, aten::replication_pad2d, aten::replication_pad3d>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    pad_into(e, a.self, a.padding, "replicate", 0);
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_join_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
