// SPDX-License-Identifier: MIT
// Defines the operands of integer arithmetic: headrace::fixed_point, which are brought to one scale, and
// products of INT16 with a zero point.
#ifndef HEADRACE_PASSES_QUANTIZE_FIXED_POINT_HPP
#define HEADRACE_PASSES_QUANTIZE_FIXED_POINT_HPP

#include <algorithm>
#include <array>
#include <cmath>

#include <headrace/passes/quantize/quantizer.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// An operand of integer arithmetic: a per-tensor dequantized value, or a constant, which fits any scale.
struct fixed_point {
    std::optional<dequantized> read;
    value constant{};
    pmr_vector<double> numbers{};  ///< of the constant

    /// Returns the largest magnitude of its real numbers.
    [[nodiscard]] double reach() const {
        if (read) return read->parameters.reach() * read->parameters.scale();
        double max = 0;
        for (const double x : numbers) max = std::max(max, std::abs(x));
        return max;
    }
};

using fixed_point_ops = joined<reading_ops, build::transpose_ops>;

/// Converts integers with a scale for each channel to INT32 with one scale: the finest of them that has room.
/// If the integers are narrow it is finer still, so that channels with other scales are not rounded to the
/// same steps.
inline dequantized with_one_scale(emit<fixed_point_ops> e, const dequantized& d) {
    constexpr double room = 1 << 29;
    const auto [min, max] = std::ranges::minmax_element(d.parameters.scales);
    const double reach = d.parameters.reach() * *max;
    const int bits = e.dtype(d.integers) == dtype::int32 ? 0 : 10;
    const double scale = std::max(std::ldexp(*min, -bits), reach / room);
    const auto to = quantization::symmetric(scale, static_cast<std::int64_t>(std::ceil(reach / scale)));
    const auto zero = d.parameters.common_zero_point();
    if (!zero) return {e.unsupported("zero points that differ between channels; make them equal"), to};
    const shape_builder perms = with_channels_last(e.rank(d.integers), *d.parameters.axis);
    const value v = build::saturating_rescale(e, build::transpose(e, d.integers, perms),
        factors_between(d.parameters, to), d.parameters.reach(), {.input_zero = *zero});
    return {build::transpose(e, v, build::inverse(perms)), to};
}

/// Returns nothing for computed values, constants that are not finite, and 32-bit integers with scale 1 and
/// unbounded range: no scale is both fine enough and has room for them.
inline std::optional<fixed_point> as_fixed_point(emit<fixed_point_ops> e, value v) {
    if (auto read = as_dequantized(e, v)) {
        constexpr double room = 1 << 30;
        if (e.dtype(read->integers) == dtype::int48) return std::nullopt;
        if (!read->parameters.is_per_tensor()) return fixed_point{with_one_scale(e, *read)};
        if (read->parameters.scale() == 1 && read->parameters.reach() > room) return std::nullopt;
        return fixed_point{std::move(read)};
    }
    auto numbers = constant_reals(v);
    if (!numbers || !std::all_of(numbers->begin(), numbers->end(), [](double x) { return std::isfinite(x); }))
        return std::nullopt;
    return fixed_point{std::nullopt, v, std::move(*numbers)};
}

/// Two operands of an operator, at least one of which is not constant.
inline std::optional<std::pair<fixed_point, fixed_point>> as_fixed_points(
    emit<fixed_point_ops> e, value a, value b) {
    if (!is_real(a) && !is_real(b)) return std::nullopt;
    auto x = as_fixed_point(e, a);
    auto y = x ? as_fixed_point(e, b) : std::nullopt;
    if (!y || (!x->read && !y->read)) return std::nullopt;
    return std::pair(std::move(*x), std::move(*y));
}

/// Returns a scale at which operands can be added in 32 bits. If an operand already uses 32 bits, it is that
/// operand's scale, provided that the others have room at it and are not coarse in comparison. Otherwise it
/// is the largest scale divided by 2^19, or by a smaller power of two if the sum of two operands would reach
/// 2^30, RESCALE's limit.
[[nodiscard]] inline double working_scale(
    const emitter& e, std::initializer_list<const fixed_point*> operands) {
    constexpr int max_bits = 19;
    constexpr int min_bits = 10;
    constexpr double room = 1 << 29;
    const double fine = std::ldexp(128, min_bits);  // the reach of 8 bits, with min_bits more
    double scale = 0;
    double reach = 0;
    std::optional<double> accumulated;
    for (const fixed_point* x : operands) {
        reach = std::max(reach, x->reach());
        if (!x->read) continue;
        const quantization& q = x->read->parameters;
        if (e.dtype(x->read->integers) == dtype::int32 && q.zero_point() == 0 && q.reach() >= fine) {
            accumulated = std::min(q.scale(), accumulated.value_or(q.scale()));
        } else {
            scale = std::max(scale, q.scale());
        }
    }
    if (accumulated && reach / *accumulated <= room &&
        (scale == 0 || *accumulated <= std::ldexp(scale, -min_bits)))
        return *accumulated;
    scale = std::max(scale, accumulated.value_or(0));
    const int bits = static_cast<int>(std::floor(std::log2(room * scale / std::max(reach, scale))));
    return std::ldexp(scale, -std::min(max_bits, bits));
}

