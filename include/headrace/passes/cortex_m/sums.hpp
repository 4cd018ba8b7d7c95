// SPDX-License-Identifier: MIT
// Defines headrace::select_sums, which makes convolutions by weights of 1 of TOSA's REDUCE_SUM.
#ifndef HEADRACE_PASSES_CORTEX_M_SUMS_HPP
#define HEADRACE_PASSES_CORTEX_M_SUMS_HPP

#include <array>
#include <optional>

#include <headrace/infer/cortex_m.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/cortex_m/images.hpp>
#include <headrace/passes/cortex_m/scaling.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// Makes one kernel of the sum of an int8 tensor over adjacent axes, as a mean has it, and the RESCALE of the
/// result: a convolution whose window is those axes, with weights of 1.
struct select_sums : pass {
    static constexpr std::string_view summary = "REDUCE_SUM of int8 and its RESCALE as a convolution";

    static auto rewrites() {
        return rules(
            on_match([](auto sum) { return node_of<"result", tosa::rescale>(sum); }) = code<made>(
                [](emit<made> e, value sum, const auto& m) { return summed(e, sum, get<"result">(m)); }));
    }

private:
    using made = ops<aten::view, cortex_m::quantized_conv2d_nhwc, cortex_m::quantized_depthwise_conv2d_nhwc,
        memory::alloc>;

    // The elements before, along and after the axes that are summed.
    struct parts {
        std::int64_t before = 1, along = 1, after = 1;
    };
    static std::optional<parts> parts_of(const emitter& e, value whole, value sum) {
        const sizes from = e.shape(whole), to = e.shape(sum);
        if (from.size() != to.size()) return std::nullopt;
        parts p;
        std::size_t i = 0;
        for (; i != from.size() && from[i] == to[i]; ++i) p.before *= from[i];
        for (; i != from.size() && to[i] == 1; ++i) p.along *= from[i];
        for (; i != from.size() && from[i] == to[i]; ++i) p.after *= from[i];
        return i == from.size() ? std::optional(p) : std::nullopt;
    }

    static std::optional<value> summed(emit<made> e, value sum, const args<tosa::rescale>& result) {
        value inner = sum;
        while (const auto* reduced = match<tosa::reduce_sum>(inner)) inner = reduced->input;
        const auto to = inner == sum ? std::nullopt : cortex_m::scaled_result_of(e, result);
        const auto from = to ? cortex_m::scaled_operand_of(e, inner) : std::nullopt;
        if (!from || !to->has_one_factor()) return std::nullopt;
        const auto p = parts_of(e, from->integers, sum);
        if (!p ||
            !cortex_m::fits_kernels(
                shape_builder{p->before * (p->after == 1 ? 1 : p->along), p->along, p->after}))
            return std::nullopt;
        const std::int64_t channels = p->after == 1 ? 1 : p->after;
        const cortex_m::scaled_result scaled{{to->factor() * from->factor}, to->zero_point};
        const auto factors =
            cortex_m::channel_factors_of(e, scaled, channels, 255 * static_cast<double>(p->along));
        if (!factors) return std::nullopt;
        const value v = p->after == 1 ? over_channels(e, *from, *p, scaled, *factors)
                                      : over_columns(e, *from, *p, scaled, *factors);
        return cortex_m::view(e, v, e.result_meta().shape);
    }

    // The summed elements become the channels of a pointwise convolution.
    static value over_channels(emit<made> e, const cortex_m::scaled_operand& from, const parts& p,
        const cortex_m::scaled_result& to, const cortex_m::channel_factors& factors) {
        const shape_builder shape{1, p.before, 1, p.along}, weight{1, 1, 1, p.along};
        const cortex_m::placed_image image{cortex_m::view(e, from.integers, shape)};
        auto kernel = cortex_m::convolution_of<cortex_m::quantized_conv2d_nhwc>(image,
            {e.splat(1, dtype::int8, sizes(weight)), std::nullopt, -from.zero_point, to.zero_point}, factors);
        kernel.scratch = cortex_m::make_scratch(e, 0);
        return e.make<cortex_m::quantized_conv2d_nhwc>(kernel);
    }
    // They become the height of an image, which the window covers, in one column for each element before
    // them.
    static value over_columns(emit<made> e, const cortex_m::scaled_operand& from, const parts& p,
        const cortex_m::scaled_result& to, const cortex_m::channel_factors& factors) {
        const shape_builder shape{1, p.before * p.along, 1, p.after}, weight{1, p.along, 1, p.after};
        const cortex_m::placed_image image{
            cortex_m::view(e, from.integers, shape), {window{.kernel = p.along, .stride = p.along}, {}}};
        const value ones = e.splat(1, dtype::int8, sizes(weight));
        const value bias = e.splat(0, dtype::int32, sizes(shape_builder{p.after}));
        auto kernel = cortex_m::convolution_of<cortex_m::quantized_depthwise_conv2d_nhwc>(
            image, {ones, bias, -from.zero_point, to.zero_point}, factors);
        kernel.depth_multiplier = 1;
        const cortex_m::convolution_sizes whole = image.sizes_of(e, p.after, p.after);
        kernel.scratch = cortex_m::make_scratch(e, cortex_m::depthwise_scratch(e.target(), whole, 1));
        return e.make<cortex_m::quantized_depthwise_conv2d_nhwc>(kernel);
    }
};

}  // namespace headrace

#endif
