// SPDX-License-Identifier: MIT
// Defines the passes that rewrite quantized sums, maxima and clamps: headrace::convolve_sums,
// headrace::pool_maxima, headrace::add_at_unit_scale and headrace::remove_whole_clamps.
#ifndef HEADRACE_PASSES_NPU_QUANTIZED_ARITHMETIC_HPP
#define HEADRACE_PASSES_NPU_QUANTIZED_ARITHMETIC_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/quantize/rescaling.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/permuting.hpp>

namespace headrace {

struct halve_windows;

/// Computes the sum of an image's pixels by a convolution whose window is the image and whose weights are 1.
/// Example: the mean of each channel before the classifier. A convolution reads INT8, so the widening before
/// the sum is dropped; Vela fuses the RESCALE and TABLE that follow into it. If only every second pixel is
/// summed, such as those at one place in each patch of 2 x 2, the window is dilated.
struct convolve_sums : tuned_for<&target_preferences::convolved_sum> {
    static constexpr std::string_view summary =
        "lowers the sum of an image's pixels to a DEPTHWISE_CONV2D with weights of 1";
    static constexpr bool in_execution_order = true;

    static auto rewrites() {
        const auto convolve = code<made>([](emit<made> e, value image, const auto& m) {
            return convolved(e, image, get<"outer">(m).axis, get<"inner">(m), get<"widened">(m));
        });
        return rules(on_match([](auto image) {
            const auto widened = node_of<"widened", tosa::rescale>(image);
            return node_of<"outer", tosa::reduce_sum>(sole_node<"inner", tosa::reduce_sum>(widened));
        }) = convolve,
            on_match([](auto image) {
                const auto split = sole_node<"split", tosa::reshape>(
                    sole_node<"widened", tosa::rescale>(image), node_of<"shape", tosa::const_shape>());
                return node_of<"outer", tosa::reduce_sum>(sole_node<"inner", tosa::reduce_sum>(split));
            }) = convolve);
    }

private:
    using made = joined<build::reshape_ops, ops<tosa::depthwise_conv2d>>;
    // An image, and how far apart the pixels are that are summed.
    struct grid {
        shape_builder image;
        std::array<std::int64_t, 2> step;
    };
    static std::optional<value> convolved(emit<made> e, value pixels, std::int64_t axis,
        const args<tosa::reduce_sum>& inner, const args<tosa::rescale>& widened) {
        const auto found = grid_of(e.shape(pixels), e.shape(inner.input), std::minmax({axis, inner.axis}));
        if (!found || widening_shift(widened) != 0 || e.dtype(pixels) != dtype::int8) return std::nullopt;
        const auto& [image, step] = *found;
        const std::int64_t height = image[1] / step[0], width = image[2] / step[1];
        const bool fits = std::max(image[1] - step[0], image[2] - step[1]) < max_side &&
            height * width <= preferences_of(e.target()).convolved_sum;
        if (!fits) return std::nullopt;
        const std::array kernel{height, width, image[3], std::int64_t{1}};
        args<tosa::depthwise_conv2d> sum = build::unpadded<tosa::depthwise_conv2d>(e,
            build::reshape(e, pixels, image), e.splat(1, dtype::int8, kernel), e.splat(0, dtype::int32, 1));
        sum.input_zp = widened.input_zp;
        sum.dilation = int_list(step);
        return build::reshape(e, e.make<tosa::depthwise_conv2d>(sum), e.result_meta().shape);
    }
    // Returns the image in which the sums over two axes of `shape` are those of pixels at equal distances.
    static std::optional<grid> grid_of(
        sizes stored, sizes shape, std::pair<std::int64_t, std::int64_t> axes) {
        if (shape.size() != 4 || element_count(shape) == 0) return std::nullopt;
        if (axes == std::pair<std::int64_t, std::int64_t>{1, 2}) return grid{shape, {1, 1}};
        if (axes != std::pair<std::int64_t, std::int64_t>{0, 2} || shape[1] > max_step) return std::nullopt;
        const std::int64_t rows = shape[0] * shape[1];
        // Images are read as they are stored: a RESHAPE of what is not row-major on the chip is a copy.
        if (stored.size() == 4 && stored[0] == 1 && stored[1] == rows && stored[2] % shape[2] == 0 &&
            stored[2] / shape[2] <= max_step) {
            return grid{stored, {shape[1], stored[2] / shape[2]}};
        }
        return grid{{1, rows, shape[2], shape[3]}, {shape[1], 1}};
    }

    static constexpr std::int64_t max_side = 64;  // an Ethos-U's limit for windows
    static constexpr std::int64_t max_step = 2;   // and for their dilation
};
HEADRACE_COMPILED_PASS(convolve_sums);

/// Lowers the maximum over the last axis to pooling. Example: a softmax, which subtracts it. Pooling compares
/// elements of one channel, so the axis becomes the image's height. All other axes except the one before it
/// are merged: Vela transposes each image of a batch separately. A single row is left unchanged.
struct pool_maxima : tuned_for<&target_preferences::pooled_maximum> {
    static constexpr std::string_view summary = "lowers a REDUCE_MAX of the last axis to a MAX_POOL2D";

