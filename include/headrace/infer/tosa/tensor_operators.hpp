// SPDX-License-Identifier: MIT
// Defines the shape rules of TOSA's tensor operators (TOSA 1.0, section 2.2) but ARGMAX.
#ifndef HEADRACE_INFER_TOSA_TENSOR_OPERATORS_HPP
#define HEADRACE_INFER_TOSA_TENSOR_OPERATORS_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <headrace/base/text.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/infer/tosa/requirements.hpp>

namespace headrace {

namespace tosa_rules {

/// Returns the number of positions of a window along one axis (TOSA 1.0, sections 2.2.2 to 2.2.8).
[[nodiscard]] inline result<std::int64_t> window_positions_of(std::string_view op, std::string_view axis,
    std::int64_t size, std::int64_t pad, std::int64_t extent, std::int64_t stride) {
    return exact_positions(op, saturating_sub(saturating_add(size, pad), extent), stride,
        text_of({axis, " ", size, " + pad ", pad, " - kernel ", extent}));
}

/// A convolution over `axes` spatial axes: its attributes and operands.
struct convolution {
    std::string_view op;
    std::size_t axes;
    const int_list& pad;
    const int_list& stride;
    const int_list& dilation;
};

/// Returns the spatial sizes of a convolution's result, with its batch but without its channels.
[[nodiscard]] inline result<shape_builder> convolved(const convolution& c, sizes input, sizes kernel) {
    HEADRACE_TRY(require_items(c.op, "pad", c.pad, 2 * c.axes, 0));
    HEADRACE_TRY(require_items(c.op, "stride", c.stride, c.axes, 1));
    HEADRACE_TRY(require_items(c.op, "dilation", c.dilation, c.axes, 1));
    shape_builder shape{input[0]};
    for (std::size_t i = 0; i != c.axes; ++i) {
        const std::int64_t extent =
            saturating_add(saturating_mul(saturating_sub(kernel[i], 1), c.dilation[i]), 1);
        const std::int64_t pad = saturating_add(c.pad[2 * i], c.pad[2 * i + 1]);
        HEADRACE_TRY(size,
            window_positions_of(c.op, axis_names[3 - c.axes + i], input[1 + i], pad, extent, c.stride[i]));
        shape.push_back(size);
    }
    return shape;
}

/// Checks the common requirements of convolutions and adds their result, which has the bias's type.
template <class Args>
[[nodiscard]] result<void> add_convolved(
    std::string_view op, const Args& a, shape_builder shape, std::int64_t channels, inference& out) {
    const tensor_meta& bias = inference::of(a.bias);
    if (bias.rank() != 1 || (bias.shape[0] != channels && bias.shape[0] != 1)) {
        return refuse(op,
            {"bias ", shape_text(bias.shape), " must have one element or one for each of the ", channels,
                " output channels"});
    }
    HEADRACE_TRY(require_single(op, "input_zp", a.input_zp));
    HEADRACE_TRY(require_single(op, "weight_zp", a.weight_zp));
    shape.push_back(channels);
    return add_result(out, bias.dtype, shape);
}

[[nodiscard]] inline result<void> require_same_channels(
    std::string_view op, std::int64_t input, std::int64_t weight) {
    if (input == weight) return {};
    return refuse(op, {"the input has ", input, " channels, the weight ", weight});
}

/// CONV2D and CONV3D: weights are [output channels, kernel…, input channels].
template <class Args>
[[nodiscard]] result<void> infer_convolution(
    std::string_view op, std::size_t axes, const Args& a, inference& out) {
    HEADRACE_TRY(require_rank_of(op, "input", a.input, axes + 2));
    HEADRACE_TRY(require_rank_of(op, "weight", a.weight, axes + 2));
    const sizes input = inference::of(a.input).shape;
    const sizes weight = inference::of(a.weight).shape;
    HEADRACE_TRY(require_same_channels(op, input.back(), weight.back()));
    HEADRACE_TRY(shape, convolved({op, axes, a.pad, a.stride, a.dilation}, input, weight.subspan(1, axes)));
    return add_convolved(op, a, shape, weight[0], out);
}

/// AVG_POOL2D and MAX_POOL2D.
struct pooling {
    value input;
    const int_list &kernel, &stride, &pad;
};
[[nodiscard]] inline result<void> infer_pooling(std::string_view op, const pooling& a, inference& out) {
    HEADRACE_TRY(require_rank_of(op, "input", a.input, 4));
    HEADRACE_TRY(require_items(op, "kernel", a.kernel, 2, 1));
    HEADRACE_TRY(require_items(op, "stride", a.stride, 2, 1));
    HEADRACE_TRY(require_items(op, "pad", a.pad, 4, 0));
    const tensor_meta& input = inference::of(a.input);
    shape_builder shape{input.shape[0]};
    for (std::size_t i = 0; i != 2; ++i) {
        if (a.pad[2 * i] >= a.kernel[i] || a.pad[2 * i + 1] >= a.kernel[i]) {
            return refuse(
                op, {"pad ", shape_text(a.pad), " must be smaller than kernel ", shape_text(a.kernel)});
        }
        HEADRACE_TRY(size,
            window_positions_of(op, axis_names[1 + i], input.shape[1 + i],
                saturating_add(a.pad[2 * i], a.pad[2 * i + 1]), a.kernel[i], a.stride[i]));
        shape.push_back(size);
    }
    shape.push_back(input.shape[3]);
    return add_result(out, input.dtype, shape);
}

[[nodiscard]] constexpr bool is_power_of_two(std::int64_t size) {
    return size > 0 && std::has_single_bit(static_cast<std::uint64_t>(size));
}

}  // namespace tosa_rules

/// CONV2D (TOSA 1.0, section 2.2.3).
inline result<void> infer_results(tosa::conv2d, const args<tosa::conv2d>& a, inference& out) {
    return tosa_rules::infer_convolution("conv2d", 2, a, out);
}
/// CONV3D (2.2.4).
inline result<void> infer_results(tosa::conv3d, const args<tosa::conv3d>& a, inference& out) {
    return tosa_rules::infer_convolution("conv3d", 3, a, out);
}
/// DEPTHWISE_CONV2D (2.2.5): weights are [height, width, channels, multiplier].
inline result<void> infer_results(
    tosa::depthwise_conv2d, const args<tosa::depthwise_conv2d>& a, inference& out) {
    constexpr std::string_view op = "depthwise_conv2d";
    HEADRACE_TRY(tosa_rules::require_rank_of(op, "input", a.input, 4));
    HEADRACE_TRY(tosa_rules::require_rank_of(op, "weight", a.weight, 4));
    const sizes input = inference::of(a.input).shape;
    const sizes weight = inference::of(a.weight).shape;
    HEADRACE_TRY(tosa_rules::require_same_channels(op, input[3], weight[2]));
    HEADRACE_TRY(
        shape, tosa_rules::convolved({op, 2, a.pad, a.stride, a.dilation}, input, weight.subspan(0, 2)));
    return tosa_rules::add_convolved(op, a, shape, saturating_mul(weight[2], weight[3]), out);
}
/// TRANSPOSE_CONV2D (2.2.10): out_pad may be negative, but not cut the whole kernel away.
inline result<void> infer_results(
    tosa::transpose_conv2d, const args<tosa::transpose_conv2d>& a, inference& out) {
    constexpr std::string_view op = "transpose_conv2d";
    HEADRACE_TRY(tosa_rules::require_rank_of(op, "input", a.input, 4));
    HEADRACE_TRY(tosa_rules::require_rank_of(op, "weight", a.weight, 4));
    HEADRACE_TRY(tosa_rules::require_items(op, "out_pad", a.out_pad, 4, INT64_MIN));
    HEADRACE_TRY(tosa_rules::require_items(op, "stride", a.stride, 2, 1));
    const sizes input = inference::of(a.input).shape;
    const sizes weight = inference::of(a.weight).shape;
    HEADRACE_TRY(tosa_rules::require_same_channels(op, input[3], weight[3]));
    shape_builder shape{input[0]};
    for (std::size_t i = 0; i != 2; ++i) {
        const std::int64_t kernel = weight[1 + i];
        if (a.out_pad[2 * i] <= -kernel || a.out_pad[2 * i + 1] <= -kernel) {
            return tosa_rules::refuse(op,
                {"out_pad ", shape_text(a.out_pad), " must be above minus the kernel ",
                    shape_text(weight.subspan(1, 2))});
        }
        const std::int64_t pad = saturating_add(a.out_pad[2 * i], a.out_pad[2 * i + 1]);
        const std::int64_t moved = saturating_mul(saturating_sub(input[1 + i], 1), a.stride[i]);
        shape.push_back(saturating_add(saturating_add(moved, pad), kernel));
        if (shape.back() < 1) {
            return tosa_rules::refuse(
                op, {tosa_rules::axis_names[1 + i], " of the result would be ", shape.back()});
        }
    }
    return tosa_rules::add_convolved(op, a, shape, weight[0], out);
}

/// AVG_POOL2D (2.2.2).
inline result<void> infer_results(tosa::avg_pool2d, const args<tosa::avg_pool2d>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_single("avg_pool2d", "input_zp", a.input_zp));
    HEADRACE_TRY(tosa_rules::require_single("avg_pool2d", "output_zp", a.output_zp));
    return tosa_rules::infer_pooling("avg_pool2d", {a.input, a.kernel, a.stride, a.pad}, out);
}
/// MAX_POOL2D (2.2.8).
inline result<void> infer_results(tosa::max_pool2d, const args<tosa::max_pool2d>& a, inference& out) {
    return tosa_rules::infer_pooling("max_pool2d", {a.input, a.kernel, a.stride, a.pad}, out);
}

