// SPDX-License-Identifier: MIT
// Defines headrace::legalize_pooling.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_POOLING_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_POOLING_HPP

#include <headrace/passes/support/convolution.hpp>

namespace headrace {

/// Lowers poolings over [N, C, H, W] to AVG_POOL2D and MAX_POOL2D (TOSA 1.0, 2.2.2 and 2.2.8) between
/// transposes to and from channels-last. TOSA leaves padding out of averages; where PyTorch counts it, and
/// where it divides by a number of the caller's whatever the window holds, it becomes a PAD of zeros.
struct legalize_pooling : pass {
    using targets = ops<aten::avg_pool2d, aten::max_pool2d>;
    using produces = joined<ops<tosa::avg_pool2d, tosa::max_pool2d, tosa::pad, tosa::mul>, build::reshape_ops,
                            build::transpose_ops, build::crop_ops>;

    value operator()(const args<aten::avg_pool2d>& a, emit<produces>& e) const {
        value input = build::transpose(e, a.self, build::to_channels_last(4));
        auto windows = windows_of({a.kernel_size, a.stride, a.padding, int_list{1, 1}}, 2);
        if (!windows) return e.fail(std::move(windows).error());
        auto& w = windows.value();
        if (a.count_include_pad) {
            input = pad_zeros(e, input, shape_builder{w[0].before, w[0].after, w[1].before, w[1].after});
            for (window& axis : w) axis.before = axis.after = 0;
        }
        auto fitted =
            build::fit_windows(e, input, std::span(w).first(2), sizes(e.result_meta().shape).subspan(2));
        input = build::crop(e, input, fitted.used);
        if (a.divisor_override) {
            input = pad_zeros(e, input, std::exchange(fitted.pad, shape_builder{0, 0, 0, 0}));
        }
        const dtype type = e.dtype(input);
        value pooled = e.make<tosa::avg_pool2d>({.input = input,
                                                 .input_zp = build::zero_point(e, type),
                                                 .output_zp = build::zero_point(e, type),
                                                 .kernel = int_list(fitted.kernel),
                                                 .stride = int_list(fitted.stride),
                                                 .pad = int_list(fitted.pad),
                                                 .acc_type = build::accumulator_of(type)});
        if (a.divisor_override) {
            const double area = static_cast<double>(w[0].kernel * w[1].kernel);
            const value factor = e.splat(area / static_cast<double>(*a.divisor_override), type, 4);
            pooled = build::binary<tosa::mul>(e, pooled, factor);
        }
        return build::transpose(e, pooled, build::to_channels_first(4));
    }

    value operator()(const args<aten::max_pool2d>& a, emit<produces>& e) const {
        value input = build::transpose(e, a.self, build::to_channels_last(4));
        auto windows = windows_of({a.kernel_size, a.stride, a.padding, a.dilation}, 2);
        if (!windows) return e.fail(std::move(windows).error());
        const auto fitted = build::fit_windows(e, input, std::span(windows.value()).first(2),
                                               sizes(e.result_meta().shape).subspan(2));
        const value pooled = e.make<tosa::max_pool2d>({.input = build::crop(e, input, fitted.used),
                                                       .kernel = int_list(fitted.kernel),
                                                       .stride = int_list(fitted.stride),
                                                       .pad = int_list(fitted.pad)});
        return build::transpose(e, pooled, build::to_channels_first(4));
    }

private:
    // `pad` is top, bottom, left and right.
    static value pad_zeros(emit<produces>& e, value channels_last, const shape_builder& pad) {
        if (std::all_of(pad.begin(), pad.end(), [](std::int64_t n) { return n == 0; })) return channels_last;
        const shape_builder padding{0, 0, pad[0], pad[1], pad[2], pad[3], 0, 0};
        return e.make<tosa::pad>({.input1 = channels_last,
                                  .padding = build::const_shape(e, padding),
                                  .pad_const = e.splat(0, e.dtype(channels_last), 1)});
    }
};

}  // namespace headrace

#endif
