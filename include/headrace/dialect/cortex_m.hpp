// SPDX-License-Identifier: MIT
// Defines the cortex_m dialect: ExecuTorch's ops for CMSIS-NN kernels.
#ifndef HEADRACE_DIALECT_CORTEX_M_HPP
#define HEADRACE_DIALECT_CORTEX_M_HPP

#include <cstdint>
#include <optional>

#include <headrace/op/op.hpp>

namespace headrace::cortex_m {

/// Convolutions and poolings whose names end in _nhwc take NHWC shapes; the others take NCHW shapes in
/// channels_last memory.
struct dialect;
using enum trait;

// One line for an op wherever it fits.
// clang-format off

// Quantization.

struct dequantize_per_tensor
    : op<dialect, "cortex_m.dequantize_per_tensor.default",
         "input, scale, zero_point, quant_min, quant_max, dtype"> {
    struct args {
        value input; double scale; std::int64_t zero_point, quant_min, quant_max; headrace::dtype dtype;
    };
};
struct quantize_per_tensor
    : op<dialect, "cortex_m.quantize_per_tensor.default",
         "input, scale, zero_point, quant_min, quant_max, dtype"> {
    struct args {
        value input; double scale; std::int64_t zero_point, quant_min, quant_max; headrace::dtype dtype;
    };
};

// Elementwise. A multiplier is in Q31; a shift is a power of two.

struct maximum : op<dialect, "cortex_m.maximum.default", "self, other"> {
    struct args { value self, other; };
};
struct minimum : op<dialect, "cortex_m.minimum.default", "self, other"> {
    struct args { value self, other; };
};
struct quantized_activation : op<dialect, "cortex_m.quantized_activation.default", "input, lut"> {
    struct args { value input, lut; };
};
struct quantized_add
    : op<dialect, "cortex_m.quantized_add.default",
         "self, self_zero_point, self_multiplier, self_shift, other, other_zero_point, other_multiplier, "
         "other_shift, output_zero_point, output_multiplier, output_shift, activation_min, activation_max"> {
    struct args {
        value self; std::int64_t self_zero_point, self_multiplier, self_shift; value other;
        std::int64_t other_zero_point, other_multiplier, other_shift, output_zero_point, output_multiplier;
        std::int64_t output_shift, activation_min, activation_max;
    };
};
struct quantized_div
    : op<dialect, "cortex_m.quantized_div.default",
         "self, self_zero_point, other, other_zero_point, output_zero_point, output_scale"> {
    struct args {
        value self; std::int64_t self_zero_point; value other;
        std::int64_t other_zero_point, output_zero_point; double output_scale;
    };
};
struct quantized_mul
    : op<dialect, "cortex_m.quantized_mul.default",
         "self, self_zero_point, other, other_zero_point, output_zero_point, output_multiplier, "
         "output_shift"> {
    struct args {
        value self; std::int64_t self_zero_point; value other;
        std::int64_t other_zero_point, output_zero_point, output_multiplier, output_shift;
    };
};
struct softmax
    : op<dialect, "cortex_m.softmax.default",
         "input, dim, input_zero_point, output_zero_point, input_multiplier, input_shift, diff_min"> {
    struct args {
        value input;
        std::int64_t dim, input_zero_point, output_zero_point, input_multiplier, input_shift, diff_min;
    };
};

// Matrix products.

struct quantized_batch_matmul
    : op<dialect, "cortex_m.quantized_batch_matmul.default",
         "lhs, lhs_zero_point, rhs_transposed, rhs_zero_point, output_zero_point, output_multiplier, "
         "output_shift, scratch", matrix_product> {
    struct args {
        value lhs; std::int64_t lhs_zero_point; value rhs_transposed;
        std::int64_t rhs_zero_point, output_zero_point, output_multiplier, output_shift; value scratch;
    };
};
struct quantized_linear
    : op<dialect, "cortex_m.quantized_linear.default",
         "input, weights, bias, kernel_sum, input_offset, filter_offset, output_offset, "
         "requantize_multipliers, requantize_shifts, activation_max, activation_min", matrix_product> {
    struct args {
        value input, weights; std::optional<value> bias, kernel_sum;
        std::int64_t input_offset, filter_offset, output_offset;
        int_list requantize_multipliers, requantize_shifts; std::int64_t activation_max, activation_min;
    };
};

// Convolution.

struct quantized_conv2d
    : op<dialect, "cortex_m.quantized_conv2d.default",
         "input, weight, bias, stride, padding, dilation, input_offset, output_offset, "
         "requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch", convolving> {
    struct args {
        value input, weight; std::optional<value> bias; int_list stride, padding, dilation;
        std::int64_t input_offset, output_offset; value requantize_multipliers, requantize_shifts;
        std::int64_t activation_min, activation_max; value scratch;
    };
};
struct quantized_conv2d_nhwc
    : op<dialect, "cortex_m.quantized_conv2d_nhwc.default",
         "input, weight, bias, stride, padding, dilation, input_offset, output_offset, "
         "requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch", convolving> {
    struct args {
        value input, weight; std::optional<value> bias; int_list stride, padding, dilation;
        std::int64_t input_offset, output_offset; value requantize_multipliers, requantize_shifts;
        std::int64_t activation_min, activation_max; value scratch;
    };
};
struct quantized_depthwise_conv2d
    : op<dialect, "cortex_m.quantized_depthwise_conv2d.default",
         "input, weight, bias, stride, padding, dilation, depth_multiplier, input_offset, output_offset, "
         "requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch", convolving> {
    struct args {
        value input, weight; std::optional<value> bias; int_list stride, padding, dilation;
        std::int64_t depth_multiplier, input_offset, output_offset;
        value requantize_multipliers, requantize_shifts; std::int64_t activation_min, activation_max;
        value scratch;
    };
};
struct quantized_depthwise_conv2d_nhwc
    : op<dialect, "cortex_m.quantized_depthwise_conv2d_nhwc.default",
         "input, weight, bias, stride, padding, dilation, depth_multiplier, input_offset, output_offset, "
         "requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch", convolving> {
    struct args {
        value input, weight; std::optional<value> bias; int_list stride, padding, dilation;
        std::int64_t depth_multiplier, input_offset, output_offset;
        value requantize_multipliers, requantize_shifts; std::int64_t activation_min, activation_max;
        value scratch;
    };
};
struct quantized_transpose_conv2d
    : op<dialect, "cortex_m.quantized_transpose_conv2d.default",
         "input, weight, bias, stride, padding, output_padding, dilation, input_offset, output_offset, "
         "requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch, "
         "output_scratch", convolving, transposed> {
    struct args {
        value input, weight; std::optional<value> bias; int_list stride, padding, output_padding, dilation;
        std::int64_t input_offset, output_offset; value requantize_multipliers, requantize_shifts;
        std::int64_t activation_min, activation_max; value scratch, output_scratch;
    };
};
struct quantized_transpose_conv2d_nhwc
    : op<dialect, "cortex_m.quantized_transpose_conv2d_nhwc.default",
         "input, weight, bias, stride, padding, output_padding, dilation, input_offset, output_offset, "
         "requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch, "
         "output_scratch", convolving, transposed> {
    struct args {
        value input, weight; std::optional<value> bias; int_list stride, padding, output_padding, dilation;
        std::int64_t input_offset, output_offset; value requantize_multipliers, requantize_shifts;
        std::int64_t activation_min, activation_max; value scratch, output_scratch;
    };
};

// Pooling.

struct quantized_avg_pool2d
    : op<dialect, "cortex_m.quantized_avg_pool2d.default",
         "input, kernel_size, stride, padding, ceil_mode, zero_point, multiplier, shift, scratch"> {
    struct args {
        value input; int_list kernel_size, stride, padding; bool ceil_mode;
        std::int64_t zero_point, multiplier, shift; value scratch;
    };
};
struct quantized_avg_pool2d_nhwc
    : op<dialect, "cortex_m.quantized_avg_pool2d_nhwc.default",
         "input, kernel_size, stride, padding, ceil_mode, zero_point, multiplier, shift, scratch"> {
    struct args {
        value input; int_list kernel_size, stride, padding; bool ceil_mode;
        std::int64_t zero_point, multiplier, shift; value scratch;
    };
};
struct quantized_max_pool2d
    : op<dialect, "cortex_m.quantized_max_pool2d.default",
         "input, kernel_size, stride, padding, dilation, ceil_mode, input_zero_point, output_zero_point, "
         "activation_min, activation_max"> {
    struct args {
        value input; int_list kernel_size, stride, padding, dilation; bool ceil_mode;
        std::int64_t input_zero_point, output_zero_point, activation_min, activation_max;
    };
};
struct quantized_max_pool2d_nhwc
    : op<dialect, "cortex_m.quantized_max_pool2d_nhwc.default",
         "input, kernel_size, stride, padding, dilation, ceil_mode, input_zero_point, output_zero_point, "
         "activation_min, activation_max"> {
    struct args {
        value input; int_list kernel_size, stride, padding, dilation; bool ceil_mode;
        std::int64_t input_zero_point, output_zero_point, activation_min, activation_max;
    };
};

// Data movement.

struct pad : op<dialect, "cortex_m.pad.default", "input, pre_pad, post_pad, pad_value"> {
    struct args { value input; int_list pre_pad, post_pad; std::int64_t pad_value; };
};
struct transpose : op<dialect, "cortex_m.transpose.default", "input, perm"> {
    struct args { value input; int_list perm; };
};

struct dialect : dialect_of<"cortex_m",
      dequantize_per_tensor, quantize_per_tensor,
      maximum, minimum, quantized_activation, quantized_add, quantized_div, quantized_mul, softmax,
      quantized_batch_matmul, quantized_linear,
      quantized_conv2d, quantized_conv2d_nhwc, quantized_depthwise_conv2d, quantized_depthwise_conv2d_nhwc,
      quantized_transpose_conv2d, quantized_transpose_conv2d_nhwc,
      quantized_avg_pool2d, quantized_avg_pool2d_nhwc, quantized_max_pool2d, quantized_max_pool2d_nhwc,
      pad, transpose> {
    static constexpr bool is_pure = true;
};

// clang-format on

}  // namespace headrace::cortex_m

#endif
