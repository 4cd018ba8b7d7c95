// SPDX-License-Identifier: MIT
// Defines headrace::build::convolution and headrace::build::linear, shared by the lowerings of float and of
// quantized convolutions.
#ifndef HEADRACE_PASSES_SUPPORT_CONVOLUTION_HPP
#define HEADRACE_PASSES_SUPPORT_CONVOLUTION_HPP

#include <algorithm>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/support/windows.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

/// True if DEPTHWISE_CONV2D computes it: one group for each input channel, in two dimensions, not transposed.
[[nodiscard]] inline bool is_depthwise(const emitter& e, const args<aten::convolution>& a) {
    const int_list& input = e.shape(a.input);
    const int_list& weight = e.shape(a.weight);
    return !a.transposed && input.size() <= 4 && a.groups > 1 && a.groups == input[1] &&
        weight[0] % input[1] == 0;
}

namespace build {

using convolution_ops = joined<
    ops<tosa::conv2d, tosa::conv3d, tosa::depthwise_conv2d, tosa::transpose_conv2d, tosa::pad, tosa::reverse>,
    reshape_ops, transpose_ops, crop_ops>;

/// Builds a convolution in TOSA, with one group or depthwise. Zero points are those of quantized operands. A
/// missing bias becomes zeros of the accumulator's dtype.
class convolution {
public:
    convolution(emit<convolution_ops> e, const args<aten::convolution>& a, std::int64_t input_zero = 0,
        std::int64_t weight_zero = 0)
        : e_(e), a_(a), input_zero_(input_zero), weight_zero_(weight_zero) {}

    /// Returns the result with channels last; without a height, it has a height of 1. `result` is the shape
    /// in PyTorch, channels first.
    value channels_last(int_list result) {
        if (e_.rank(a_.input) == 3) {
            widen();
            result = {result[0], result[1], 1, result[2]};
        }
        return a_.transposed ? transposed(result) : forward(result);
    }

private:
    // Adds a height of 1.
    void widen() {
        const auto wide = [&](value v) {
            shape_builder shape(e_.shape(v));
            shape.insert(2, 1);
            return reshape(e_, v, shape);
        };
        a_.input = wide(a_.input);
        a_.weight = wide(a_.weight);
        a_.stride = {1, a_.stride[0]};
        a_.padding = {0, a_.padding[0]};
        a_.dilation = {1, a_.dilation[0]};
        a_.output_padding = {0, a_.output_padding.empty() ? 0 : a_.output_padding[0]};
    }

    value forward(const int_list& result) {
        const std::size_t rank = e_.rank(a_.input);
        value input = transpose(e_, a_.input, to_channels_last(rank));
        window windows[3];
        for (std::size_t i = 0; i != rank - 2; ++i) {
            windows[i] = {
                e_.shape(a_.weight)[2 + i], a_.stride[i], a_.dilation[i], a_.padding[i], a_.padding[i]};
        }
        const auto fitted =
            fit_windows(e_.shape(input), std::span(windows, rank - 2), sizes(result).subspan(2));
        for (std::size_t i = 1; i + 1 != rank; ++i) {
            if (fitted.used[i] > 0 || e_.shape(input)[i] == 0) continue;
            return e_.unsupported("its windows lie in the padding alone; reduce padding or stride");
        }
        input = crop(e_, input, fitted.used);
        if (a_.groups > 1) return convolve<tosa::depthwise_conv2d>(input, depthwise_weight(), fitted);
        return rank == 4 ? convolve<tosa::conv2d>(input, dense_weight(), fitted)
                         : convolve<tosa::conv3d>(input, dense_weight(), fitted);
    }

    // PyTorch's weight [O, I, KH, KW] as TOSA's [O, KH, KW, I].
    value dense_weight() { return transpose(e_, a_.weight, to_channels_last(e_.rank(a_.weight))); }

    // PyTorch's weight [C * M, 1, KH, KW] as TOSA's [KH, KW, C, M].
    value depthwise_weight() {
        const int_list shape = e_.shape(a_.weight);
        const value split =
            reshape(e_, a_.weight, shape_builder{a_.groups, shape[0] / a_.groups, shape[2], shape[3]});
        return transpose(e_, split, shape_builder{2, 3, 0, 1});
    }

    template <class Op>
    value convolve(value input, value weight, const window_attributes& w) {
        args<Op> made = unpadded<Op>(e_, input, weight, bias(), input_zero_, weight_zero_);
        made.pad = int_list(w.pad);
        made.stride = int_list(w.stride);
        made.dilation = int_list(w.dilation);
        return e_.make<Op>(made);
    }

    value transposed(const int_list& result) {
        if (e_.rank(a_.input) != 4) {
            return e_.unsupported("TOSA has no transposed convolution of three dimensions; use one of two");
        }
        const value input = transpose(e_, a_.input, to_channels_last(4));
        value weight = transpose(e_, a_.weight, shape_builder{1, 2, 3, 0});
        if (needs_constant_weight()) return convolved_apart(input, weight, result);
        weight = spread(weight, a_.dilation, weight_zero_);
        shape_builder pad;
        shape_builder start{0, 0, 0, 0};
        for (std::size_t i = 0; i != 2; ++i) {
            const std::int64_t kernel = e_.shape(weight)[1 + i];
            // OH = (IH - 1) * stride + KH + before + after yields `after` for the required size.
            const std::int64_t before = -a_.padding[i];
            const std::int64_t after =
                result[2 + i] - (e_.shape(input)[1 + i] - 1) * a_.stride[i] - kernel - before;
            // TOSA can crop by less than the kernel size; the rest is sliced off the result.
            pad.push_back(std::max(before, 1 - kernel));
            pad.push_back(std::max(after, 1 - kernel));
            start[1 + i] = pad[2 * i] - before;
        }
        const value made = e_.make<tosa::transpose_conv2d>({.input = input,
            .weight = weight,
            .bias = bias(),
            .input_zp = zero_point(e_, e_.dtype(input), input_zero_),
            .weight_zp = zero_point(e_, e_.dtype(weight), weight_zero_),
            .out_pad = int_list(pad),
            .stride = a_.stride,
            .acc_type = accumulator_of(e_.dtype(input))});
        const shape_builder wanted{result[0], result[2], result[3], result[1]};
        if (!made || e_.shape(made) == int_list(wanted)) return made;
        return slice_at(e_, made, start, wanted);
    }

