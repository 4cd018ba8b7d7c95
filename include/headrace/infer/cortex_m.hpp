// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the cortex_m dialect.
#ifndef HEADRACE_INFER_CORTEX_M_HPP
#define HEADRACE_INFER_CORTEX_M_HPP

#include <array>
#include <cstddef>
#include <cstdint>

#include <headrace/dialect/cortex_m.hpp>
#include <headrace/infer/cortex_m_checks.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/infer/window.hpp>

namespace headrace {
namespace cortex_m {

using extremum_ops = ops<maximum, minimum>;
using scaled_ops = ops<quantized_add, quantized_mul>;
/// True if an op's images are NHWC in their shapes, too.
template <class Op>
inline constexpr bool is_nhwc = Op::name.ends_with("_nhwc.default");
using conv2d_ops = ops<quantized_conv2d, quantized_conv2d_nhwc>;
using depthwise_conv2d_ops = ops<quantized_depthwise_conv2d, quantized_depthwise_conv2d_nhwc>;
using transpose_conv2d_ops = ops<quantized_transpose_conv2d, quantized_transpose_conv2d_nhwc>;
using avg_pool2d_ops = ops<quantized_avg_pool2d, quantized_avg_pool2d_nhwc>;
using max_pool2d_ops = ops<quantized_max_pool2d, quantized_max_pool2d_nhwc>;

}  // namespace cortex_m

namespace detail {

/// The positions of the channels and the spatial axes of an image.
struct image_axes {
    std::size_t channels;
    std::size_t height;
};
template <class Op>
inline constexpr image_axes image_axes_of = cortex_m::is_nhwc<Op> ? image_axes{3, 1} : image_axes{1, 2};

inline result<void> infer_windowed_image(inference& out, const tensor_meta& input, image_axes axes,
    std::int64_t channels, const window_lists& lists, bool ceil_mode) {
    HEADRACE_TRY(windows, windows_of(lists, 2));
    shape_builder shape(input.shape);
    shape[axes.channels] = channels;
    for (std::size_t i = 0; i != 2; ++i) {
        std::int64_t& size = shape[axes.height + i];
        HEADRACE_TRY(positions, window_positions(size, windows[i], ceil_mode));
        size = positions;
    }
    return add_result(out, input.dtype, shape);
}

}  // namespace detail

template <one_of<ops<cortex_m::quantize_per_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(require_dtype("input", input.dtype, dtype::float32));
    HEADRACE_TRY(cortex_m::require_quantized_range(a.dtype, a.quant_min, a.quant_max));
    return add_result(out, a.dtype, input);
}
template <one_of<ops<cortex_m::dequantize_per_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(cortex_m::require_quantized_range(a.dtype, a.quant_min, a.quant_max));
    HEADRACE_TRY(require_dtype("input", input.dtype, a.dtype));
    HEADRACE_TRY(require_between("zero_point", a.zero_point, a.quant_min, a.quant_max));
    return add_result(out, dtype::float32, input);
}
template <one_of<cortex_m::extremum_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(cortex_m::require_int8("self", self, "other", other));
    HEADRACE_TRY(require_rank("self", self.shape, 0, 4));
    HEADRACE_TRY(require_rank("other", other.shape, 0, 4));
    HEADRACE_TRY(cortex_m::require_readable(self.shape, other.shape));
    HEADRACE_TRY(cortex_m::require_readable(other.shape, self.shape));
    HEADRACE_TRY(shape, broadcast(self.shape, other.shape));
    return add_result(out, self.dtype, shape);
}
template <one_of<cortex_m::scaled_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(cortex_m::require_int8("self", self, "other", other));
    if constexpr (__is_same(Op, cortex_m::quantized_add)) {
        HEADRACE_TRY(cortex_m::require_scaling("self", a.self_multiplier, a.self_shift));
        HEADRACE_TRY(cortex_m::require_scaling("other", a.other_multiplier, a.other_shift));
    }
    HEADRACE_TRY(cortex_m::require_scaling("output", a.output_multiplier, a.output_shift));
    if (self.shape == other.shape) return add_result(out, self);
    if (!cortex_m::is_channel_broadcast(self.shape, other.shape)) {
        return invalid({"self ", shape_text(self.shape), " and other ", shape_text(other.shape),
            " must have one shape, or one of them a number for each channel"});
    }
    HEADRACE_TRY(shape, broadcast(self.shape, other.shape));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<cortex_m::quantized_div>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(cortex_m::require_int8_or_int16("self", self.dtype));
    HEADRACE_TRY(require_dtype("other", other.dtype, self.dtype));
    HEADRACE_TRY(require_shape("other", other.shape, self.shape));
    return add_result(out, self);
}
template <one_of<ops<cortex_m::quantized_activation>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(cortex_m::require_int8("input", inference::of(a.input), "lut", inference::of(a.lut)));
    HEADRACE_TRY(require_elements("lut", inference::of(a.lut).shape, 256));
    return add_result(out, inference::of(a.input));
}
/// A negative shift is refused because the kernel shifts to the left by it.
template <one_of<ops<cortex_m::softmax>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(cortex_m::require_int8("input", input));
    HEADRACE_TRY(require_nonempty("input", input.shape));
    HEADRACE_TRY(require_rank("input", input.shape, 1, shape_builder::capacity));
    HEADRACE_TRY(axis, axis_of(a.dim, input.rank()));
    HEADRACE_TRY(
        require_equal("dim", static_cast<std::int64_t>(axis), static_cast<std::int64_t>(input.rank()) - 1));
    HEADRACE_TRY(require_equal("output_zero_point", a.output_zero_point, -128));
    HEADRACE_TRY(cortex_m::require_scaling("input", a.input_multiplier, a.input_shift));
    HEADRACE_TRY(require_at_least("input_shift", a.input_shift, 0));
    return add_result(out, input);
}

