// SPDX-License-Identifier: MIT
// Defines headrace::convolve_expanded, which lets a convolution repeat the one channel that it computes.
#ifndef HEADRACE_PASSES_CORTEX_M_EXPANDED_CHANNELS_HPP
#define HEADRACE_PASSES_CORTEX_M_EXPANDED_CHANNELS_HPP

#include <optional>

#include <headrace/infer/aten.hpp>
#include <headrace/infer/cortex_m.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/cortex_m/bounds.hpp>
#include <headrace/passes/cortex_m/images.hpp>
#include <headrace/passes/cortex_m/scaling.hpp>

namespace headrace {

/// Makes an expanded channel, such as the mean that a layer norm subtracts, of as many equal channels of the
/// pointwise convolution that computes it. Only sums of few products are computed several times: the
/// runtime's own kernel finds the position of each element that it copies.
struct convolve_expanded : pass {
    static constexpr std::string_view summary = "expanded results of convolutions as channels of these";

    static auto rewrites() { return rules(on<aten::expand> = code<convolved>()); }

private:
    using made = ops<cortex_m::quantized_conv2d_nhwc, aten::view>;

    // The products of an element that take no longer than to copy it.
    static std::int64_t max_products(const emitter& e) {
        return e.target().has(target_feature::mve) ? 32 : 16;
    }

    // True if the last axis alone is repeated.
    static bool repeats_last_axis(sizes from, sizes to) {
        return !from.empty() && from.size() == to.size() && from.back() == 1 && to.back() != 1 &&
            std::equal(from.begin(), from.end() - 1, to.begin());
    }
    static std::optional<value> convolved(emit<made> e, const args<aten::expand>& a) {
        const auto one = cortex_m::shown_alone(a.self);
        const auto* const sum = one ? match<cortex_m::quantized_conv2d_nhwc>(*one) : nullptr;
        const int_list& shape = e.result_meta().shape;
        if (sum == nullptr || e.shape(*one)[3] != 1 || !repeats_last_axis(e.shape(a.self), shape))
            return std::nullopt;
        const shape_builder weight(e.shape(sum->weight));
        const bool is_small = weight[1] == 1 && weight[2] == 1 && weight[3] <= max_products(e);
        const std::int64_t channels = shape.back();
        args<cortex_m::quantized_conv2d_nhwc> wide = *sum;
        const auto weights = repeated(e, wide.weight, shape_builder{channels, 1, 1, weight[3]});
        const auto multipliers = repeated(e, wide.requantize_multipliers, shape_builder{channels});
        const auto shifts = repeated(e, wide.requantize_shifts, shape_builder{channels});
        const auto bias = wide.bias ? repeated(e, *wide.bias, shape_builder{channels}) : std::nullopt;
        if (!is_small || !weights || !multipliers || !shifts || bias.has_value() != wide.bias.has_value())
            return std::nullopt;
        wide.weight = *weights;
        wide.requantize_multipliers = *multipliers;
        wide.requantize_shifts = *shifts;
        wide.bias = bias;
        return cortex_m::view(e, e.make<cortex_m::quantized_conv2d_nhwc>(wide), shape);
    }
    // Repeats a constant until it has that shape.
    static std::optional<value> repeated(emit<made> e, value v, sizes shape) {
        const auto numbers = constant_integers(v);
        if (!numbers || numbers->empty()) return std::nullopt;
        if (cortex_m::is_number(v)) return e.splat(numbers->front(), e.dtype(v), shape);  // shared
        return e.constant_of(
            e.dtype(v), shape, [&](std::size_t i) { return scalar((*numbers)[i % numbers->size()]); });
    }
};

}  // namespace headrace

#endif
