// SPDX-License-Identifier: MIT
// Defines headrace::with_scales_for_bias, which gives a weight scales at which products can be added to a
// bias.
#ifndef HEADRACE_PASSES_QUANTIZE_BIAS_SCALES_HPP
#define HEADRACE_PASSES_QUANTIZE_BIAS_SCALES_HPP

#include <algorithm>
#include <cmath>
#include <limits>

#include <headrace/base/text.hpp>
#include <headrace/passes/quantize/dequantized.hpp>

namespace headrace {

/// Limits of the integers of a constant bias.
struct bias_limits {
    double most = 0;         ///< the largest magnitude at which products still have room in the accumulator
    double step = HUGE_VAL;  ///< the quantization step of the result; infinite if it is not known

    /// True if a bias is an integer in range at that scale of the products, rounded by at most half a step.
    /// An infinite one saturates, as it should.
    [[nodiscard]] bool allow(double bias, double scale) const {
        return !std::isfinite(bias) || (has_room(bias, scale) && is_close(bias, scale));
    }
    /// Returns the magnitude of a bias that gets a coarser scale: at most half of what there is room for. The
    /// weights' rounding then changes a product by less than 2^-22 of the bias.
    [[nodiscard]] double coarse_units() const { return std::ldexp(1.0, std::ilogb(most) - 1); }
    /// Returns the magnitude of a bias that gets a finer scale.
    [[nodiscard]] double fine_units() const { return is_wide() ? 0x1p24 : 0x1p15; }
    /// True for accumulators of 48 bits.
    [[nodiscard]] bool is_wide() const { return most > 2147483647.0; }

    [[nodiscard]] bool has_room(double bias, double scale) const {
        return std::abs(std::nearbyint(bias / scale)) <= most;
    }
    [[nodiscard]] bool is_close(double bias, double scale) const {
        return std::abs(std::nearbyint(bias / scale) * scale - bias) <= step / 2;
    }
};

/// Returns the finest step of the quantize nodes that read a node's result, past clamps and ops that select
/// elements; infinite if there is none.
[[nodiscard]] inline double finest_step_of_readers(const node& n, int depth = 16) {
    double step = HUGE_VAL;
    for (const edge& use : n.uses()) {
        const node& reader = *use.target;
        if (const auto* a = args_if<quantized_decomposed::quantize_per_tensor>(reader)) {
            step = std::min(step, a->scale);
        } else if (depth > 0 && (is<aten::clamp>(reader) || is<aten::relu>(reader) || is_selecting(reader))) {
            step = std::min(step, finest_step_of_readers(reader, depth - 1));
        }
    }
    return step;
}

/// A weight, and the largest magnitude of the bias at the scales that were chosen for it; 0 if the weight is
/// as it was.
struct weight_for_bias {
    dequantized weight;
    double units = 0;
};

/// Returns the weight such that the limits allow each number of the bias at the scale of its channel's
/// products. The bias of a dead channel, or of dead inputs, may be 2^31 times as large as that scale and
/// more: products are then negligible, and the channel's weights are stored at a coarser scale. Weights that
/// use few of their integers, such as zeros of scale 1, are stored at a finer one. Each channel then has a
/// scale of its own. Nothing, with a reason unless the target has floats, if that is not enough, or if
/// RESCALE would not take such a bias beside the other channels.
[[nodiscard]] inline std::optional<weight_for_bias> with_scales_for_bias(emit<ops<>> e, const dequantized& w,
    std::size_t axis, double input_scale, const pmr_vector<double>& bias, const bias_limits& limits) {
    const quantization& q = w.parameters;
    const auto channel_scale = [&](std::size_t i) { return q.scales[q.axis ? i % q.scales.size() : 0]; };
    const auto fits = [&](std::size_t i, double scale) { return limits.allow(bias[i], input_scale * scale); };
    std::size_t first = 0;
    while (first != bias.size() && fits(first, channel_scale(first))) ++first;
    if (first == bias.size()) return weight_for_bias{w};

    const auto refused = [&](std::size_t i) -> std::optional<weight_for_bias> {
        const double scale = input_scale * channel_scale(i);
        if (e.target().has(target_feature::profile_fp)) return std::nullopt;
        if (limits.has_room(bias[i], scale)) {
            e.unsupported({"its bias of ", number_text(bias[i]), " would be rounded to a multiple of ",
                number_text(scale), ", the scale of its products, but its result has steps of ",
                number_text(limits.step)});
        } else {
            e.unsupported({"its bias of ", number_text(bias[i]), " is too large for integers of scale ",
                number_text(scale), ", that of its products"});
        }
        return std::nullopt;
    };
    const int_list shape = e.shape(w.integers);
    const auto channels = static_cast<std::size_t>(shape[axis]);
    const auto integers = constant_integers(w.integers);
    if (!integers || channels != bias.size() || q.axis.value_or(axis) != axis) return refused(first);
    // RESCALE takes INT32 below 2^(shift - 1) only.
    const double factor = input_scale * *std::ranges::max_element(q.scales) / limits.step;
    const auto rescaled = limits.is_wide() ? std::nullopt : multiplier_and_shift(factor, true);
    const double room = rescaled ? std::ldexp(1.0, static_cast<int>(rescaled->shift) - 2) : HUGE_VAL;

    const std::int64_t zero = q.zero_point();
    const auto inner = static_cast<std::size_t>(element_count(sizes(shape).subspan(axis + 1)));
    const auto channel_of = [&](std::size_t element) { return element / inner % channels; };
    pmr_vector<double> largest(channels, 0);  // magnitude of a channel's integers less their zero point
    for (std::size_t i = 0; i != integers->size(); ++i) {
        double& known = largest[channel_of(i)];
        known = std::max(known, std::abs(static_cast<double>((*integers)[i] - zero)));
    }
    constexpr double widest = 127;
    double most_units = 0;
    pmr_vector<double> scales;
    for (std::size_t i = 0; i != channels; ++i) {
        double scale = channel_scale(i);
        if (!fits(i, scale)) {
            const bool is_fine = limits.has_room(bias[i], input_scale * scale);
            const double units = is_fine ? limits.fine_units() : limits.coarse_units();
            const double of_bias = std::abs(bias[i]) / units / input_scale;
            if (is_fine && zero != 0) return refused(i);
            scale = is_fine ? std::max(of_bias, scale * largest[i] / widest) : of_bias;
            if (units > room || !is_scale(scale) || !fits(i, scale)) return refused(i);
            most_units = std::max(most_units, units);
        }
        scales.push_back(scale);
    }
    const value stored = e.constant_of(dtype::int8, shape, [&](std::size_t i) {
        const std::size_t channel = channel_of(i);
        const double real = static_cast<double>((*integers)[i] - zero) * channel_scale(channel);
        return std::clamp(std::nearbyint(real / scales[channel]) + static_cast<double>(zero), -128.0, widest);
    });
    const pmr_vector<std::int64_t> zeros(channels, zero);
    return weight_for_bias{{stored, {std::move(scales), zeros, axis, q.lowest, q.highest}}, most_units};
}

}  // namespace headrace

#endif
