// SPDX-License-Identifier: MIT
// Defines headrace::lower_quantized_pooling and headrace::window_divisors, the divisors of the sums of an
// average pooling's windows.
#ifndef HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_POOLING_HPP
#define HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_POOLING_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <headrace/passes/quantize/fixed_point.hpp>
#include <headrace/passes/support/windows.hpp>

namespace headrace {

/// Returns how many elements the window counts at each position along an axis, as PyTorch's avg_pool2d does:
/// elements of the axis and, if `padding_counts`, of the padding.
[[nodiscard]] inline pmr_vector<std::int64_t> counts_along(
    const window& w, std::int64_t size, std::int64_t positions, bool padding_counts) {
    pmr_vector<std::int64_t> counts;
    const std::int64_t first = padding_counts ? -w.before : 0;
    const std::int64_t end = padding_counts ? size + w.after : size;
    for (std::int64_t i = 0; i != positions; ++i) {
        const std::int64_t start = i * w.stride - w.before;
        counts.push_back(std::min(start + w.kernel, end) - std::max(start, first));
    }
    return counts;
}

/// The number of elements of each window is the product of its counts along height and width.
struct window_divisors {
    pmr_vector<std::int64_t> height, width;

    /// True if there is a window, and each window has an element.
    [[nodiscard]] bool is_sound() const {
        return !height.empty() && !width.empty() && std::ranges::count(height, 0) == 0 &&
            std::ranges::count(width, 0) == 0;
    }
    [[nodiscard]] std::int64_t largest() const {
        return saturating_mul(*std::ranges::max_element(height), *std::ranges::max_element(width));
    }
    /// Returns the divisor of all windows, if it is the same.
    [[nodiscard]] std::optional<std::int64_t> common() const {
        const bool is_one = build::all_are(height, height.front()) && build::all_are(width, width.front());
        return is_one ? std::optional(largest()) : std::nullopt;
    }
    /// Returns a unit that each divisor divides exactly or nearly: a multiple of all divisors or, if there is
    /// no room for it, a power of two. Nothing if a quotient would be rounded by more than a hundredth of a
    /// step, for numbers of at most that magnitude.
    [[nodiscard]] std::optional<std::int64_t> unit(double reach) const {
        constexpr double room = 1 << 30;
        constexpr double allowed = 0.01;
        std::int64_t multiple = 1;
        for (const auto* counts : {&height, &width}) {
            std::int64_t along = 1;
            for (const std::int64_t n : *counts) along = saturating_mul(along, n / std::gcd(along, n));
            multiple = saturating_mul(multiple, along);
        }
        if (static_cast<double>(multiple) * reach <= room) return multiple;
        const double power = std::exp2(std::floor(std::log2(room / std::max(reach, 1.0))));
        const double rounded_by = reach * static_cast<double>(largest()) / (2 * power);
        return rounded_by <= allowed ? std::optional(static_cast<std::int64_t>(power)) : std::nullopt;
    }
};

/// avg(dq(x)) = dq(avg(x)): AVG_POOL2D of the integers, if the result is read in the same quantization.
/// AVG_POOL2D rounds in the quantization of x; if the result is read in another one, sums at a finer scale
/// are used instead, so that nothing is rounded twice: a depthwise convolution with a weight of ones, times a
/// number for each window if windows at the border have fewer elements. INT32, which no convolution takes, is
/// added up as slices.
struct lower_quantized_pooling : pass {
    static constexpr std::string_view summary = "avg(dq(x)) = dq(avg(x)), or sums at a finer scale";

