// SPDX-License-Identifier: MIT
// Defines windows as TOSA takes them, and headrace::build::average_pool, shared by the lowerings of float and
// of quantized pooling.
#ifndef HEADRACE_PASSES_SUPPORT_WINDOWS_HPP
#define HEADRACE_PASSES_SUPPORT_WINDOWS_HPP

#include <algorithm>
#include <span>
#include <utility>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/window.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace::build {

using crop_ops = slice_ops;

/// TOSA's attributes for windows of an NHWC (NDHWC) tensor. TOSA's windows fit exactly (TOSA 1.0, 2.2):
/// elements at the end of an axis that PyTorch does not read are taken off the padding there, and then off
/// the axis itself.
struct window_attributes {
    shape_builder kernel, stride, dilation, pad;
    shape_builder used;  ///< shape of the part of the input that the windows cover
};

[[nodiscard]] inline window_attributes fit_windows(
    sizes channels_last, std::span<const window> windows, sizes positions) {
    window_attributes fitted;
    fitted.used = shape_builder(channels_last);
    for (std::size_t i = 0; i != windows.size(); ++i) {
        const window& w = windows[i];
        std::int64_t& size = fitted.used[1 + i];
        const std::int64_t after = (positions[i] - 1) * w.stride + w.extent() - size - w.before;
        size += std::min<std::int64_t>(after, 0);
        fitted.kernel.push_back(w.kernel);
        fitted.stride.push_back(w.stride);
        fitted.dilation.push_back(w.dilation);
        fitted.pad.push_back(w.before);
        fitted.pad.push_back(std::max<std::int64_t>(after, 0));
    }
    return fitted;
}

using average_pool_ops = joined<ops<tosa::avg_pool2d>, transpose_ops, crop_ops, pad_ops>;

/// Pads an image with `with`; `pad` is top, bottom, left and right.
inline value pad_image(emit<pad_ops> e, value channels_last, const shape_builder& pad, std::int64_t with) {
    const shape_builder padding{0, 0, pad[0], pad[1], pad[2], pad[3], 0, 0};
    return all_are(pad, 0) ? channels_last : build::pad(e, channels_last, padding, with);
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
    if (a.divisor_override)
        input = pad_image(e, input, std::exchange(fitted.pad, shape_builder{0, 0, 0, 0}), zero);
    const dtype type = e.dtype(input);
    // Only INT8 has zero points; without padding, the average does not depend on them.
    const std::int64_t said = type == dtype::int8 ? zero : 0;
    return e.make<tosa::avg_pool2d>({.input = input,
        .input_zp = zero_point(e, type, said),
        .output_zp = zero_point(e, type, said),
        .kernel = int_list(fitted.kernel),
        .stride = int_list(fitted.stride),
        .pad = int_list(fitted.pad),
        .acc_type = is_floating(type) ? dtype::float32 : dtype::int32});  // INT16 is summed in INT32, too
}

}  // namespace headrace::build

#endif
