// SPDX-License-Identifier: MIT
// Defines headrace::select_convolutions, which makes CMSIS-NN's convolutions of TOSA's.
#ifndef HEADRACE_PASSES_CORTEX_M_CONVOLUTIONS_HPP
#define HEADRACE_PASSES_CORTEX_M_CONVOLUTIONS_HPP

#include <array>
#include <numeric>
#include <optional>

#include <headrace/infer/cortex_m.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/cortex_m/images.hpp>
#include <headrace/passes/cortex_m/scaling.hpp>
#include <headrace/passes/cortex_m/scratch.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// Makes one kernel of a convolution of int8 (TOSA 1.0, 2.2.2 to 2.2.6) and the RESCALE after it. The kernels
/// pad equally on both sides, and leave out what the last window does not reach; images are padded or cropped
/// beforehand only where that moves windows.
struct select_convolutions : pass {
    static constexpr std::string_view summary = "a convolution and its RESCALE as a kernel of CMSIS-NN";

    static auto rewrites() {
        return rules(on<tosa::rescale> = code<made>([](emit<made> e, const args<tosa::rescale>& a) {
            if (const auto* dense = match<tosa::conv2d>(a.input)) return convolved(e, *dense, a);
            if (const auto* apart = match<tosa::depthwise_conv2d>(a.input)) return convolved(e, *apart, a);
            const auto* spread = match<tosa::transpose_conv2d>(a.input);
            return spread != nullptr ? convolved(e, *spread, a) : std::nullopt;
        }));
    }

private:
    using made = joined<cortex_m::image_ops,
        ops<cortex_m::quantized_conv2d_nhwc, cortex_m::quantized_depthwise_conv2d_nhwc,
            cortex_m::quantized_transpose_conv2d_nhwc, cortex_m::quantized_linear, memory::alloc,
            aten::slice_tensor>>;
    // The operands that all kernels share.
    struct operands {
        value weight;
        pmr_vector<std::int64_t> biases;
        std::int64_t input_offset;
        cortex_m::scaled_result to;

        // Returns the largest magnitude of a sum of that many products and a bias.
        [[nodiscard]] double largest_sum(std::int64_t taps) const {
            double bias = 0;
            for (const std::int64_t b : biases) bias = std::max(bias, std::abs(static_cast<double>(b)));
            return bias + cortex_m::largest_product * static_cast<double>(taps);
        }
    };
    template <class Args>
    static std::optional<operands> operands_of(
        emit<made> e, const Args& a, const args<tosa::rescale>& result, std::int64_t channels) {
        auto to = cortex_m::scaled_result_of(e, result);
        auto biases = constant_integers(a.bias);
        const auto zero = constant_integer(a.input_zp);
        const bool is_int8 = e.dtype(a.input) == dtype::int8 && e.dtype(a.weight) == dtype::int8 &&
            e.dtype(a.bias) == dtype::int32 && constant_integer(a.weight_zp) == 0;
        if (!to || !biases || !zero || !is_int8 || match<builtin::constant>(a.weight) == nullptr)
            return std::nullopt;
        if (biases->size() == 1) biases->resize(static_cast<std::size_t>(channels), biases->front());
        return operands{a.weight, std::move(*biases), -*zero, std::move(*to)};
    }
    static value bias_of(emit<made> e, const operands& o) {
        const std::array count{static_cast<std::int64_t>(o.biases.size())};
        return e.constant_of(dtype::int32, count, [&](std::size_t i) { return o.biases[i]; });
    }
    template <op_tag Op>
    static args<Op> kernel_of(emit<made> e, const cortex_m::placed_image& image, const operands& o,
        const cortex_m::channel_factors& factors) {
        return cortex_m::convolution_of<Op>(
            image, {o.weight, bias_of(e, o), o.input_offset, o.to.zero_point}, factors);
    }
    // Returns the constant weight, a matrix of that many rows, transposed and in another shape.
    static value transposed(emit<made> e, value weight, std::int64_t rows, const shape_builder& shape) {
        const auto numbers = *constant_integers(weight);
        const auto height = static_cast<std::size_t>(rows), width = numbers.size() / height;
        return e.constant_of(
            dtype::int8, shape, [&](std::size_t i) { return numbers[i % height * width + i / height]; });
    }

    static std::optional<value> convolved(
        emit<made> e, const args<tosa::conv2d>& a, const args<tosa::rescale>& result) {
        const shape_builder weight(e.shape(a.weight));
        auto o = operands_of(e, a, result, weight[0]);
        if (!o) return std::nullopt;
        const bool is_depthwise = weight[3] == 1 && weight[0] > 1 && e.shape(a.input)[0] == 1;
        if (!is_depthwise) return dense(e, a, *o);
        o->weight = transposed(e, a.weight, weight[0], {1, weight[1], weight[2], weight[0]});
        return by_channel(e, a, *o, weight[0]);
    }
    static std::optional<value> convolved(
        emit<made> e, const args<tosa::depthwise_conv2d>& a, const args<tosa::rescale>& result) {
        const shape_builder weight(e.shape(a.weight));
        const std::int64_t out = weight[2] * weight[3];
        auto o = operands_of(e, a, result, out);
        if (!o) return std::nullopt;
        if (e.shape(a.input)[0] == 1) {
            o->weight = cortex_m::view(e, a.weight, shape_builder{1, weight[0], weight[1], out});
            return by_channel(e, a, *o, weight[3]);
        }
        // The depthwise kernel has no batch; groups of one channel are the same convolution.
        o->weight = transposed(e, a.weight, weight[0] * weight[1], {out, weight[0], weight[1], 1});
        return dense(e, a, *o);
    }

