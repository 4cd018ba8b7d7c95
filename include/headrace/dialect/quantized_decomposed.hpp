// SPDX-License-Identifier: MIT
// Defines the quantized_decomposed dialect: the form in which PT2E writes quantized programs.
#ifndef HEADRACE_DIALECT_QUANTIZED_DECOMPOSED_HPP
#define HEADRACE_DIALECT_QUANTIZED_DECOMPOSED_HPP

#include <cstdint>
#include <optional>

#include <headrace/op/op.hpp>

namespace headrace::quantized_decomposed {

/// The choose_qparams ops have two results, scale and zero point.
struct dialect;
using enum trait;

// One line for an op wherever it fits.
// clang-format off

// Quantization.

struct quantize_per_channel : op<dialect, "quantized_decomposed.quantize_per_channel.default",
         "input, scales, zero_points, axis, quant_min, quant_max, dtype", quantizing, has_out> {
    struct args {
        value input, scales, zero_points; std::int64_t axis, quant_min, quant_max; headrace::dtype dtype;
    };
};
struct quantize_per_channel_group
    : op<dialect, "quantized_decomposed.quantize_per_channel_group.default",
         "input, scales, zero_points, quant_min, quant_max, dtype, group_size", quantizing> {
    struct args {
        value input, scales, zero_points; std::int64_t quant_min, quant_max; headrace::dtype dtype;
        std::int64_t group_size;
    };
};
struct quantize_per_tensor : op<dialect, "quantized_decomposed.quantize_per_tensor.default",
         "input, scale, zero_point, quant_min, quant_max, dtype", quantizing, has_out> {
    struct args {
        value input; double scale; std::int64_t zero_point, quant_min, quant_max; headrace::dtype dtype;
    };
};
struct quantize_per_tensor_tensor : op<dialect, "quantized_decomposed.quantize_per_tensor.tensor",
         "input, scale, zero_point, quant_min, quant_max, dtype", quantizing,
         out_named<"quantized_decomposed.quantize_per_tensor.Tensor_out">> {
    struct args { value input, scale, zero_point; std::int64_t quant_min, quant_max; headrace::dtype dtype; };
};
struct quantize_per_tensor_tensor2
    : op<dialect, "quantized_decomposed.quantize_per_tensor.tensor2",
         "input, scale, zero_point, quant_min, quant_max, dtype", quantizing> {
    struct args { value input, scale, zero_point, quant_min, quant_max; headrace::dtype dtype; };
};
struct quantize_per_token : op<dialect, "quantized_decomposed.quantize_per_token.default",
         "input, scales, zero_points, quant_min, quant_max, dtype", quantizing, has_out> {
    struct args {
        value input, scales, zero_points; std::int64_t quant_min, quant_max; headrace::dtype dtype;
    };
};

// Dequantization.

struct dequantize_per_channel : op<dialect, "quantized_decomposed.dequantize_per_channel.default",
         "input, scales, zero_points, axis, quant_min, quant_max, dtype, out_dtype", dequantizing, has_out> {
    struct args {
        value input, scales; std::optional<value> zero_points; std::int64_t axis, quant_min, quant_max;
        headrace::dtype dtype; std::optional<headrace::dtype> out_dtype{};
    };
};
struct dequantize_per_channel_group
    : op<dialect, "quantized_decomposed.dequantize_per_channel_group.default",
         "input, scales, zero_points, quant_min, quant_max, dtype, group_size, output_dtype", dequantizing> {
    struct args {
        value input, scales; std::optional<value> zero_points; std::int64_t quant_min, quant_max;
        headrace::dtype dtype; std::int64_t group_size; headrace::dtype output_dtype;
    };
};
struct dequantize_per_tensor : op<dialect, "quantized_decomposed.dequantize_per_tensor.default",
         "input, scale, zero_point, quant_min, quant_max, dtype, out_dtype", dequantizing, has_out> {
    struct args {
        value input; double scale; std::int64_t zero_point, quant_min, quant_max; headrace::dtype dtype;
        std::optional<headrace::dtype> out_dtype{};
    };
};
struct dequantize_per_tensor_tensor : op<dialect, "quantized_decomposed.dequantize_per_tensor.tensor",
         "input, scale, zero_point, quant_min, quant_max, dtype, out_dtype", dequantizing,
         out_named<"quantized_decomposed.dequantize_per_tensor.Tensor_out">> {
    struct args {
        value input, scale, zero_point; std::int64_t quant_min, quant_max; headrace::dtype dtype;
        std::optional<headrace::dtype> out_dtype{};
    };
};
struct dequantize_per_tensor_tensor2
    : op<dialect, "quantized_decomposed.dequantize_per_tensor.tensor2",
         "input, scale, zero_point, quant_min, quant_max, dtype, out_dtype", dequantizing> {
    struct args {
        value input, scale, zero_point, quant_min, quant_max; headrace::dtype dtype;
        std::optional<headrace::dtype> out_dtype{};
    };
};
struct dequantize_per_token : op<dialect, "quantized_decomposed.dequantize_per_token.default",
         "input, scales, zero_points, quant_min, quant_max, dtype, output_dtype", dequantizing, has_out> {
    struct args {
        value input, scales, zero_points; std::int64_t quant_min, quant_max;
        headrace::dtype dtype, output_dtype;
    };
};

// Quantization parameters of data, and fake quantization.

struct choose_qparams_per_token
    : op<dialect, "quantized_decomposed.choose_qparams_per_token.default", "input, dtype", 2> {
    struct args { value input; headrace::dtype dtype; };
};
struct choose_qparams_per_token_asymmetric
    : op<dialect, "quantized_decomposed.choose_qparams_per_token_asymmetric.default",
         "input, dtype", 2, has_out> {
    struct args { value input; headrace::dtype dtype; };
};
struct choose_qparams_symmetric_tensor
    : op<dialect, "quantized_decomposed.choose_qparams_symmetric.tensor",
         "input, quant_min, quant_max, eps, dtype", 2> {
    struct args { value input; std::int64_t quant_min, quant_max; double eps; headrace::dtype dtype; };
};
struct choose_qparams_tensor : op<dialect, "quantized_decomposed.choose_qparams.tensor",
         "input, quant_min, quant_max, eps, dtype", 2,
         out_named<"quantized_decomposed.choose_qparams.Tensor_out">> {
    struct args { value input; std::int64_t quant_min, quant_max; double eps; headrace::dtype dtype; };
};
struct fake_quant_per_channel
    : op<dialect, "quantized_decomposed.fake_quant_per_channel.default",
         "input, scales, zero_points, axis, quant_min, quant_max"> {
    struct args { value input, scales, zero_points; std::int64_t axis, quant_min, quant_max; };
};

struct dialect : dialect_of<"quantized_decomposed",
      quantize_per_channel, quantize_per_channel_group, quantize_per_tensor, quantize_per_tensor_tensor,
      quantize_per_tensor_tensor2, quantize_per_token,
      dequantize_per_channel, dequantize_per_channel_group, dequantize_per_tensor,
      dequantize_per_tensor_tensor, dequantize_per_tensor_tensor2, dequantize_per_token,
      choose_qparams_per_token, choose_qparams_per_token_asymmetric, choose_qparams_symmetric_tensor,
      choose_qparams_tensor, fake_quant_per_channel> {
    static constexpr bool is_pure = true;
};

// clang-format on

}  // namespace headrace::quantized_decomposed

#endif
