// SPDX-License-Identifier: MIT
// Defines headrace::resizing_rules, which resize as the kernels of ExecuTorch's runtime do.
#ifndef HEADRACE_PASSES_EXECUTORCH_KERNEL_RESIZING_HPP
#define HEADRACE_PASSES_EXECUTORCH_KERNEL_RESIZING_HPP

#include <algorithm>
#include <array>
#include <cmath>

#include <headrace/infer/aten.hpp>
#include <headrace/infer/aten/resize.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/support/resizing.hpp>

namespace headrace {

namespace executorch {

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
using upsample_row_ops = joined<upsample_ops, ops<aten::unsqueeze, aten::squeeze_dim>>;
/// Resizes one axis as an image of one row.
template <class Op>
value upsampled_row(Op, emit<upsample_row_ops> e, const args<Op>& a) {
    const value image = e.make<aten::unsqueeze>({.self = resized_input(a), .dim = 2});
    const int_list size{1, e.result_meta().shape[2]};
    const value resized = upsampled(e, image, sampling_mode_of<Op>(a), size, {0, resize_scales(a)[0]});
    return e.make<aten::squeeze_dim>({.self = resized, .dim = 2});
}
/// Selects the elements nearest to those of the result, along one axis after the other.
value nearest_exact(emit<ops<aten::index_select>> e, const auto& a) {
    value v = resized_input(a);
    const auto scales = resize_scales(a);
    const int_list out = e.result_meta().shape;
    for (std::size_t axis = 2; axis < out.size() && v; ++axis) {
        const std::int64_t in = e.shape(v)[axis];
        const double scale = counting_scale(sampling_mode::nearest_exact, in, out[axis], scales[axis - 2]);
        const float step = scale > 0 ? static_cast<float>(1 / scale)
                                     : static_cast<float>(in) / static_cast<float>(out[axis]);
        const value positions = e.constant_of(dtype::int64, shape_builder{out[axis]}, [&](std::size_t i) {
            constexpr float beyond_all = 0x1p62F;  // a tiny scale makes positions infinite
            const float at = std::min(std::floor((static_cast<float>(i) + 0.5F) * step), beyond_all);
            return scalar(std::min(static_cast<std::int64_t>(at), in - 1));
        });
        v = e.make<aten::index_select>(
            {.self = v, .dim = static_cast<std::int64_t>(axis), .index = positions});
    }
    return v;
}

}  // namespace executorch

/// Rewrites resizing ops to those of images, which the runtime has kernels for.
inline auto resizing_rules() {
    using image_ops = executorch::upsample_ops;
    using row_ops = executorch::upsample_row_ops;
    return rules(on<aten::upsample_nearest2d, aten::upsample_bilinear2d> =
                     code<image_ops>([]<class Op>(Op, emit<image_ops> e, const args<Op>& a) {
                         return executorch::upsampled(
                             e, a.self, sampling_mode_of<Op>(a), a.output_size, resize_scales(a));
                     }),
        on<aten::upsample_nearest1d, aten::upsample_linear1d, aten::upsample_nearest1d_vec,
            aten::upsample_linear1d_vec> = code<row_ops>([](auto op, emit<row_ops> e, const auto& a) {
            return executorch::upsampled_row(op, e, a);
        }),
        on_each<nearest_exact_ops> = code<ops<aten::index_select>>(
            [](emit<ops<aten::index_select>> e, const auto& a) { return executorch::nearest_exact(e, a); }));
}

}  // namespace headrace

#endif
