// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the quantized_decomposed dialect.
#ifndef HEADRACE_INFER_QUANTIZED_DECOMPOSED_DEFINITION_HPP
#define HEADRACE_INFER_QUANTIZED_DECOMPOSED_DEFINITION_HPP

#include <cstdint>
#include <optional>
#include <type_traits>

#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/ranges/quantized_range.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {
namespace quantized_decomposed {

using quantize_ops = ops<quantize_per_channel, quantize_per_channel_group, quantize_per_tensor,
    quantize_per_tensor_tensor, quantize_per_tensor_tensor2, quantize_per_token>;
/// Ops whose result is float32 without an out_dtype.
using dequantize_ops = ops<dequantize_per_channel, dequantize_per_tensor, dequantize_per_tensor_tensor,
    dequantize_per_tensor_tensor2>;
using dequantize_to_dtype_ops = ops<dequantize_per_channel_group, dequantize_per_token>;
using choose_per_token_ops = ops<choose_qparams_per_token, choose_qparams_per_token_asymmetric>;
using choose_ops = ops<choose_qparams_symmetric_tensor, choose_qparams_tensor>;

using per_channel_ops = ops<quantize_per_channel, dequantize_per_channel, fake_quant_per_channel>;
using per_group_ops = ops<quantize_per_channel_group, dequantize_per_channel_group>;
using per_token_ops = ops<quantize_per_token, dequantize_per_token>;
/// Ops whose scale and zero point are tensors with one element each.
using per_tensor_tensor_ops = ops<quantize_per_tensor_tensor, quantize_per_tensor_tensor2,
    dequantize_per_tensor_tensor, dequantize_per_tensor_tensor2>;

}  // namespace quantized_decomposed

namespace detail {

/// Refuses scales, and zero points if any, that are not `count` in number: channels, groups or rows.
inline result<void> check_parameters(
    value scales, const std::optional<value>& zero_points, std::int64_t count) {
    HEADRACE_TRY(require_elements("scales", scales, count));
    return require_elements("zero_points", zero_points, count);
}
inline result<void> check_channels(
    const tensor_meta& input, value scales, const std::optional<value>& zero_points, std::int64_t dim) {
    HEADRACE_TRY(require_rank("input", input.shape, 1, SIZE_MAX));
    HEADRACE_TRY(axis, axis_of(dim, input.rank()));
    HEADRACE_TRY(require_rank("scales", inference::of(scales).shape, 1));
    return check_parameters(scales, zero_points, input.shape[axis]);
}
/// Groups are parts of a matrix's rows; a group_size above the row's length means the whole row.
inline result<void> check_groups(
    const tensor_meta& input, value scales, const std::optional<value>& zero_points, std::int64_t size) {
    HEADRACE_TRY(require_rank("input", input.shape, 2));
    HEADRACE_TRY(require_at_least("group_size", size, 1));
    const std::int64_t row = input.shape[1];
    if (size > row) return check_parameters(scales, zero_points, input.shape[0]);
    if (row % size != 0) {
        return invalid({"group_size ", size, " does not divide axis 1 of ", shape_text(input.shape)});
    }
    return check_parameters(scales, zero_points, saturating_mul(input.shape[0], row / size));
}
inline result<void> check_rows(
    const tensor_meta& input, value scales, const std::optional<value>& zero_points) {
    const sizes shape(input.shape);
    return check_parameters(
        scales, zero_points, element_count(shape.first(shape.empty() ? 0 : shape.size() - 1)));
}

/// Checks the scales and zero points of quantize and dequantize.
template <class Op>
result<void> check_scales(const args<Op>& a) {
    const tensor_meta& input = inference::of(a.input);
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(a.quant_min)>, value>) {
        HEADRACE_TRY(require_elements("quant_min", a.quant_min, 1));
        HEADRACE_TRY(require_elements("quant_max", a.quant_max, 1));
    }
    if constexpr (one_of<Op, quantized_decomposed::per_channel_ops>) {
        return check_channels(input, a.scales, a.zero_points, a.axis);
    } else if constexpr (one_of<Op, quantized_decomposed::per_group_ops>) {
        return check_groups(input, a.scales, a.zero_points, a.group_size);
    } else if constexpr (one_of<Op, quantized_decomposed::per_token_ops>) {
        return check_rows(input, a.scales, a.zero_points);
    } else if constexpr (one_of<Op, quantized_decomposed::per_tensor_tensor_ops>) {
        HEADRACE_TRY(require_elements("scale", a.scale, 1));
        return require_elements("zero_point", a.zero_point, 1);
    } else {
        return require_scale("scale", a.scale);
    }
}
/// Checks a quantize: its input is floating-point and is clamped to a valid range.
template <class Op>
result<void> check_quantize(const args<Op>& a, dtype type) {
    HEADRACE_TRY(require_floating("input", inference::of(a.input).dtype));
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(a.quant_min)>, std::int64_t>) {
        HEADRACE_TRY(require_quantized_range(a.quant_min, a.quant_max, type));
    }
    return check_scales<Op>(a);
}
/// Checks a dequantize: quantized values have the op's dtype or a wider one, in which passes compute tables.
/// Their range only states which values occur.
template <class Op>
result<void> check_dequantize(const args<Op>& a) {
    const dtype given = inference::of(a.input).dtype;
    const bool wider =
        is_integral(given) && is_integral(a.dtype) && traits_of(given).bits > traits_of(a.dtype).bits;
    if (!wider) {
        HEADRACE_TRY(require_dtype("input", given, a.dtype));
    }
    return check_scales<Op>(a);
}

}  // namespace detail

template <one_of<quantized_decomposed::quantize_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::check_quantize<Op>(a, a.dtype));
    return add_result(out, a.dtype, inference::of(a.input).shape);
}
template <one_of<quantized_decomposed::dequantize_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::check_dequantize<Op>(a));
    return add_result(out, a.out_dtype.value_or(dtype::float32), inference::of(a.input).shape);
}
template <one_of<quantized_decomposed::dequantize_to_dtype_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::check_dequantize<Op>(a));
    return add_result(out, a.output_dtype, inference::of(a.input).shape);
}
template <one_of<ops<quantized_decomposed::fake_quant_per_channel>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::check_quantize<Op>(a, dtype::int32));
    return add_result(out, inference::of(a.input));
}

/// One scale and zero point per row.
template <one_of<quantized_decomposed::choose_per_token_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(require_rank("input", input.shape, 1, shape_builder::capacity));
    shape_builder shape(input.shape);
    shape.back() = 1;
    HEADRACE_TRY(add_result(out, dtype::float64, shape));
    return add_result(out, dtype::int64, shape);
}
template <one_of<quantized_decomposed::choose_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_quantized_range(a.quant_min, a.quant_max, a.dtype));
    if (a.quant_min == a.quant_max) return invalid("quant_min must be less than quant_max");
    HEADRACE_TRY(add_result(out, dtype::float64, {1}));
    return add_result(out, dtype::int64, {1});
}

}  // namespace headrace

#endif