/// MATMUL (2.2.7): [N, H, C] by [N, C, W]. Without an output_type, the type is that of the widest row of its
/// table.
inline result<void> infer_results(tosa::matmul, const args<tosa::matmul>& a, inference& out) {
    constexpr std::string_view op = "matmul";
    HEADRACE_TRY(tosa_rules::require_rank_of(op, "a", a.a, 3));
    HEADRACE_TRY(tosa_rules::require_rank_of(op, "b", a.b, 3));
    HEADRACE_TRY(tosa_rules::require_single(op, "a_zp", a.a_zp));
    HEADRACE_TRY(tosa_rules::require_single(op, "b_zp", a.b_zp));
    const tensor_meta& left = inference::of(a.a);
    const tensor_meta& right = inference::of(a.b);
    if (left.shape[0] != right.shape[0] || left.shape[2] != right.shape[1]) {
        return tosa_rules::refuse(
            op, {"cannot multiply ", shape_text(left.shape), " by ", shape_text(right.shape)});
    }
    const auto product_type = [&] {
        if (a.output_type != dtype::unknown) return a.output_type;
        switch (left.dtype) {
            case dtype::int8:
                return dtype::int32;
            case dtype::int16:
                return dtype::int48;
            case dtype::float8_e4m3:
            case dtype::float8_e5m2:
                return dtype::float16;
            case dtype::bfloat16:
                return dtype::float32;
            default:
                return left.dtype;
        }
    };
    return add_result(out, product_type(), {left.shape[0], left.shape[1], right.shape[2]});
}