    static auto rewrites() { return rules(on<aten::avg_pool2d> = code<averaged>()); }

private:
    using made = joined<build::average_pool_ops, fixed_point_ops, dequantize_ops, build::strided_slice_ops,
        ops<tosa::add, tosa::conv2d, tosa::depthwise_conv2d, tosa::mul>>;
    static std::optional<value> averaged(emit<made> e, const args<aten::avg_pool2d>& a) {
        auto windows = windows_of({a.kernel_size, a.stride, a.padding, int_list{1, 1}}, 2);
        if (!windows) return e.fail(std::move(windows).error());
        const auto w = std::span(windows.value()).first(2);
        const auto x = as_short_integers_per_tensor(e, a.self);
        if (!x) return dequantized_slices(e, a, w);
        const window_divisors divisors = divisors_of(e, a, w);
        if (!divisors.is_sound()) return std::nullopt;
        const bool is_read = divisors.common() ? is_read_in(e.current(), x->parameters)
                                               : is_rounded_in(e.current(), x->parameters);
        if (a.divisor_override || !is_read) {
            if (const auto sum = dequantized_sum(e, *x, w, divisors)) return sum;
        }
        if (a.divisor_override) return std::nullopt;
        args<aten::avg_pool2d> of_integers = a;
        of_integers.self = x->integers;
        const value pooled = build::average_pool(e, of_integers, x->parameters.zero_point());
        return dequantize(e, {build::transpose(e, pooled, build::to_channels_first(4)), x->parameters});
    }
    static window_divisors divisors_of(
        const emitter& e, const args<aten::avg_pool2d>& a, std::span<const window> w) {
        if (a.divisor_override) return {{*a.divisor_override}, {1}};
        const auto along = [&](std::size_t i) {
            return counts_along(
                w[i], e.shape(a.self)[2 + i], e.result_meta().shape[2 + i], a.count_include_pad);
        };
        return {along(0), along(1)};
    }

    // Like is_read_in, but looks past clamps and selecting ops, which the quantize is hoisted over.
    static bool is_rounded_in(const node& n, const quantization& q, int nested = 0) {
        constexpr int max_looked_through = 8;
        if (is_read_in(n, q)) return true;
        if (n.first_use == nullptr || nested == max_looked_through) return false;
        return std::ranges::all_of(n.uses(), [&](const edge& use) {
            const node& reader = *use.target;
            const auto* a = args_if<quantized_decomposed::quantize_per_tensor>(reader);
            if (a != nullptr) return a->scale == q.scale() && a->zero_point == q.zero_point();
            const bool keeps = is<aten::clamp>(reader) || is<aten::relu>(reader) || is_selecting(reader);
            return keeps && reader.operand_count == 1 && is_rounded_in(reader, q, nested + 1);
        });
    }

    // Returns nothing if the sums do not have room.
    static std::optional<value> dequantized_sum(
        emit<made> e, const dequantized& x, std::span<const window> w, const window_divisors& divisors) {
        const double reach = x.parameters.reach() * static_cast<double>(w[0].kernel * w[1].kernel);
        if (divisors.common()) return divided(e, sum(e, x, w), x.parameters.scale(), reach, divisors);
        const bool is_wide = e.dtype(x.integers) != dtype::int8;  // summed in 48 bits
        if (!divisors.unit(x.parameters.reach()) || (is_wide && reach > 2147483647.0)) return std::nullopt;
        value sums = sum(e, x, w);
        if (is_wide) sums = build::narrow(e, sums, dtype::int32);
        return divided(e, sums, x.parameters.scale(), x.parameters.reach(), divisors);
    }

    // Turns sums with channels last into averages of real numbers. `reach` is that of the sums if they have a
    // common divisor, which is folded into the scale; otherwise that of an element.
    static value divided(
        emit<made> e, value sums, double scale, double reach, const window_divisors& divisors) {
        if (const auto common = divisors.common()) {
            scale /= static_cast<double>(*common);
        } else {
            const std::int64_t unit = *divisors.unit(reach);
            sums = build::multiply(e, sums, parts_of(e, unit, divisors));
            scale /= static_cast<double>(unit);
            reach *= static_cast<double>(unit);
        }
        const auto q = quantization::symmetric(scale, static_cast<std::int64_t>(std::ceil(reach)));
        return build::transpose(e, dequantize(e, {sums, q}), build::to_channels_first(4));
    }
    static value parts_of(emit<ops<>> e, std::int64_t unit, const window_divisors& d) {
        const shape_builder shape{
            1, static_cast<std::int64_t>(d.height.size()), static_cast<std::int64_t>(d.width.size()), 1};
        return build::constant_at(e, dtype::int32, shape, [&](sizes at) {
            const std::int64_t divisor =
                d.height[static_cast<std::size_t>(at[1])] * d.width[static_cast<std::size_t>(at[2])];
            return scalar((unit + divisor / 2) / divisor);
        });
    }

