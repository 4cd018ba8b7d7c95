// SPDX-License-Identifier: MIT
// Defines the requirements of each ExecuTorch kernel on its arguments, beyond those of PyTorch's op.
#ifndef HEADRACE_INFER_KERNEL_REFUSALS_HPP
#define HEADRACE_INFER_KERNEL_REFUSALS_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <headrace/base/text.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace::executorch::detail {

/// The reason why a kernel refuses a node; empty if it takes it.
using reason = std::pmr::string;

[[nodiscard]] constexpr bool computes_with(kernel_types types, dtype operand, dtype result) {
    using enum kernel_types;
    switch (types) {
        case all:
            return true;
        case numbers:
            return !is_boolean(operand);
        case floats:
            return is_floating(operand) && is_floating(result);
        case wide_floats:
            return operand == dtype::float32 || operand == dtype::float64;
        case floats_or_int64:
            return is_floating(operand) || operand == dtype::int64;
        case real_results:
            return is_floating(operand) || result == dtype::float32;
        case bits:
            return is_integral(operand) || is_boolean(operand);
    }
    return false;
}

/// True if the runtime has tensors of that type and its kernels support them.
[[nodiscard]] constexpr bool is_kernel_type(dtype t) {
    return t == dtype::uint8 || t == dtype::boolean || t == dtype::bfloat16 || t == dtype::float16 ||
        t == dtype::float32 || t == dtype::float64 || t == dtype::int8 || t == dtype::int16 ||
        t == dtype::int32 || t == dtype::int64;
}

[[nodiscard]] inline reason type_refusal(const node& n, kernel_types types) {
    const auto refusal = [](dtype t) {
        return text_of({"ExecuTorch's kernel for it does not compute with ", name_of(t),
            "; cast its operands before it"});
    };
    dtype operand = dtype::unknown;
    for (const edge& e : n.operand_edges()) {
        const tensor_meta* const meta = meta_of(*e.slot);
        if (meta == nullptr) return "the type of an operand is not known";
        if (!is_kernel_type(meta->dtype)) return refusal(meta->dtype);
        if (operand == dtype::unknown) operand = meta->dtype;
    }
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        if (!n.results[i].meta) return "the type of its result is not known";
        if (!is_kernel_type(n.results[i].meta->dtype)) return refusal(n.results[i].meta->dtype);
    }
    const dtype made = n.result_count == 0 ? dtype::unknown : n.results[0].meta->dtype;
    if (operand != dtype::unknown && !computes_with(types, operand, made)) return refusal(operand);
    return {};
}

// --- what arguments kernels take ---------------------------------------------------------------------------

[[nodiscard]] inline const tensor_meta& meta(value v) { return *meta_of(v); }