    // Ethos-U85 supports TRANSPOSE_CONV2D for constants only.
    bool needs_constant_weight() const {
        const auto is_computed = [](value v) { return !is<builtin::constant>(*v.producer); };
        const bool computes = is_computed(a_.weight) || (a_.bias && is_computed(*a_.bias));
        return computes && e_.target().has(target_feature::u85);
    }

    // Makes a CONV2D of an image with zeros between its elements, with the reversed weight.
    value convolved_apart(value input, value weight, const int_list& result) {
        input = spread(input, a_.stride, input_zero_);
        for (std::int64_t axis = 1; axis != 3; ++axis)
            weight = e_.make<tosa::reverse>({.input1 = weight, .axis = axis});
        shape_builder start{0, 0, 0, 0};
        window_attributes windows;
        windows.stride = {1, 1};
        windows.dilation = shape_builder(a_.dilation);
        windows.used = shape_builder(e_.shape(input));
        for (std::size_t i = 0; i != 2; ++i) {
            const std::int64_t reach = a_.dilation[i] * (e_.shape(weight)[1 + i] - 1);
            const std::int64_t before = reach - a_.padding[i];
            const std::int64_t after = result[2 + i] + reach - e_.shape(input)[1 + i] - before;
            start[1 + i] = std::max<std::int64_t>(-before, 0);
            windows.used[1 + i] -= start[1 + i] + std::max<std::int64_t>(-after, 0);
            windows.pad.push_back(std::max<std::int64_t>(before, 0));
            windows.pad.push_back(std::max<std::int64_t>(after, 0));
        }
        if (windows.used != shape_builder(e_.shape(input))) input = slice_at(e_, input, start, windows.used);
        return convolve<tosa::conv2d>(input, weight, windows);
    }

    // Spreads [N, H, W, C] by `steps[i]` - 1 zeros between neighbours along height and width.
    value spread(value v, const int_list& steps, std::int64_t zero) {
        for (std::size_t i = 0; i != 2; ++i) {
            if (steps[i] == 1) continue;
            const shape_builder shape(e_.shape(v));
            const std::size_t axis = 1 + i;
            shape_builder apart(shape);
            apart.insert(axis + 1, 1);
            shape_builder padding = shape_builder::filled(2 * apart.size(), 0);
            padding[2 * (axis + 1) + 1] = steps[i] - 1;
            const value wide = pad(e_, reshape(e_, v, apart), padding, zero);
            shape_builder whole(shape);
            whole[axis] *= steps[i];
            shape_builder cut(whole);
            cut[axis] -= steps[i] - 1;
            v = crop(e_, reshape(e_, wide, whole), cut);
        }
        return v;
    }

    // TOSA always requires a bias; for integers, it has the accumulator's dtype.
    value bias() {
        if (a_.bias) return *a_.bias;
        const std::int64_t channels = a_.transposed ? e_.shape(a_.weight)[1] : e_.shape(a_.weight)[0];
        const dtype type = e_.dtype(a_.input);
        return e_.splat(0, is_floating(type) ? type : accumulator_of(type), std::array{channels});
    }

    emit<convolution_ops> e_;
    args<aten::convolution> a_;
    std::int64_t input_zero_;
    std::int64_t weight_zero_;
};

/// Transposes the result of `convolution` back to channels first, in PyTorch's shape.
inline value channels_first(
    emit<joined<reshape_ops, transpose_ops>> e, value channels_last, const int_list& result) {
    if (!channels_last) return {};
    return reshape(e, transpose(e, channels_last, to_channels_first(e.rank(channels_last))), result);
}

/// linear as a convolution with a window of one element: rows of the input become the image's height, or its
/// width if the target prefers that; features become its channels. The result is [1, rows, 1, features], or
/// [1, 1, rows, features].
inline value linear(emit<joined<reshape_ops, ops<tosa::conv2d>>> e, const args<aten::linear>& a, value bias,
    std::int64_t input_zero = 0, std::int64_t weight_zero = 0) {
    const std::int64_t features = e.shape(a.weight)[0];
    const std::int64_t width = e.shape(a.weight)[1];
    const std::int64_t rows = e.meta(a.input).elements() / std::max<std::int64_t>(width, 1);
    const bool lies = preferences_of(e.target()).rows_are_width;
    return e.make<tosa::conv2d>(unpadded<tosa::conv2d>(e,
        reshape(e, a.input, shape_builder{1, lies ? 1 : rows, lies ? rows : 1, width}),
        reshape(e, a.weight, shape_builder{features, 1, 1, width}), bias, input_zero, weight_zero));
}

}  // namespace build

}  // namespace headrace

#endif