    // Returns the sum of each window, with channels last.
    static value sum(emit<made> e, const dequantized& x, std::span<const window> w) {
        value image = build::transpose(e, x.integers, build::to_channels_last(4));
        auto fitted = build::fit_windows(e.shape(image), w, sizes(e.result_meta().shape).subspan(2));
        image = build::crop(e, image, fitted.used);
        const dtype type = e.dtype(image);
        std::int64_t zero = x.parameters.zero_point();
        std::int64_t bias = 0;
        if (has_zero_of_its_own(e, image, zero)) {
            image = build::pad_image(e, image, std::exchange(fitted.pad, shape_builder{0, 0, 0, 0}), zero);
            bias = -std::exchange(zero, 0) * w[0].kernel * w[1].kernel;
        }
        const std::int64_t channels = e.shape(image).back();
        const auto convolved = [&]<class Op>(Op, const int_list& weight) {
            return e.make<Op>({.input = image,
                .weight = e.splat(1, dtype::int8, weight),
                .bias = e.splat(bias, build::accumulator_of(type), std::array{channels}),
                .input_zp = build::zero_point(e, type, zero),
                .weight_zp = build::zero_point(e, dtype::int8),
                .pad = int_list(fitted.pad),
                .stride = int_list(fitted.stride),
                .dilation = int_list(fitted.dilation),
                .acc_type = build::accumulator_of(type)});
        };
        if (channels == 1) return convolved(tosa::conv2d{}, {1, w[0].kernel, w[1].kernel, 1});
        return convolved(tosa::depthwise_conv2d{}, {w[0].kernel, w[1].kernel, channels, 1});
    }

    // Averages INT32, such as the sums of another pooling.
    static std::optional<value> dequantized_slices(
        emit<made> e, const args<aten::avg_pool2d>& a, std::span<const window> w) {
        constexpr std::int64_t max_slices = 64;
        constexpr double room = 1 << 30;
        if (saturating_add(w[0].kernel, w[1].kernel) > max_slices) return std::nullopt;
        const auto stored = if_per_tensor(dequantizer(e)(a.self));
        if (!stored || e.dtype(stored->integers) != dtype::int32) return std::nullopt;
        const window_divisors divisors = divisors_of(e, a, w);
        auto x = as_scaled_integers(e, a.self);
        if (!x || !divisors.is_sound()) return std::nullopt;
        const double area = static_cast<double>(w[0].kernel * w[1].kernel);
        double factor = 1;
        while (x->reach * factor * area > room || (!divisors.common() && !divisors.unit(x->reach * factor)))
            factor /= 2;
        multiply(e, *x, factor);
        value sums = x->integers;
        sums = slices_added(e, sums, 2, w[0], e.result_meta().shape[2]);
        sums = slices_added(e, sums, 3, w[1], e.result_meta().shape[3]);
        sums = build::transpose(e, sums, build::to_channels_last(4));
        return divided(e, sums, x->scale, divisors.common() ? x->reach * area : x->reach, divisors);
    }
    static value slices_added(
        emit<made> e, value v, std::size_t axis, const window& w, std::int64_t positions) {
        const std::int64_t end = (positions - 1) * w.stride + w.kernel - w.before;
        v = build::pad(e, v, axis, w.before, std::max<std::int64_t>(end - e.shape(v)[axis], 0));
        value sums{};
        for (std::int64_t i = 0; i != w.kernel; ++i) {
            const value slice = build::strided_slice(e, v, axis, i, positions, w.stride);
            sums = sums ? e.make<tosa::add>(sums, slice) : slice;
        }
        return sums;
    }
};

}  // namespace headrace

#endif