    // Makes a column of a row along which windows move, for which CMSIS-NN's dense convolution has a kernel
    // that is wrong for some strides.
    static void turn_row(emit<made> e, cortex_m::placed_image& image, value& weight) {
        const shape_builder w(e.shape(weight));
        if (e.shape(image.tensor)[1] != 1 || w[1] != 1 || w[2] == 1) return;
        image.turn(e);
        weight = cortex_m::view(e, weight, shape_builder{w[0], w[2], w[1], w[3]});
    }

    // Returns the weight without the zeros between groups of channels, if there are any.
    static value without_other_groups(emit<made> e, value weight) {
        const shape_builder shape(e.shape(weight));
        const tensor_data data = match<builtin::constant>(weight)->data;
        const std::int64_t row = shape[1] * shape[2] * shape[3];
        for (std::int64_t groups = std::gcd(shape[0], shape[3]); groups > 1; --groups) {
            if (shape[0] % groups != 0 || shape[3] % groups != 0) continue;
            const std::int64_t out = shape[0] / groups, in = shape[3] / groups;
            const auto is_of_group = [&](std::int64_t i) { return i % shape[3] / in == i / row / out; };
            const auto is_zero = [&](std::int64_t i) {
                return *element_at(data, *meta_of(weight), i) == std::byte{0};
            };
            std::int64_t i = 0;
            while (i != shape[0] * row && (is_of_group(i) || is_zero(i))) ++i;  // most end at once
            if (i != shape[0] * row) continue;
            const auto numbers = *constant_integers(weight);
            return build::constant_at(
                e, dtype::int8, shape_builder{shape[0], shape[1], shape[2], in}, [&](sizes at) {
                    const std::int64_t channel = at[0] / out * in + at[3];
                    return scalar(numbers[build::element_index(shape, {at[0], at[1], at[2], channel})]);
                });
        }
        return weight;
    }

    template <class Args>
    static std::optional<value> dense(emit<made> e, const Args& a, operands& o) {
        o.weight = without_other_groups(e, o.weight);
        const shape_builder weight(e.shape(o.weight));
        auto image = cortex_m::place_windows(e, a, {weight[1], weight[2]}, -o.input_offset);
        if (!image) return std::nullopt;
        turn_row(e, *image, o.weight);
        if (const auto product = linear(e, *image, o)) return product;
        const double largest = o.largest_sum(weight[1] * weight[2] * weight[3]);
        const auto factors = cortex_m::channel_factors_of(e, o.to, weight[0], largest);
        if (!factors) return std::nullopt;
        const cortex_m::convolution_sizes whole = image->sizes_of(e, weight[0], weight[3]);
        auto kernel = kernel_of<cortex_m::quantized_conv2d_nhwc>(e, *image, o, *factors);
        kernel.scratch = cortex_m::make_scratch(e, cortex_m::convolution_scratch(e.target(), whole));
        return cortex_m::view(e, e.make<cortex_m::quantized_conv2d_nhwc>(kernel), e.result_meta().shape);
    }

    // A pointwise convolution with one scale is a product of matrices.
    static std::optional<value> linear(emit<made> e, const cortex_m::placed_image& image, const operands& o) {
        const std::int64_t out = e.shape(o.weight)[0], taps = e.shape(o.weight)[3];
        if (!image.is_pointwise() || taps != e.shape(image.tensor)[3] || !o.to.has_one_factor())
            return std::nullopt;
        const auto factor = cortex_m::requantization_of(o.to.factor(), o.largest_sum(taps));
        if (!factor) return std::nullopt;
        const bool is_mve = e.target().has(target_feature::mve);
        return e.make<cortex_m::quantized_linear>({.input = image.tensor,
            .weights = cortex_m::view(e, o.weight, shape_builder{out, taps}),
            .bias = is_mve ? std::nullopt : std::optional(bias_of(e, o)),
            .kernel_sum = is_mve ? std::optional(kernel_sum_of(e, o, out)) : std::nullopt,
            .input_offset = o.input_offset,
            .filter_offset = 0,
            .output_offset = o.to.zero_point,
            .requantize_multipliers = {factor->multiplier},
            .requantize_shifts = {factor->shift},
            .activation_max = 127,
            .activation_min = -128});
    }
    // Helium's kernel reads these sums in place of biases; the others read biases alone.
    static value kernel_sum_of(emit<made> e, const operands& o, std::int64_t out) {
        const auto weights = *constant_integers(o.weight);
        const std::size_t taps = weights.size() / o.biases.size();
        return e.constant_of(dtype::int32, shape_builder{1, out}, [&](std::size_t channel) {
            std::int64_t sum = 0;
            for (std::size_t k = 0; k != taps; ++k) sum += weights[channel * taps + k];
            return o.biases[channel] + o.input_offset * sum;
        });
    }

