// SPDX-License-Identifier: MIT
// Defines headrace::build::average_pool, shared by the lowerings of float and of quantized pooling.
#ifndef HEADRACE_PASSES_SUPPORT_POOLING_HPP
#define HEADRACE_PASSES_SUPPORT_POOLING_HPP

#include <utility>

#include <headrace/passes/support/convolution.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace::build {

using average_pool_ops = joined<ops<tosa::avg_pool2d>, transpose_ops, crop_ops, pad_ops>;

/// Pads an image with `with`; `pad` is top, bottom, left and right.
inline value pad_image(emit<pad_ops> e, value channels_last, const shape_builder& pad, std::int64_t with) {
    if (all_are(pad, 0)) return channels_last;
    const shape_builder padding{0, 0, pad[0], pad[1], pad[2], pad[3], 0, 0};
    return e.make<tosa::pad>({.input1 = channels_last,
        .padding = const_shape(e, padding),
        .pad_const = e.splat(with, e.dtype(channels_last), 1)});
}

/// AVG_POOL2D of [N, C, H, W] with channels last, without the factor of divisor_override. TOSA excludes
/// padding from averages; if PyTorch counts it, or divides by the caller's number regardless of the window,
/// it becomes a PAD of zeros.
inline value average_pool(emit<average_pool_ops> e, const args<aten::avg_pool2d>& a, std::int64_t zero = 0) {
    value input = transpose(e, a.self, to_channels_last(4));
    auto windows = windows_of({a.kernel_size, a.stride, a.padding, int_list{1, 1}}, 2);
    if (!windows) return e.fail(std::move(windows).error());
    auto& w = windows.value();
    if (a.count_include_pad) {
        input = pad_image(e, input, shape_builder{w[0].before, w[0].after, w[1].before, w[1].after}, zero);
        for (window& axis : w) axis.before = axis.after = 0;
    }
    auto fitted = fit_windows(e.shape(input), std::span(w).first(2), sizes(e.result_meta().shape).subspan(2));
    input = crop(e, input, fitted.used);
    if (a.divisor_override) {
        input = pad_image(e, input, std::exchange(fitted.pad, shape_builder{0, 0, 0, 0}), zero);
    }
    const dtype type = e.dtype(input);
    const bool floating = is_floating(type);  // integers of either width are summed in INT32
    // Only INT8 has zero points; without padding, the average does not depend on them.
    const std::int64_t said = type == dtype::int8 ? zero : 0;
    return e.make<tosa::avg_pool2d>({.input = input,
        .input_zp = zero_point(e, type, said),
        .output_zp = zero_point(e, type, said),
        .kernel = int_list(fitted.kernel),
        .stride = int_list(fitted.stride),
        .pad = int_list(fitted.pad),
        .acc_type = floating ? dtype::float32 : dtype::int32});
}

}  // namespace headrace::build

#endif
