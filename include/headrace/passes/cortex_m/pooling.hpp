// SPDX-License-Identifier: MIT
// Defines headrace::select_pooling, which makes CMSIS-NN's poolings of TOSA's.
#ifndef HEADRACE_PASSES_CORTEX_M_POOLING_HPP
#define HEADRACE_PASSES_CORTEX_M_POOLING_HPP

#include <array>
#include <optional>

#include <headrace/infer/cortex_m.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/cortex_m/images.hpp>
#include <headrace/passes/cortex_m/scratch.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Makes kernels of AVG_POOL2D and MAX_POOL2D of int8 (TOSA 1.0, 2.2.1 and 2.2.9). Neither counts padding.
/// Maxima have the least integer around the image if it is not equal on both sides; averages, which would
/// count that, are left.
struct select_pooling : pass {
    static constexpr std::string_view summary = "poolings of int8 as kernels of CMSIS-NN";

    static auto rewrites() {
        return rules(on<tosa::avg_pool2d> = code<averages>(), on<tosa::max_pool2d> = code<maxima>(),
            on<tosa::reduce_max> = code<maximum>());
    }

private:
    using made = joined<cortex_m::image_ops,
        ops<cortex_m::quantized_avg_pool2d_nhwc, cortex_m::quantized_max_pool2d_nhwc, memory::alloc>>;

    static std::optional<value> averages(emit<made> e, const args<tosa::avg_pool2d>& a) {
        const auto zero = constant_integer(a.input_zp);
        bool fits = e.dtype(a.input) == dtype::int8 && zero && zero == constant_integer(a.output_zp) &&
            cortex_m::fits_kernels(e.shape(a.input));
        for (std::size_t i = 0; i != 2; ++i) {
            const window w{a.kernel[i], a.stride[i], 1, a.pad[2 * i], a.pad[2 * i + 1]};
            fits = fits && w.before < w.kernel &&
                cortex_m::has_equal_padding(w, e.shape(a.input)[1 + i], e.result_meta().shape[1 + i]);
        }
        if (!fits) return std::nullopt;
        const std::int64_t channels = e.shape(a.input)[3];
        return e.make<cortex_m::quantized_avg_pool2d_nhwc>({.input = a.input,
            .kernel_size = a.kernel,
            .stride = a.stride,
            .padding = {a.pad[0], a.pad[2]},
            .ceil_mode = false,
            .zero_point = *zero,
            .multiplier = std::int64_t{1} << 30,
            .shift = 1,
            .scratch = cortex_m::make_scratch(e, e.target().has(target_feature::dsp) ? 4 * channels : 0)});
    }

    static std::optional<value> maxima(emit<made> e, const args<tosa::max_pool2d>& a) {
        if (e.dtype(a.input) != dtype::int8) return std::nullopt;
        const auto image = cortex_m::place_windows(e, a, {a.kernel[0], a.kernel[1]}, -128);
        return image ? std::optional(pooled(e, *image)) : std::nullopt;
    }
    static value pooled(emit<made> e, const cortex_m::placed_image& image) {
        return e.make<cortex_m::quantized_max_pool2d_nhwc>({.input = image.tensor,
            .kernel_size = image.kernel(),
            .stride = image.strides(),
            .padding = image.padding(),
            .dilation = {1, 1},
            .ceil_mode = false,
            .input_zero_point = 0,
            .output_zero_point = 0,
            .activation_min = -128,
            .activation_max = 127});
    }

    // The maximum over an axis is that of one window, in one row for each element before the axis.
    static std::optional<value> maximum(emit<made> e, const args<tosa::reduce_max>& a) {
        if (e.dtype(a.input) != dtype::int8) return std::nullopt;
        const build::three_axes parts = build::around(e.shape(a.input), static_cast<std::size_t>(a.axis));
        if (!cortex_m::fits_kernels(shape_builder{parts.before, parts.size, parts.after}))
            return std::nullopt;
        cortex_m::placed_image image{
            cortex_m::view(e, a.input, shape_builder{1, parts.before, parts.size, parts.after})};
        image.windows[1] = {.kernel = parts.size, .stride = parts.size};
        return cortex_m::view(e, pooled(e, image), e.result_meta().shape);
    }
};

}  // namespace headrace

#endif