/// FFT2D (2.2.6).
inline result<void> infer_results(tosa::fft2d, const args<tosa::fft2d>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_rank_of("fft2d", "input_real", a.input_real, 3));
    const tensor_meta& real = inference::of(a.input_real);
    if (!(inference::of(a.input_imag) == real))
        return tosa_rules::refuse("fft2d", "its operands differ in shape");
    if (!tosa_rules::is_power_of_two(real.shape[1]) || !tosa_rules::is_power_of_two(real.shape[2])) {
        return tosa_rules::refuse(
            "fft2d", {shape_text(real.shape), " must have powers of two as height and width"});
    }
    HEADRACE_TRY(add_result(out, real));
    return add_result(out, real);
}
/// RFFT2D (2.2.9).
inline result<void> infer_results(tosa::rfft2d, const args<tosa::rfft2d>& a, inference& out) {
    HEADRACE_TRY(tosa_rules::require_rank_of("rfft2d", "input_real", a.input_real, 3));
    const tensor_meta& real = inference::of(a.input_real);
    if (!tosa_rules::is_power_of_two(real.shape[1]) || !tosa_rules::is_power_of_two(real.shape[2])) {
        return tosa_rules::refuse(
            "rfft2d", {shape_text(real.shape), " must have powers of two as height and width"});
    }
    const shape_builder half{real.shape[0], real.shape[1], real.shape[2] / 2 + 1};
    HEADRACE_TRY(add_result(out, real.dtype, half));
    return add_result(out, real.dtype, half);
}

}  // namespace headrace

#endif
