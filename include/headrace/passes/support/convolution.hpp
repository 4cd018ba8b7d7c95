// SPDX-License-Identifier: MIT
// Defines what the passes over convolutions and poolings share.
#ifndef HEADRACE_PASSES_SUPPORT_CONVOLUTION_HPP
#define HEADRACE_PASSES_SUPPORT_CONVOLUTION_HPP

#include <headrace/infer/window.hpp>
#include <headrace/op/aten.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// One group per input channel, in two dimensions, forward: what DEPTHWISE_CONV2D is.
[[nodiscard]] inline bool is_depthwise(const emitter& e, const args<aten::convolution>& a) {
    const int_list& input = e.shape(a.input);
    const int_list& weight = e.shape(a.weight);
    return !a.transposed && input.size() <= 4 && a.groups > 1 && a.groups == input[1] &&
           weight[0] % input[1] == 0;
}

namespace build {

/// How a window lies on an axis in TOSA's terms, which demand that it fits exactly (TOSA 1.0, 2.2): what
/// PyTorch leaves over at the end is taken off the padding there, and then off the axis itself.
struct fitted_window {
    std::int64_t before = 0;
    std::int64_t after = 0;
    std::int64_t size = 0;  ///< of the axis that is used
};

[[nodiscard]] constexpr fitted_window fit(const window& w, std::int64_t size, std::int64_t positions) {
    const std::int64_t after = (positions - 1) * w.stride + w.extent() - size - w.before;
    return {w.before, after < 0 ? 0 : after, after < 0 ? size + after : size};
}

using crop_ops = ops<tosa::const_shape, tosa::slice>;

/// The leading part of `v`, of that shape.
template <class E>
value crop(E& e, value v, sizes shape) {
    if (!v || e.shape(v) == int_list(shape)) return v;
    return e.template make<tosa::slice>({.input1 = v,
                                         .start = const_shape(e, shape_builder::filled(shape.size(), 0)),
                                         .size = const_shape(e, shape)});
}

/// The windows of an NHWC (NDHWC) tensor as TOSA's attributes have them.
struct window_attributes {
    shape_builder kernel, stride, dilation, pad;
    shape_builder used;  ///< the part of the input that the windows cover: its shape
};

template <class E>
window_attributes fit_windows(E& e, value channels_last, std::span<const window> windows, sizes positions) {
    window_attributes fitted;
    fitted.used = shape_builder(e.shape(channels_last));
    for (std::size_t i = 0; i != windows.size(); ++i) {
        const fitted_window f = fit(windows[i], fitted.used[1 + i], positions[i]);
        fitted.used[1 + i] = f.size;
        fitted.kernel.push_back(windows[i].kernel);
        fitted.stride.push_back(windows[i].stride);
        fitted.dilation.push_back(windows[i].dilation);
        fitted.pad.push_back(f.before);
        fitted.pad.push_back(f.after);
    }
    return fitted;
}

/// The type in which TOSA accumulates products of that type: the widest that the operator has for it.
[[nodiscard]] constexpr dtype accumulator_of(dtype t) {
    if (t == dtype::int8) return dtype::int32;
    if (t == dtype::int16) return dtype::int48;
    return is_floating(t) ? dtype::float32 : t;
}

}  // namespace build

}  // namespace headrace

#endif