template <one_of<ops<cortex_m::quantized_batch_matmul>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& lhs = inference::of(a.lhs);
    const tensor_meta& rhs = inference::of(a.rhs_transposed);
    HEADRACE_TRY(cortex_m::require_int8("lhs", lhs, "rhs_transposed", rhs));
    HEADRACE_TRY(require_rank("lhs", lhs.shape, 3));
    HEADRACE_TRY(require_rank("rhs_transposed", rhs.shape, 3));
    if (lhs.shape[0] != rhs.shape[0] || lhs.shape[2] != rhs.shape[2]) {
        return invalid({"cannot multiply ", shape_text(lhs.shape), " by transposed ", shape_text(rhs.shape)});
    }
    HEADRACE_TRY(cortex_m::require_scaling("output", a.output_multiplier, a.output_shift));
    return add_result(out, lhs.dtype, {lhs.shape[0], lhs.shape[1], rhs.shape[1]});
}
template <one_of<ops<cortex_m::quantized_linear>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    const tensor_meta& weights = inference::of(a.weights);
    HEADRACE_TRY(cortex_m::require_int8("input", input, "weights", weights));
    HEADRACE_TRY(require_rank("input", input.shape, 1, shape_builder::capacity));
    HEADRACE_TRY(require_rank("weights", weights.shape, 2));
    HEADRACE_TRY(
        require_shape("weights", weights.shape, shape_builder{weights.shape[0], input.shape.back()}));
    HEADRACE_TRY(cortex_m::require_int32_per_channel("bias", a.bias, weights.shape[0]));
    HEADRACE_TRY(cortex_m::require_int32_per_channel("kernel_sum", a.kernel_sum, weights.shape[0]));
    if (a.requantize_multipliers.empty() || a.requantize_shifts.empty())
        return invalid("requantize_multipliers and requantize_shifts must not be empty");
    HEADRACE_TRY(cortex_m::require_scaling(
        "requantize", a.requantize_multipliers.front(), a.requantize_shifts.front()));
    shape_builder shape(input.shape);
    shape.back() = weights.shape[0];
    return add_result(out, input.dtype, shape);
}

/// Weights are (out, height, width, in). Fewer channels than the input has make groups.
template <one_of<cortex_m::conv2d_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr detail::image_axes axes = detail::image_axes_of<Op>;
    const tensor_meta& input = inference::of(a.input);
    const sizes weight(inference::of(a.weight).shape);
    HEADRACE_TRY(require_rank("input", input.shape, 4));
    HEADRACE_TRY(require_rank("weight", weight, 4));
    HEADRACE_TRY(cortex_m::require_convolution(a, weight[0]));
    const std::int64_t channels = input.shape[axes.channels];
    const bool grouped =
        weight[3] > 0 && channels > 0 && channels % weight[3] == 0 && weight[0] % (channels / weight[3]) == 0;
    if (!grouped) {
        return invalid({"weight ", shape_text(weight), " does not divide ", channels,
            " input channels and its own result channels into groups"});
    }
    if (weight[3] != channels && !a.bias)  // CMSIS-NN reads one from where none is
        return unsupported("the kernel of convolutions in groups needs a bias");
    return detail::infer_windowed_image(
        out, input, axes, weight[0], {weight.subspan(1, 2), a.stride, a.padding, a.dilation}, false);
}
/// Weights are (1, height, width, out).
template <one_of<cortex_m::depthwise_conv2d_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr detail::image_axes axes = detail::image_axes_of<Op>;
    const tensor_meta& input = inference::of(a.input);
    const sizes weight(inference::of(a.weight).shape);
    HEADRACE_TRY(require_rank("input", input.shape, 4));
    HEADRACE_TRY(require_rank("weight", weight, 4));
    HEADRACE_TRY(require_equal("the batch size", input.shape[0], 1));
    HEADRACE_TRY(require_equal("weight's size 0", weight[0], 1));
    HEADRACE_TRY(cortex_m::require_convolution(a, weight[3]));
    HEADRACE_TRY(require_at_least("depth_multiplier", a.depth_multiplier, 1));
    HEADRACE_TRY(require_equal(
        "weight's size 3", weight[3], saturating_mul(input.shape[axes.channels], a.depth_multiplier)));
    return detail::infer_windowed_image(
        out, input, axes, weight[3], {weight.subspan(1, 2), a.stride, a.padding, a.dilation}, false);
}
/// Weights are (out, height, width, in).
template <one_of<cortex_m::transpose_conv2d_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr detail::image_axes axes = detail::image_axes_of<Op>;
    const tensor_meta& input = inference::of(a.input);
    const sizes weight(inference::of(a.weight).shape);
    HEADRACE_TRY(require_rank("input", input.shape, 4));
    HEADRACE_TRY(require_rank("weight", weight, 4));
    HEADRACE_TRY(require_nonempty("input", input.shape));
    HEADRACE_TRY(cortex_m::require_convolution(a, weight[0]));
    HEADRACE_TRY(require_equal("weight's size 3", weight[3], input.shape[axes.channels]));
    HEADRACE_TRY(windows, windows_of({weight.subspan(1, 2), a.stride, a.padding, a.dilation}, 2));
    HEADRACE_TRY(require_count("output_padding", a.output_padding.size(), 2));
    shape_builder shape(input.shape);
    shape[axes.channels] = weight[0];
    for (std::size_t i = 0; i != 2; ++i) {
        std::int64_t& size = shape[axes.height + i];
        HEADRACE_TRY(grown, transposed_window_size(size, windows[i], a.output_padding[i]));
        size = grown;
    }
    HEADRACE_TRY(
        cortex_m::require_transposed(weight[3], {input.shape[axes.height], windows[0], a.output_padding[0]},
            {input.shape[axes.height + 1], windows[1], a.output_padding[1]}));
    return add_result(out, input.dtype, shape);
}

