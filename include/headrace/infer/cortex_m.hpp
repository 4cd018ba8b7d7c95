// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the cortex_m dialect.
#ifndef HEADRACE_INFER_CORTEX_M_HPP
#define HEADRACE_INFER_CORTEX_M_HPP

#include <headrace/dialect/cortex_m.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/infer/window.hpp>

namespace headrace {
namespace cortex_m {

using broadcasting_ops = ops<maximum, minimum, quantized_add, quantized_div, quantized_mul>;
using same_as_input_ops = ops<quantized_activation, softmax>;
using nhwc_ops = ops<quantized_conv2d_nhwc, quantized_depthwise_conv2d_nhwc, quantized_transpose_conv2d_nhwc,
    quantized_avg_pool2d_nhwc, quantized_max_pool2d_nhwc>;
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
inline constexpr image_axes image_axes_of =
    listed<Op, cortex_m::nhwc_ops> ? image_axes{3, 1} : image_axes{1, 2};

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
    return add_result(out, a.dtype, inference::of(a.input).shape);
}
template <one_of<ops<cortex_m::dequantize_per_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, dtype::float32, inference::of(a.input).shape);
}
template <one_of<cortex_m::broadcasting_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, broadcast(self.shape, inference::of(a.other).shape));
    return add_result(out, self.dtype, shape);
}
template <one_of<cortex_m::same_as_input_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, inference::of(a.input));
}

template <one_of<ops<cortex_m::quantized_batch_matmul>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& lhs = inference::of(a.lhs);
    const tensor_meta& rhs = inference::of(a.rhs_transposed);
    HEADRACE_TRY(require_rank("lhs", lhs.shape, 3));
    HEADRACE_TRY(require_rank("rhs_transposed", rhs.shape, 3));
    if (lhs.shape[0] != rhs.shape[0] || lhs.shape[2] != rhs.shape[2]) {
        return invalid({"cannot multiply ", shape_text(lhs.shape), " by transposed ", shape_text(rhs.shape)});
    }
    return add_result(out, lhs.dtype, {lhs.shape[0], lhs.shape[1], rhs.shape[1]});
}
template <one_of<ops<cortex_m::quantized_linear>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    const tensor_meta& weights = inference::of(a.weights);
    HEADRACE_TRY(require_rank("input", input.shape, 1, shape_builder::capacity));
    HEADRACE_TRY(require_rank("weights", weights.shape, 2));
    shape_builder shape(input.shape);
    shape.back() = weights.shape[0];
    return add_result(out, input.dtype, shape);
}

/// Weights are (out, height, width, in).
template <one_of<cortex_m::conv2d_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    const sizes weight(inference::of(a.weight).shape);
    HEADRACE_TRY(require_rank("input", input.shape, 4));
    HEADRACE_TRY(require_rank("weight", weight, 4));
    return detail::infer_windowed_image(out, input, detail::image_axes_of<Op>, weight[0],
        {weight.subspan(1, 2), a.stride, a.padding, a.dilation}, false);
}
/// Weights are (1, height, width, out).
template <one_of<cortex_m::depthwise_conv2d_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    const sizes weight(inference::of(a.weight).shape);
    HEADRACE_TRY(require_rank("input", input.shape, 4));
    HEADRACE_TRY(require_rank("weight", weight, 4));
    return detail::infer_windowed_image(out, input, detail::image_axes_of<Op>, weight[3],
        {weight.subspan(1, 2), a.stride, a.padding, a.dilation}, false);
}
/// Weights are (out, height, width, in).
template <one_of<cortex_m::transpose_conv2d_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr detail::image_axes axes = detail::image_axes_of<Op>;
    const tensor_meta& input = inference::of(a.input);
    const sizes weight(inference::of(a.weight).shape);
    HEADRACE_TRY(require_rank("input", input.shape, 4));
    HEADRACE_TRY(require_rank("weight", weight, 4));
    HEADRACE_TRY(windows, windows_of({weight.subspan(1, 2), a.stride, a.padding, a.dilation}, 2));
    HEADRACE_TRY(extra, list_for("output_padding", a.output_padding, 2));
    shape_builder shape(input.shape);
    shape[axes.channels] = weight[0];
    for (std::size_t i = 0; i != 2; ++i) {
        std::int64_t& size = shape[axes.height + i];
        HEADRACE_TRY(grown, transposed_window_size(size, windows[i], extra[i]));
        size = grown;
    }
    return add_result(out, input.dtype, shape);
}

template <one_of<cortex_m::avg_pool2d_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr detail::image_axes axes = detail::image_axes_of<Op>;
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(require_rank("input", input.shape, 4));
    return detail::infer_windowed_image(out, input, axes, input.shape[axes.channels],
        {a.kernel_size, a.stride, a.padding, int_list{1}}, a.ceil_mode);
}
template <one_of<cortex_m::max_pool2d_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr detail::image_axes axes = detail::image_axes_of<Op>;
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(require_rank("input", input.shape, 4));
    return detail::infer_windowed_image(out, input, axes, input.shape[axes.channels],
        {a.kernel_size, a.stride, a.padding, a.dilation}, a.ceil_mode);
}

/// The lists have four dimensions; a tensor of lower rank uses the last of them.
template <one_of<ops<cortex_m::pad>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    if (a.pre_pad.size() < input.rank() || a.post_pad.size() != a.pre_pad.size()) {
        return invalid({"padding ", shape_text(a.pre_pad), " does not fit ", shape_text(input.shape)});
    }
    const std::size_t unused = a.pre_pad.size() - input.rank();
    shape_builder shape(input.shape);
    for (std::size_t i = 0; i != shape.size(); ++i) {
        shape[i] = saturating_add(shape[i], saturating_add(a.pre_pad[unused + i], a.post_pad[unused + i]));
    }
    return add_result(out, input.dtype, shape);
}
template <one_of<ops<cortex_m::transpose>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(order, permutation_of(a.perm, input.rank()));
    shape_builder shape;
    for (const std::int64_t axis : order) shape.push_back(input.shape[static_cast<std::size_t>(axis)]);
    return add_result(out, input.dtype, shape);
}

}  // namespace headrace

#endif