    static auto rewrites() { return rules(on<tosa::reduce_max> = code<pooled>()); }

private:
    using made = joined<build::permute_ops, ops<tosa::max_pool2d>>;
    static std::optional<value> pooled(emit<made> e, const args<tosa::reduce_max>& a) {
        const shape_builder shape(e.shape(a.input));
        const std::size_t last = shape.size() - 1;
        if (shape.size() < 2 || a.axis != static_cast<std::int64_t>(last) ||
            e.dtype(a.input) != dtype::int8 || shape[last] > preferences_of(e.target()).pooled_maximum) {
            return std::nullopt;
        }
        const std::int64_t width = shape[last - 1];
        const std::int64_t height = element_count(sizes(shape).first(last - 1));
        if (height * width == 1 || std::max(height, width) > max_extent) return std::nullopt;
        const value rows = build::reshape(e, a.input, shape_builder{1, height, width, shape[last]});
        const value columns = build::permute(e, rows, shape_builder{0, 3, 1, 2});
        const value maxima = e.make<tosa::max_pool2d>(
            {.input = columns, .kernel = {shape[last], 1}, .stride = {1, 1}, .pad = {0, 0, 0, 0}});
        return build::reshape(e, maxima, e.result_meta().shape);
    }

    static constexpr std::int64_t max_extent = 65536;  // an Ethos-U's limit for an axis
};
HEADRACE_COMPILED_PASS(pool_maxima);

/// Adds operands of equal scale without bits of fraction: 2^k a + 2^k b, rescaled by s, is a + b, rescaled by
/// 2^k s. Quantized sums widen their operands by 2^k to keep such bits, which are all zero if both have the
/// same scale. Without them, Vela fuses the three operators into one on INT8. Example: the subtraction of a
/// softmax's maximum.
struct add_at_unit_scale : tuned_for<&target_preferences::sums_at_unit_scale> {
    static constexpr std::string_view summary = "2^k a + 2^k b, rescaled, is a + b, rescaled by 2^k more";
    static constexpr bool in_execution_order = true;

    static auto rewrites() {
        return rules(on_match([](auto x, auto y) {
            const auto left = node_of<"x", tosa::rescale>(x);
            const auto right = node_of<"y", tosa::rescale>(y);
            const auto sum =
                sole_node<"sum", tosa::add, tosa::sub, tosa::maximum, tosa::minimum>(left, right);
            return node_of<"result", tosa::rescale>(sum);
        }) = code<made>([](emit<made> e, value, value, const auto& m) {
            return without_fraction(e, get<"result">(m), *find<"sum">(m), get<"x">(m), get<"y">(m));
        }));
    }

private:
    using made = ops<tosa::add, tosa::sub, tosa::maximum, tosa::minimum, tosa::rescale>;
    static std::optional<value> without_fraction(emit<made> e, args<tosa::rescale> a, const node& sum,
        const args<tosa::rescale>& x, const args<tosa::rescale>& y) {
        constexpr std::int64_t min_shift = 2;
        if (!a.scale32 || a.rounding_mode != rounding_mode::single_round || constant_integer(a.input_zp) != 0)
            return std::nullopt;
        const auto power = widening_shift(x);
        const auto shifts = constant_integers(a.shift);
        if (power.value_or(0) == 0 || power != widening_shift(y) || !shifts ||
            *std::min_element(shifts->begin(), shifts->end()) < min_shift + *power)
            return std::nullopt;
        a.input = build::remake<tosa::add, tosa::sub, tosa::maximum, tosa::minimum>(
            e, sum, {widened(e, x), widened(e, y)});
        a.shift = e.constant_of(
            dtype::int8, e.shape(a.shift), [&](std::size_t i) { return (*shifts)[i] - *power; });
        return e.make<tosa::rescale>(a);
    }
    static value widened(emit<made> e, args<tosa::rescale> a) {
        constexpr int bits = 30;
        a.multiplier = e.splat(std::int64_t{1} << bits, dtype::int32, 1);
        a.shift = e.splat(bits, dtype::int8, 1);
        a.scale32 = true;
        return e.make<tosa::rescale>(a);
    }
};
HEADRACE_COMPILED_PASS(add_at_unit_scale);

/// Removes CLAMPs to the whole range of their type. Example: a quantized relu, whose result is quantized from
/// 0 on. Targets that use such a CLAMP as a hint keep it.
struct remove_whole_clamps : pass {
    using phase = target_optimization;
    using runs_after = pass_list<tosa_only, layouts_chosen, halve_windows>;
    static constexpr std::string_view summary = "removes CLAMPs to the whole range of an integer type";

    [[nodiscard]] bool should_run(const graph& g) const { return !preferences_of(g.target()).whole_clamps; }

    static auto rewrites() { return rules(on<tosa::clamp> = code<unclamped>()); }

private:
    using made = ops<>;
    static std::optional<value> unclamped(emit<made> e, const args<tosa::clamp>& a) {
        const dtype type = e.dtype(a.input);
        // Also checked for each CLAMP: a run that skips no pass must not remove CLAMPs that the target wants.
        if (is_floating(type) || preferences_of(e.target()).whole_clamps) return std::nullopt;
        const auto [lowest, highest] = build::bounds_of(type);
        const bool is_whole =
            a.min_val.to_double() <= lowest.to_double() && a.max_val.to_double() >= highest.to_double();
        return is_whole ? std::optional(a.input) : std::nullopt;
    }
};
HEADRACE_COMPILED_PASS(remove_whole_clamps);

}  // namespace headrace

#endif