template <one_of<cortex_m::avg_pool2d_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr detail::image_axes axes = detail::image_axes_of<Op>;
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(require_rank("input", input.shape, 4));
    HEADRACE_TRY(cortex_m::require_pooling(input, a.kernel_size, a.stride, a.padding));
    for (std::size_t i = 0; i != 2; ++i) {  // the runtime's rule gives one window more than PyTorch's
        const std::int64_t padded =
            saturating_add(input.shape[axes.height + i], saturating_mul(2, a.padding[i]));
        if (padded < a.kernel_size[i]) {
            return invalid({"a window of ", a.kernel_size[i], " does not fit in an axis padded to ", padded});
        }
    }
    return detail::infer_windowed_image(out, input, axes, input.shape[axes.channels],
        {a.kernel_size, a.stride, a.padding, int_list{1}}, a.ceil_mode);
}
template <one_of<cortex_m::max_pool2d_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr detail::image_axes axes = detail::image_axes_of<Op>;
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(require_rank("input", input.shape, 4));
    HEADRACE_TRY(cortex_m::require_pooling(input, a.kernel_size, a.stride, a.padding));
    if (a.ceil_mode) return unsupported("the kernel of max pooling has no ceil_mode");
    if (a.dilation != int_list{1, 1}) return unsupported("the kernel of max pooling has no dilation");
    HEADRACE_TRY(require_between("input_zero_point", a.input_zero_point, -128, 127));
    HEADRACE_TRY(require_equal("output_zero_point", a.output_zero_point, a.input_zero_point));
    HEADRACE_TRY(require_between("activation_max", a.activation_max, a.activation_min, INT32_MAX));
    HEADRACE_TRY(require_at_least("activation_min", a.activation_min, INT32_MIN));
    return detail::infer_windowed_image(out, input, axes, input.shape[axes.channels],
        {a.kernel_size, a.stride, a.padding, a.dilation}, false);
}

template <one_of<ops<cortex_m::pad>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(cortex_m::require_int8("input", input));
    HEADRACE_TRY(require_rank("input", input.shape, 1, 4));
    HEADRACE_TRY(require_count("pre_pad", a.pre_pad.size(), 4));
    HEADRACE_TRY(require_count("post_pad", a.post_pad.size(), 4));
    for (std::size_t i = 0; i != 4; ++i) {
        const bool fits = a.pre_pad[i] >= 0 && a.post_pad[i] >= 0;
        const bool is_unused = i < 4 - input.rank();
        if (!fits || (is_unused && (a.pre_pad[i] != 0 || a.post_pad[i] != 0))) {
            return invalid({"padding ", shape_text(a.pre_pad), " and ", shape_text(a.post_pad),
                " does not fit ", shape_text(input.shape)});
        }
    }
    const auto padding = cortex_m::logical_padding(input, a.pre_pad, a.post_pad);
    shape_builder shape(input.shape);
    for (std::size_t i = 0; i != shape.size(); ++i)
        shape[i] = saturating_add(shape[i], saturating_add(padding[i].before, padding[i].after));
    return add_result(out, input.dtype, shape);
}
template <one_of<ops<cortex_m::transpose>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(cortex_m::require_int8("input", input));
    HEADRACE_TRY(require_rank("input", input.shape, 1, 4));
    HEADRACE_TRY(order, permutation_of(a.perm, input.rank()));
    shape_builder shape;
    for (std::size_t i = 0; i != order.size(); ++i) {
        if (input.rank() > 2 && a.perm[i] < 0) return invalid("an axis of perm is negative");
        shape.push_back(input.shape[static_cast<std::size_t>(order[i])]);
    }
    return add_result(out, input.dtype, shape);
}

}  // namespace headrace

#endif