/// Returns the operand as INT32 of that scale with zero point 0.
inline value at_scale(emit<build::saturating_rescale_ops> e, const fixed_point& x, double scale) {
    if (!x.read) {
        return e.constant_of(dtype::int32, e.shape(x.constant), [&](std::size_t i) {
            return std::clamp(std::nearbyint(x.numbers[i] / scale), -2147483647.0, 2147483647.0);
        });
    }
    const quantization& q = x.read->parameters;
    if (e.dtype(x.read->integers) == dtype::int32 && q.scale() == scale && q.zero_point() == 0)
        return x.read->integers;
    return build::saturating_rescale(
        e, x.read->integers, q.scale() / scale, q.reach(), {.input_zero = q.zero_point()});
}

/// INT32 with zero point 0.
struct scaled_integers {
    value integers;
    double scale;
    double reach;  ///< the largest magnitude of the integers
};

/// Returns a dequantized value at its own scale; nothing for constants, or if as_fixed_point fails.
inline std::optional<scaled_integers> as_scaled_integers(emit<fixed_point_ops> e, value v) {
    const auto x = as_fixed_point(e, v);
    if (!x || !x->read) return std::nullopt;
    const double scale = x->read->parameters.scale();
    return scaled_integers{at_scale(e, *x, scale), scale, x->reach() / scale};
}

/// Multiplies the integers, which are rounded; their scale is divided.
inline void multiply(emit<build::saturating_rescale_ops> e, scaled_integers& x, double factor) {
    if (factor == 1) return;
    x.integers = build::saturating_rescale(e, x.integers, factor, x.reach, {});
    x.scale /= factor;
    x.reach = std::ceil(x.reach * factor);
}

/// Converts the integers back to real numbers.
inline value dequantize(emit<dequantize_ops> e, const scaled_integers& x) {
    const auto max = static_cast<std::int64_t>(std::min(std::ceil(x.reach), 2147483647.0));
    return dequantize(e, dequantized{x.integers, quantization::symmetric(x.scale, max)});
}

// --- INT16 with a zero point ------------------------------------------------------------------------------
//
// CONV2D, MATMUL and similar operators subtract zero points for INT8 only (TOSA 1.0, 2.2). For INT16, whose
// numbers minus a zero point need 17 bits, the products of the zero point become terms of their own, in the
// 48-bit accumulators:
//
//     Σ (x - z)·w = Σ x·w - z·Σ w           if w is constant: z·Σ w is folded into the bias
//     Σ (x - z)·w = Σ x·w + Σ (-z)·w        otherwise: a sum of twice as many products

/// True if the tensor has a zero point that TOSA's products do not support.
[[nodiscard]] inline bool has_zero_of_its_own(const emitter& e, value v, std::int64_t zero) {
    return zero != 0 && e.dtype(v) == dtype::int16;
}

/// Returns INT16 numbers that add up to -zero.
[[nodiscard]] inline pmr_vector<std::int64_t> parts_of_negated(std::int64_t zero) {
    if (zero == 0) return {};
    if (zero == INT16_MIN) return {-(zero / 2), -(zero / 2)};  // 32768 does not fit in INT16
    return {-zero};
}

/// Joins the tensor along an axis with tensors of its shape whose elements add up to -zero.
inline value joined_with_zero(emit<ops<tosa::concat>> e, value v, std::int64_t zero, std::size_t axis) {
    pmr_vector<value> parts{v};
    for (const std::int64_t number : parts_of_negated(zero))
        parts.push_back(e.splat(number, e.dtype(v), sizes(e.shape(v))));
    return build::concat(e, parts, axis);
}
/// Repeats the other factor once for each tensor that joined_with_zero joins.
inline value repeated_for_zero(emit<ops<tosa::concat>> e, value v, std::int64_t zero, std::size_t axis) {
    return build::concat(e, pmr_vector<value>(1 + parts_of_negated(zero).size(), v), axis);
}

/// Returns a constant bias minus z·Σ(w - w0) for each output channel, the weight's first axis; nothing if one
/// of them is computed.
inline std::optional<value> bias_less_zero(
    emit<ops<>> e, value bias, value weight, std::int64_t weight_zero, std::int64_t zero) {
    const auto numbers = constant_integers(bias);
    const auto weights = constant_integers(weight);
    if (!numbers || !weights) return std::nullopt;
    const auto channels = static_cast<std::size_t>(e.shape(weight)[0]);
    const std::size_t terms = weights->size() / std::max<std::size_t>(channels, 1);
    const std::array count{static_cast<std::int64_t>(channels)};
    return e.constant_of(e.dtype(bias), count, [&](std::size_t channel) {
        std::int64_t sum = 0;
        for (std::size_t i = channel * terms; i != (channel + 1) * terms; ++i)
            sum += (*weights)[i] - weight_zero;
        return (*numbers)[numbers->size() == 1 ? 0 : channel] - zero * sum;
    });
}

/// Pads an image [N, C, …] as the convolution would, with its zero point, which represents 0.
inline value padded_with_zero(
    emit<ops<aten::constant_pad_nd>> e, value image, const int_list& padding, std::int64_t zero) {
    if (build::all_are(padding, 0)) return image;
    pmr_vector<std::int64_t> pad;  // last axis first
    for (std::size_t i = padding.size(); i-- != 0;) pad.insert(pad.end(), 2, padding[i]);
    return e.make<aten::constant_pad_nd>(image, int_list(pad), scalar(zero));
}

}  // namespace headrace

#endif
