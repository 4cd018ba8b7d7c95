// SPDX-License-Identifier: MIT
// Defines the builders of headrace::spell_kernel_ops: parts, padding, resizing and indexed writes.
#ifndef HEADRACE_PASSES_EXECUTORCH_KERNEL_BUILDERS_HPP
#define HEADRACE_PASSES_EXECUTORCH_KERNEL_BUILDERS_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <headrace/infer/aten/resize.hpp>
#include <headrace/infer/aten/view.hpp>
#include <headrace/passes/decompose/joining.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/passes/support/resizing.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace::executorch {

/// Returns t and movedim as permute.
template <class Args>
value permuted(emit<ops<aten::permute>> e, const Args& a) {
    const result<shape_builder> order = build::order_of(a, e.rank(a.self));
    if (!order) return e.fail(order.error());
    return e.make<aten::permute>({.self = a.self, .dims = int_list(order.value())});
}

/// Returns the parts of a split, whose sizes are those of the results.
template <class Args>
value_list parts_of(emit<ops<aten::narrow>> e, const Args& a) {
    const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
    value_list parts;
    std::int64_t start = 0;
    for (std::uint32_t i = 0; i != e.current().result_count && !e.failed(); ++i) {
        const std::int64_t size = e.result_meta(i).shape[axis];
        if constexpr (requires { a.indices; }) {
            const std::int64_t available = e.shape(a.self)[axis];
            start = std::min(part_start(a.indices, i, available), available - size);
        }
        parts.push_back(narrow(e, a.self, axis, start, size));
        start += size;
    }
    return parts;
}

/// Puts the end of each padded axis before it and its beginning after it; the list has the last axis first.
inline value padded_circularly(emit<ops<aten::narrow, aten::cat>> e, const args<aten::pad>& a) {
    value v = a.self;
    for (std::size_t i = 0; i + 1 < a.pad.size() && i / 2 < e.rank(a.self) && v; i += 2) {
        const std::size_t axis = e.rank(a.self) - 1 - i / 2;
        const std::int64_t size = e.shape(v)[axis];
        const std::int64_t before = a.pad[i];
        const std::int64_t after = a.pad[i + 1];
        if (before < 0 || after < 0)
            return e.unsupported("circular padding by a negative size; slice the tensor instead");
        value_list parts;
        if (before > 0) parts.push_back(narrow(e, v, axis, size - before, before));
        parts.push_back(v);
        if (after > 0) parts.push_back(narrow(e, v, axis, 0, after));
        if (parts.size() != 1) v = cat(e, parts, axis);
    }
    return v;
}
using pad_ops =
    ops<aten::constant_pad_nd, aten::reflection_pad1d, aten::reflection_pad2d, aten::reflection_pad3d,
        aten::replication_pad1d, aten::replication_pad2d, aten::replication_pad3d, aten::narrow, aten::cat>;
inline value padded(emit<pad_ops> e, const args<aten::pad>& a) {
    const std::size_t axes = a.pad.size() / 2;
    if (a.mode == "constant")
        return e.make<aten::constant_pad_nd>(
            {.self = a.self, .pad = a.pad, .value = scalar(a.value.value_or(0.0))});
    if (a.mode == "reflect" && axes == 1) return e.make<aten::reflection_pad1d>({a.self, a.pad});
    if (a.mode == "reflect" && axes == 2) return e.make<aten::reflection_pad2d>({a.self, a.pad});
    if (a.mode == "reflect" && axes == 3) return e.make<aten::reflection_pad3d>({a.self, a.pad});
    if (a.mode == "replicate" && axes == 1) return e.make<aten::replication_pad1d>({a.self, a.pad});
    if (a.mode == "replicate" && axes == 2) return e.make<aten::replication_pad2d>({a.self, a.pad});
    if (a.mode == "replicate" && axes == 3) return e.make<aten::replication_pad3d>({a.self, a.pad});
    if (a.mode == "circular") return padded_circularly(e, a);
    return e.unsupported("ExecuTorch has no kernel for padding of this mode; write it as a cat of slices");
}