    template <class Args>
    static std::optional<value> by_channel(
        emit<made> e, const Args& a, operands& o, std::int64_t multiplier) {
        const shape_builder weight(e.shape(o.weight));
        auto image = cortex_m::place_windows(e, a, {weight[1], weight[2]}, -o.input_offset);
        const double largest = o.largest_sum(weight[1] * weight[2]);
        const auto factors = cortex_m::channel_factors_of(e, o.to, weight[3], largest);
        if (!image || !factors) return std::nullopt;
        // Helium's kernel makes a dense convolution of one channel.
        if (e.shape(image->tensor)[3] == 1) turn_row(e, *image, o.weight);
        const cortex_m::convolution_sizes whole = image->sizes_of(e, weight[3], weight[3] / multiplier);
        const std::int64_t scratch = cortex_m::depthwise_scratch(e.target(), whole, multiplier);
        auto kernel = kernel_of<cortex_m::quantized_depthwise_conv2d_nhwc>(e, *image, o, *factors);
        kernel.depth_multiplier = multiplier;
        kernel.scratch = cortex_m::make_scratch(e, scratch);
        return cortex_m::view(
            e, e.make<cortex_m::quantized_depthwise_conv2d_nhwc>(kernel), e.result_meta().shape);
    }

    static std::optional<value> convolved(
        emit<made> e, const args<tosa::transpose_conv2d>& a, const args<tosa::rescale>& result) {
        const shape_builder weight(e.shape(a.weight)), out(e.result_meta().shape);
        const auto o = operands_of(e, a, result, weight[0]);
        if (!o) return std::nullopt;
        const double largest = o->largest_sum(weight[1] * weight[2] * weight[3]);
        const auto factors = cortex_m::channel_factors_of(e, o->to, weight[0], largest);
        if (!factors) return std::nullopt;
        const shape_builder image(e.shape(a.input));
        std::array<cortex_m::transposed_axis, 2> axes{};
        for (std::size_t i = 0; i != 2; ++i) {
            const std::int64_t before = -a.out_pad[2 * i], after = -a.out_pad[2 * i + 1];
            axes[i] = {image[1 + i], {weight[1 + i], a.stride[i], 1, before, before}, before - after};
        }
        // Below that many channels, the kernel loses rows unless the padding is a multiple of the stride.
        const bool is_reversed = weight[3] > 16 && a.stride[0] <= 2 && a.stride[1] <= 2;
        const auto is_exact = [&](const cortex_m::transposed_axis& axis) {
            return axis.moving.before >= 0 && axis.output_padding >= 0 &&
                axis.output_padding < axis.moving.stride &&
                (is_reversed || axis.moving.before % axis.moving.stride == 0);
        };
        const bool is_direct =
            std::ranges::all_of(axes, is_exact) && cortex_m::require_transposed(weight[3], axes[0], axes[1]);
        shape_builder whole = out;
        std::array<std::int64_t, 2> start{};
        if (!is_direct) {  // computes all that the image adds to, and takes the part that is wanted
            for (std::size_t i = 0; i != 2; ++i) {
                start[i] = axes[i].moving.before;
                axes[i].moving.before = axes[i].moving.after = axes[i].output_padding = 0;
                whole[1 + i] = (image[1 + i] - 1) * a.stride[i] + weight[1 + i];
                if (start[i] < 0 || start[i] + out[1 + i] > whole[1 + i]) return std::nullopt;
            }
            if (!cortex_m::require_transposed(weight[3], axes[0], axes[1])) return std::nullopt;
        }
        const auto scratch = cortex_m::transposed_convolution_scratch(
            e.target(), {image[1], image[2], weight[3], weight[0], axes[0].moving, axes[1].moving});
        const cortex_m::placed_image placed{a.input, {axes[0].moving, axes[1].moving}};
        auto kernel = kernel_of<cortex_m::quantized_transpose_conv2d_nhwc>(e, placed, *o, *factors);
        kernel.output_padding = {axes[0].output_padding, axes[1].output_padding};
        kernel.scratch = cortex_m::make_scratch(e, scratch.scratch);
        kernel.output_scratch = cortex_m::make_scratch(e, scratch.output);
        value v = e.make<cortex_m::quantized_transpose_conv2d_nhwc>(kernel);
        for (std::size_t i = 0; i != 2; ++i) v = cortex_m::slice(e, v, 1 + i, start[i], out[1 + i]);
        return v;
    }
};

}  // namespace headrace

#endif
