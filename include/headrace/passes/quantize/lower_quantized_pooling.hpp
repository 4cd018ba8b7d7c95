// SPDX-License-Identifier: MIT
// Defines headrace::lower_quantized_pooling.
#ifndef HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_POOLING_HPP
#define HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_POOLING_HPP

#include <headrace/passes/legalize/pooling.hpp>
#include <headrace/passes/quantize/dequantized.hpp>

namespace headrace {

/// Averages of dequantized operands. Read in the same quantization they are AVG_POOL2D of the codes. Else,
/// where every window has as many elements, they are sums with a finer scale, so that nothing is rounded
/// twice: a depthwise convolution with a weight of ones.
struct lower_quantized_pooling : pass {
    using targets = ops<aten::avg_pool2d>;
    using produces = joined<build::average_pool_ops, build::convolution_ops, requantize_ops, dequantize_ops>;

    std::optional<value> operator()(const args<aten::avg_pool2d>& a, auto& e) const {
        const auto x = as_dequantized(e, a.self);
        if (!x || !x->parameters.is_per_tensor()) return std::nullopt;
        const dtype type = e.dtype(x->codes);
        if (type != dtype::int8 && type != dtype::int16) return std::nullopt;
        auto windows = windows_of({a.kernel_size, a.stride, a.padding, int_list{1, 1}}, 2);
        if (!windows) return e.fail(std::move(windows).error());
        const auto& w = windows.value();
        const bool counts_alike =
            a.divisor_override || a.count_include_pad || (w[0].before == 0 && w[1].before == 0);
        const bool overhangs = a.ceil_mode && !a.divisor_override;
        if (counts_alike && !overhangs && (a.divisor_override || !is_read_in(e.current(), x->parameters)))
            return sum(a, e, *x, w);
        args<aten::avg_pool2d> of_codes = a;
        of_codes.self = x->codes;
        dequantized pooled{
            build::channels_first(e, build::average_pool(e, of_codes, x->parameters.zero_point()),
                                  e.result_meta().shape),
            x->parameters};
        if (a.divisor_override) {
            pooled.parameters.scales[0] *=
                static_cast<double>(w[0].kernel * w[1].kernel) / static_cast<double>(*a.divisor_override);
        }
        return dequantize(e, pooled);
    }

private:
    template <class E>
    static value sum(const args<aten::avg_pool2d>& a, E& e, const dequantized& x,
                     const std::array<window, 3>& w) {
        const std::int64_t channels = e.shape(a.self)[1];
        const std::int64_t area = w[0].kernel * w[1].kernel;
        const args<aten::convolution> ones{
            .input = x.codes,
            .weight =
                e.splat(1, dtype::int8, std::array<std::int64_t, 4>{channels, 1, w[0].kernel, w[1].kernel}),
            .bias = std::nullopt,
            .stride = int_list{w[0].stride, w[1].stride},
            .padding = int_list{w[0].before, w[1].before},
            .dilation = int_list{1, 1},
            .transposed = false,
            .output_padding = int_list{0, 0},
            .groups = channels};
        const int_list result = e.result_meta().shape;
        const value summed = build::convolution(e, ones, x.parameters.zero_point()).channels_last(result);
        const auto divisor = static_cast<double>(a.divisor_override.value_or(area));
        const auto reach = static_cast<std::int64_t>(x.parameters.reach()) * area;
        const auto q = quantization::per_tensor(x.parameters.scale() / divisor, 0, -reach, reach);
        return build::channels_first(e, dequantize(e, {summed, q}), result);
    }
};

}  // namespace headrace

#endif