using upsample_ops = ops<aten::upsample_nearest2d_vec, aten::upsample_bilinear2d_vec>;
/// Resizes an image. The kernels take either the sizes or the scales, which must yield the sizes.
inline value upsampled(emit<upsample_ops> e, value image, sampling_mode mode, const int_list& size,
    std::array<double, 2> scales) {
    if (e.failed()) return {};
    const sizes in = sizes(e.shape(image)).subspan(2);
    bool by_scales = false;
    bool has_all = true;  // scales derived from the sizes are exact
    for (std::size_t i = 0; i != 2; ++i) {
        const double scale = counting_scale(mode, in[i], size[i], scales[i]);
        by_scales = by_scales || scale > 0;
        has_all = has_all && (scale > 0 || size[i] % in[i] == 0);
        scales[i] = scale > 0 ? scale : static_cast<double>(size[i] / in[i]);
    }
    const list<double> all(scales.data(), scales.size());
    if (by_scales) {
        const auto scaled = scaled_sizes(in, all);
        if (!has_all || !scaled || scaled.value() != shape_builder(size))
            return e.unsupported("ExecuTorch's kernel takes sizes or scales, and these scales give others");
    }
    const auto resized = by_scales ? std::nullopt : std::optional(size);
    const auto scaled_by = by_scales ? std::optional(all) : std::nullopt;
    if (mode == sampling_mode::nearest)
        return e.make<aten::upsample_nearest2d_vec>({image, resized, scaled_by});
    return e.make<aten::upsample_bilinear2d_vec>({image, resized, mode == sampling_mode::aligned, scaled_by});
}
template <class Op>
value resized_image(emit<upsample_ops> e, const args<Op>& a) {
    return upsampled(e, a.self, sampling_mode_of<Op>(a), a.output_size, resize_scales(a));
}
/// Resizes one axis as an image of one row.
template <class Op>
value resized_row(emit<joined<upsample_ops, ops<aten::unsqueeze, aten::squeeze_dim>>> e, const args<Op>& a) {
    const value image = e.make<aten::unsqueeze>({.self = resized_input(a), .dim = 2});
    const int_list size{1, e.result_meta().shape[2]};
    const value made = upsampled(e, image, sampling_mode_of<Op>(a), size, {0, resize_scales(a)[0]});
    return e.make<aten::squeeze_dim>({.self = made, .dim = 2});
}
/// Selects the elements nearest to those of the result, along one axis after the other.
template <class Args>
value nearest_exact(emit<ops<aten::index_select>> e, const Args& a) {
    value v = resized_input(a);
    const auto scales = resize_scales(a);
    const int_list out = e.result_meta().shape;
    for (std::size_t axis = 2; axis < out.size() && v; ++axis) {
        const std::int64_t in = e.shape(v)[axis];
        const double scale = counting_scale(sampling_mode::nearest_exact, in, out[axis], scales[axis - 2]);
        const float step = scale > 0 ? static_cast<float>(1 / scale)
                                     : static_cast<float>(in) / static_cast<float>(out[axis]);
        const value positions = e.constant_of(dtype::int64, shape_builder{out[axis]}, [&](std::size_t i) {
            const float at = std::floor((static_cast<float>(i) + 0.5F) * step);
            return scalar(std::min(static_cast<std::int64_t>(at), in - 1));
        });
        v = e.make<aten::index_select>(
            {.self = v, .dim = static_cast<std::int64_t>(axis), .index = positions});
    }
    return v;
}

/// Writes or adds elements at the given indices of an axis.
template <class Op>
value written(
    emit<ops<aten::index_put, aten::unsqueeze, aten::mul_scalar, aten::_to_copy>> e, const args<Op>& a) {
    const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
    std::vector<std::optional<value>> indices(axis + 1);
    if (e.rank(a.self) == 0)
        return e.unsupported("ExecuTorch's index_put does not write to a tensor of rank 0");
    indices[axis] = e.rank(a.index) == 0 ? e.make<aten::unsqueeze>({.self = a.index, .dim = 0}) : a.index;
    value values = a.source;
    bool adds = false;
    if constexpr (__is_same(Op, aten::index_add)) {
        adds = true;
        if (a.alpha.to_double() != 1) values = e.make<aten::mul_scalar>({.self = values, .other = a.alpha});
        // The product with alpha is a number.
        if (is_boolean(e.dtype(a.self)) && !is_boolean(e.dtype(values)))
            values = e.make<aten::_to_copy>({.self = values, .dtype = dtype::boolean});
    }
    return e.make<aten::index_put>({a.self, list<std::optional<value>>(indices), values, adds});
}

}  // namespace headrace::executorch

#endif
