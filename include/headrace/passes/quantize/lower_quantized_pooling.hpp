// SPDX-License-Identifier: MIT
// Defines headrace::lower_quantized_pooling.
#ifndef HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_POOLING_HPP
#define HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_POOLING_HPP

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <headrace/passes/legalize/pooling.hpp>
#include <headrace/passes/quantize/quantizer.hpp>

namespace headrace {

/// avg(dq(x)) = dq(avg(x)): AVG_POOL2D of the integers where it is read in the same quantization. Else, where
/// every window has as many elements, sums at a finer scale, so that nothing is rounded twice: a depthwise
/// convolution with a weight of ones.
struct lower_quantized_pooling : pass {
    static constexpr std::string_view summary = "avg(dq(x)) = dq(avg(x)), or sums at a finer scale";
    using targeted_ops = ops<aten::avg_pool2d>;
    using produces = joined<build::average_pool_ops, reading_as_stored_ops, dequantize_ops,
                            ops<tosa::conv2d, tosa::depthwise_conv2d>>;

    std::optional<value> operator()(const args<aten::avg_pool2d>& a, emit<produces> e) const {
        const auto x = as_short_integers_per_tensor(e, a.self);
        if (!x) return std::nullopt;
        auto windows = windows_of({a.kernel_size, a.stride, a.padding, int_list{1, 1}}, 2);
        if (!windows) return e.fail(std::move(windows).error());
        const auto w = std::span(windows.value()).first(2);
        // Only windows that reach into padding that does not count have fewer elements.
        const bool are_whole =
            (a.count_include_pad || (w[0].before == 0 && w[1].before == 0)) && !a.ceil_mode;
        if (a.divisor_override || (are_whole && !is_read_in(e.current(), x->parameters)))
            return dequantized_sum(e, a, *x, w);
        args<aten::avg_pool2d> of_integers = a;
        of_integers.self = x->integers;
        const value pooled = build::average_pool(e, of_integers, x->parameters.zero_point());
        return dequantize(e, {build::transpose(e, pooled, build::to_channels_first(4)), x->parameters});
    }

private:
    static value dequantized_sum(emit<produces> e, const args<aten::avg_pool2d>& a, const dequantized& x,
                                 std::span<const window> w) {
        const std::int64_t area = w[0].kernel * w[1].kernel;
        const auto divisor = static_cast<double>(a.divisor_override.value_or(area));
        const auto reach = static_cast<std::int64_t>(x.parameters.reach()) * area;
        const auto q = quantization::symmetric(x.parameters.scale() / divisor, reach);
        return build::transpose(e, dequantize(e, {sum(e, x, w), q}), build::to_channels_first(4));
    }

    // The sum of each window, with channels last.
    static value sum(emit<produces> e, const dequantized& x, std::span<const window> w) {
        const value image = build::transpose(e, x.integers, build::to_channels_last(4));
        const auto fitted = build::fit_windows(e.shape(image), w, sizes(e.result_meta().shape).subspan(2));
        const dtype type = e.dtype(image);
        const std::int64_t channels = e.shape(image).back();
        const auto convolved = [&]<class Op>(Op, const int_list& weight) {
            return e.make<Op>({.input = build::crop(e, image, fitted.used),
                               .weight = e.splat(1, dtype::int8, weight),
                               .bias = e.splat(0, build::accumulator_of(type), std::array{channels}),
                               .input_zp = build::zero_point(e, type, x.parameters.zero_point()),
                               .weight_zp = build::zero_point(e, dtype::int8),
                               .pad = int_list(fitted.pad),
                               .stride = int_list(fitted.stride),
                               .dilation = int_list(fitted.dilation),
                               .acc_type = build::accumulator_of(type)});
        };
        if (channels == 1) return convolved(tosa::conv2d{}, {1, w[0].kernel, w[1].kernel, 1});
        return convolved(tosa::depthwise_conv2d{}, {w[0].kernel, w[1].kernel, channels, 1});
    }
};

}  // namespace headrace

#endif