[[nodiscard]] inline reason refusal(aten::convolution, const args<aten::convolution>& a) {
    if (meta(a.input).rank() <= 4) return {};
    return "ExecuTorch's kernel for it has one or two spatial axes";
}
[[nodiscard]] inline reason refusal(aten::linear, const args<aten::linear>& a) {
    if (meta(a.input).rank() < 2) return "ExecuTorch's kernel for it takes no vector";
    if (meta(a.weight).rank() != 2) return "ExecuTorch's kernel for it takes no vector as the weight";
    return {};
}
[[nodiscard]] inline reason refusal(aten::gather, const args<aten::gather>& a) {
    if (meta(a.index).dtype == dtype::int64) return {};
    return "ExecuTorch's kernel for it takes indices of int64";
}
[[nodiscard]] inline reason refusal(aten::_adaptive_avg_pool2d, const args<aten::_adaptive_avg_pool2d>& a) {
    const bool positive = std::ranges::all_of(a.output_size, [](std::int64_t size) { return size > 0; });
    if (a.output_size.size() == 2 && positive) return {};
    return "ExecuTorch's kernel for it takes two sizes above 0";
}
template <one_of<ops<aten::_softmax, aten::_log_softmax>> Op>
[[nodiscard]] reason refusal(Op, const args<Op>& a) {
    if (!a.half_to_float) return {};
    return "ExecuTorch's kernel for it does not convert half to float";
}
[[nodiscard]] inline reason refusal(aten::_to_copy, const args<aten::_to_copy>& a) {
    if (!a.non_blocking) return {};
    return "ExecuTorch's kernel for it has no copies that do not block";
}
[[nodiscard]] inline reason refusal(aten::expand, const args<aten::expand>& a) {
    if (!a.implicit) return {};
    return "ExecuTorch's kernel for it has no implicit expansion";
}
[[nodiscard]] inline reason refusal(aten::narrow, const args<aten::narrow>& a) {
    if (a.start >= 0) return {};
    return "ExecuTorch's kernel for it does not count from the end";
}
[[nodiscard]] inline reason refusal(aten::constant_pad_nd, const args<aten::constant_pad_nd>& a) {
    if (std::ranges::all_of(a.pad, [](std::int64_t size) { return size >= 0; })) return {};
    return "ExecuTorch's kernel for it does not crop; slice the tensor instead";
}
[[nodiscard]] inline reason refusal(aten::roll, const args<aten::roll>& a) {
    if (meta(a.self).rank() != 0 && !a.dims.empty() && a.dims.size() == a.shifts.size()) return {};
    return "ExecuTorch's kernel for it takes one axis for each shift";
}
[[nodiscard]] inline reason refusal(aten::sum_dim_intlist, const args<aten::sum_dim_intlist>& a) {
    if (meta(a.self).rank() != 0 || !a.dim || a.dim->empty()) return {};
    return "ExecuTorch's kernel for it takes no axes of a tensor of rank 0";
}
template <one_of<ops<aten::scatter_add, aten::scatter_src, aten::scatter_value>> Op>
[[nodiscard]] reason refusal(Op, const args<Op>& a) {
    if (meta(a.index).dtype != dtype::int64) return "ExecuTorch's kernel for it takes indices of int64";
    if (meta(a.index).rank() == meta(a.self).rank()) return {};
    return "ExecuTorch's kernel for it takes indices with as many axes as the tensor";
}
template <one_of<ops<aten::cumsum, aten::unfold>> Op>
[[nodiscard]] reason refusal(Op, const args<Op>& a) {
    if (meta(a.self).rank() != 0) return {};
    return "ExecuTorch's kernel for it takes no tensor of rank 0";
}
[[nodiscard]] inline reason refusal(aten::grid_sampler_2d, const args<aten::grid_sampler_2d>& a) {
    if (meta(a.input).dtype == meta(a.grid).dtype) return {};
    return "ExecuTorch's kernel for it takes an image and a grid of the same type";
}
/// The optimized kernel computes only in the tensor's own type.
[[nodiscard]] inline reason refusal(aten::add_scalar, const args<aten::add_scalar>& a) {
    const dtype type = meta(a.self).dtype;
    const bool same = !a.other.is_floating() || is_floating(type);
    const bool alpha = !a.alpha.is_floating() || is_floating(type);
    if (same && alpha && !is_boolean(type)) return {};
    return "ExecuTorch's kernel for it takes a number of the tensor's type";
}
/// True if the tensor's type cannot hold the bound.
[[nodiscard]] inline bool is_outside(const std::optional<scalar>& bound, dtype type) {
    if (!bound || is_boolean(type)) return false;
    const double x = bound->to_double();
    if (std::isnan(x) || std::isinf(x)) return !is_floating(type);
    if (type == dtype::float64) return false;
    if (type == dtype::float16) return std::abs(x) > 65504;
    if (is_floating(type)) return std::abs(x) > static_cast<double>(std::numeric_limits<float>::max());
    const int bits = static_cast<int>(traits_of(type).bits);
    if (type == dtype::uint8) return x < 0 || x > 255;
    return x < -std::ldexp(1.0, bits - 1) || x >= std::ldexp(1.0, bits - 1);
}
inline constexpr std::string_view bound_outside =
    "ExecuTorch's kernel for it takes bounds that the tensor's type holds";
[[nodiscard]] inline reason refusal(aten::clamp, const args<aten::clamp>& a) {
    const dtype type = meta(a.self).dtype;
    return is_outside(a.min, type) || is_outside(a.max, type) ? reason(bound_outside) : reason();
}
[[nodiscard]] inline reason refusal(aten::hardtanh, const args<aten::hardtanh>& a) {
    const dtype type = meta(a.self).dtype;
    return is_outside(a.min_val, type) || is_outside(a.max_val, type) ? reason(bound_outside) : reason();
}

// --- quantization ------------------------------------------------------------------------------------------

[[nodiscard]] constexpr bool is_quantized_type(dtype t) {
    return t == dtype::uint8 || t == dtype::int8 || t == dtype::int16 || t == dtype::int32;
}
inline constexpr std::string_view quantized_types =
    "ExecuTorch's kernel for it takes floats, and gives uint8, int8, int16 or int32";
inline constexpr std::string_view dequantized_types =
    "ExecuTorch's kernel for it takes uint8, int8, int16 or int32 as its argument dtype says, and gives "
    "floats";
inline constexpr std::string_view parameter_types =
    "ExecuTorch's kernel for it takes scales of float64 and zero points of int64";
inline constexpr std::string_view wide_range =
    "ExecuTorch's kernel for it takes a range of numbers that the type holds";

[[nodiscard]] inline bool holds_range(dtype type, std::int64_t low, std::int64_t high) {
    const int bits = static_cast<int>(traits_of(type).bits);
    const std::int64_t half = std::int64_t{1} << (bits - 1);
    return type == dtype::uint8 ? low >= 0 && high <= 255 : low >= -half && high < half;
}
template <class Op>
[[nodiscard]] reason quantizing_refusal(const args<Op>& a) {
    if (!is_floating(meta(a.input).dtype) || !is_quantized_type(a.dtype)) return reason(quantized_types);
    if (!holds_range(a.dtype, a.quant_min, a.quant_max)) return reason(wide_range);
    if constexpr (requires { a.scales; }) {
        if (meta(a.scales).dtype != dtype::float64 || meta(a.zero_points).dtype != dtype::int64)
            return reason(parameter_types);
    } else if constexpr (!__is_same(Op, quantized_decomposed::quantize_per_tensor)) {
        if (meta(a.scale).dtype != dtype::float64 || meta(a.zero_point).dtype != dtype::int64)
            return reason(parameter_types);
    }
    return {};
}
template <one_of<ops<quantized_decomposed::quantize_per_tensor, quantized_decomposed::quantize_per_channel,
    quantized_decomposed::quantize_per_token, quantized_decomposed::quantize_per_tensor_tensor>>
        Op>
[[nodiscard]] reason refusal(Op, const args<Op>& a) {
    return quantizing_refusal<Op>(a);
}
template <class Op>
[[nodiscard]] reason dequantizing_refusal(const args<Op>& a, std::optional<dtype> made) {
    const dtype type = meta(a.input).dtype;
    if (!is_quantized_type(type) || type != a.dtype || (made && !is_floating(*made)))
        return reason(dequantized_types);
    if (a.quant_min > a.quant_max) return reason(wide_range);
    return {};
}
[[nodiscard]] inline reason refusal(
    quantized_decomposed::dequantize_per_tensor, const args<quantized_decomposed::dequantize_per_tensor>& a) {
    return dequantizing_refusal<quantized_decomposed::dequantize_per_tensor>(a, a.out_dtype);
}
[[nodiscard]] inline reason refusal(quantized_decomposed::dequantize_per_tensor_tensor,
    const args<quantized_decomposed::dequantize_per_tensor_tensor>& a) {
    if (meta(a.scale).dtype != dtype::float64 || meta(a.zero_point).dtype != dtype::int64)
        return reason(parameter_types);
    return dequantizing_refusal<quantized_decomposed::dequantize_per_tensor_tensor>(a, a.out_dtype);
}
[[nodiscard]] inline bool is_scale_type(value v) {
    return meta(v).dtype == dtype::float32 || meta(v).dtype == dtype::float64;
}
[[nodiscard]] inline bool is_zero_point_type(const std::optional<value>& v) {
    return !v || meta(*v).dtype == dtype::int32 || meta(*v).dtype == dtype::int64;
}
[[nodiscard]] inline reason refusal(quantized_decomposed::dequantize_per_channel,
    const args<quantized_decomposed::dequantize_per_channel>& a) {
    if (!is_scale_type(a.scales) || !is_zero_point_type(a.zero_points)) return reason(parameter_types);
    return dequantizing_refusal<quantized_decomposed::dequantize_per_channel>(a, a.out_dtype);
}
[[nodiscard]] inline reason refusal(
    quantized_decomposed::dequantize_per_token, const args<quantized_decomposed::dequantize_per_token>& a) {
    if (!is_scale_type(a.scales) || !is_zero_point_type(a.zero_points)) return reason(parameter_types);
    return dequantizing_refusal<quantized_decomposed::dequantize_per_token>(a, a.output_dtype);
}
[[nodiscard]] inline reason refusal(
    quantized_decomposed::choose_qparams_tensor, const args<quantized_decomposed::choose_qparams_tensor>& a) {
    if (meta(a.input).dtype == dtype::float32 && a.dtype == dtype::int8) return {};
    return "ExecuTorch's kernel for it takes float32, and chooses parameters for int8";
}
[[nodiscard]] inline reason refusal(quantized_decomposed::choose_qparams_per_token_asymmetric,
    const args<quantized_decomposed::choose_qparams_per_token_asymmetric>& a) {
    if (meta(a.input).dtype == dtype::float32 && a.dtype == dtype::int8) return {};
    return "ExecuTorch's kernel for it takes float32, and chooses parameters for int8";
}

}  // namespace headrace::executorch::detail

#endif
