// SPDX-License-Identifier: MIT
// Defines the aten dialect: the ops of PyTorch that occur in exported inference programs.
#ifndef HEADRACE_DIALECT_ATEN_HPP
#define HEADRACE_DIALECT_ATEN_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <headrace/op/op.hpp>

namespace headrace::aten {

/// An op's tag is its name in lower case, followed by its overload unless that is "default": add.Tensor is
/// add_tensor. In-place ops have `_inplace`: add_.Tensor is add_inplace_tensor. The op std is std_, so that
/// std:: still works. The members of `args` are the schema's arguments, except layout, device, generator and
/// pin_memory.
struct dialect;
using enum trait;

// One line for an op wherever it fits.
// clang-format off

// Convolution.

struct conv1d : op<dialect, "aten.conv1d.default",
         "input, weight, bias, stride, padding, dilation, groups", convolving, spatial_1d> {
    struct args {
        value input, weight; std::optional<value> bias{}; int_list stride{1}, padding{0}, dilation{1};
        std::int64_t groups = 1;
    };
};
struct conv1d_padding
    : op<dialect, "aten.conv1d.padding",
         "input, weight, bias, stride, padding, dilation, groups", convolving, spatial_1d> {
    struct args {
        value input, weight; std::optional<value> bias{}; int_list stride{1};
        std::string_view padding = "valid"; int_list dilation{1}; std::int64_t groups = 1;
    };
};
struct conv2d : op<dialect, "aten.conv2d.default",
         "input, weight, bias, stride, padding, dilation, groups", convolving, spatial_2d> {
    struct args {
        value input, weight; std::optional<value> bias{};
        int_list stride{1, 1}, padding{0, 0}, dilation{1, 1}; std::int64_t groups = 1;
    };
};
struct conv2d_padding
    : op<dialect, "aten.conv2d.padding",
         "input, weight, bias, stride, padding, dilation, groups", convolving, spatial_2d> {
    struct args {
        value input, weight; std::optional<value> bias{}; int_list stride{1, 1};
        std::string_view padding = "valid"; int_list dilation{1, 1}; std::int64_t groups = 1;
    };
};
struct conv3d : op<dialect, "aten.conv3d.default",
         "input, weight, bias, stride, padding, dilation, groups", convolving, spatial_3d> {
    struct args {
        value input, weight; std::optional<value> bias{};
        int_list stride{1, 1, 1}, padding{0, 0, 0}, dilation{1, 1, 1}; std::int64_t groups = 1;
    };
};
struct conv3d_padding
    : op<dialect, "aten.conv3d.padding",
         "input, weight, bias, stride, padding, dilation, groups", convolving, spatial_3d> {
    struct args {
        value input, weight; std::optional<value> bias{}; int_list stride{1, 1, 1};
        std::string_view padding = "valid"; int_list dilation{1, 1, 1}; std::int64_t groups = 1;
    };
};
struct conv_transpose1d
    : op<dialect, "aten.conv_transpose1d.default",
         "input, weight, bias, stride, padding, output_padding, groups, dilation",
         convolving, transposed, spatial_1d> {
    struct args {
        value input, weight; std::optional<value> bias{}; int_list stride{1}, padding{0}, output_padding{0};
        std::int64_t groups = 1; int_list dilation{1};
    };
};
struct conv_transpose2d_input
    : op<dialect, "aten.conv_transpose2d.input",
         "input, weight, bias, stride, padding, output_padding, groups, dilation",
         convolving, transposed, spatial_2d> {
    struct args {
        value input, weight; std::optional<value> bias{};
        int_list stride{1, 1}, padding{0, 0}, output_padding{0, 0}; std::int64_t groups = 1;
        int_list dilation{1, 1};
    };
};
struct conv_transpose3d_input
    : op<dialect, "aten.conv_transpose3d.input",
         "input, weight, bias, stride, padding, output_padding, groups, dilation",
         convolving, transposed, spatial_3d> {
    struct args {
        value input, weight; std::optional<value> bias{};
        int_list stride{1, 1, 1}, padding{0, 0, 0}, output_padding{0, 0, 0}; std::int64_t groups = 1;
        int_list dilation{1, 1, 1};
    };
};
struct convolution : op<dialect, "aten.convolution.default",
         "input, weight, bias, stride, padding, dilation, transposed, output_padding, groups",
         convolving, has_out> {
    struct args {
        value input, weight; std::optional<value> bias; int_list stride, padding, dilation; bool transposed;
        int_list output_padding; std::int64_t groups;
    };
};

// Pooling.

struct adaptive_avg_pool1d : op<dialect, "aten.adaptive_avg_pool1d.default",
         "self, output_size", pooling, spatial_1d, on_floats, on_reals, has_out> {
    struct args { value self; int_list output_size; };
};
struct _adaptive_avg_pool2d : op<dialect, "aten._adaptive_avg_pool2d.default",
         "self, output_size", pooling, spatial_2d, on_floats, on_reals, has_out> {
    struct args { value self; int_list output_size; };
};
struct adaptive_avg_pool2d : op<dialect, "aten.adaptive_avg_pool2d.default",
         "self, output_size", pooling, spatial_2d, on_floats, on_reals, has_out> {
    struct args { value self; int_list output_size; };
};
struct _adaptive_avg_pool3d : op<dialect, "aten._adaptive_avg_pool3d.default",
         "self, output_size", pooling, spatial_3d, on_floats, on_reals, has_out> {
    struct args { value self; int_list output_size; };
};
struct adaptive_avg_pool3d : op<dialect, "aten.adaptive_avg_pool3d.default",
         "self, output_size", pooling, spatial_3d, on_floats, on_reals, has_out> {
    struct args { value self; int_list output_size; };
};
struct adaptive_max_pool1d : op<dialect, "aten.adaptive_max_pool1d.default",
         "self, output_size", 2, pooling, spatial_1d, on_reals> {
    struct args { value self; int_list output_size; };
};
struct adaptive_max_pool2d : op<dialect, "aten.adaptive_max_pool2d.default",
         "self, output_size", 2, pooling, spatial_2d, on_reals, has_out> {
    struct args { value self; int_list output_size; };
};
struct adaptive_max_pool3d : op<dialect, "aten.adaptive_max_pool3d.default",
         "self, output_size", 2, pooling, spatial_3d, on_reals> {
    struct args { value self; int_list output_size; };
};
struct avg_pool1d : op<dialect, "aten.avg_pool1d.default",
         "self, kernel_size, stride, padding, ceil_mode, count_include_pad",
         pooling, spatial_1d, on_reals, has_out> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0};
        bool ceil_mode = false, count_include_pad = true;
    };
};
struct avg_pool2d : op<dialect, "aten.avg_pool2d.default",
         "self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override",
         pooling, spatial_2d, on_reals, has_out> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0, 0};
        bool ceil_mode = false, count_include_pad = true; std::optional<std::int64_t> divisor_override{};
    };
};
struct avg_pool3d : op<dialect, "aten.avg_pool3d.default",
         "self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override",
         pooling, spatial_3d, on_reals, has_out> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0, 0, 0};
        bool ceil_mode = false, count_include_pad = true; std::optional<std::int64_t> divisor_override{};
    };
};
struct max_pool1d
    : op<dialect, "aten.max_pool1d.default",
         "self, kernel_size, stride, padding, dilation, ceil_mode", pooling, spatial_1d, on_reals> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0}, dilation{1}; bool ceil_mode = false;
    };
};
struct max_pool1d_with_indices : op<dialect, "aten.max_pool1d_with_indices.default",
         "self, kernel_size, stride, padding, dilation, ceil_mode", 2, pooling, spatial_1d, on_reals> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0}, dilation{1}; bool ceil_mode = false;
    };
};
struct max_unpool2d : op<dialect, "aten.max_unpool2d.default",
         "self, indices, output_size", on_reals, has_out, composite> {
    struct args { value self, indices; int_list output_size; };
};
struct max_pool2d
    : op<dialect, "aten.max_pool2d.default",
         "self, kernel_size, stride, padding, dilation, ceil_mode", pooling, spatial_2d, on_reals> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0, 0}, dilation{1, 1}; bool ceil_mode = false;
    };
};
struct max_pool2d_with_indices : op<dialect, "aten.max_pool2d_with_indices.default",
         "self, kernel_size, stride, padding, dilation, ceil_mode", 2,
         pooling, spatial_2d, on_reals, has_out> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0, 0}, dilation{1, 1}; bool ceil_mode = false;
    };
};
struct max_pool3d
    : op<dialect, "aten.max_pool3d.default",
         "self, kernel_size, stride, padding, dilation, ceil_mode", pooling, spatial_3d, on_reals> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0, 0, 0}, dilation{1, 1, 1};
        bool ceil_mode = false;
    };
};
struct max_pool3d_with_indices
    : op<dialect, "aten.max_pool3d_with_indices.default",
         "self, kernel_size, stride, padding, dilation, ceil_mode", 2, pooling, spatial_3d, on_reals> {
    struct args {
        value self; int_list kernel_size, stride{}, padding{0, 0, 0}, dilation{1, 1, 1};
        bool ceil_mode = false;
    };
};

// Matrix products.

struct addmm : op<dialect, "aten.addmm.default", "self, mat1, mat2, beta, alpha", matrix_product, has_out> {
    struct args { value self, mat1, mat2; scalar beta = 1, alpha = 1; };
};
struct baddbmm : op<dialect, "aten.baddbmm.default",
         "self, batch1, batch2, beta, alpha", matrix_product, has_out> {
    struct args { value self, batch1, batch2; scalar beta = 1, alpha = 1; };
};
struct bmm : op<dialect, "aten.bmm.default",
         "self, mat2", matrix_product, has_out> { struct args { value self, mat2; }; };
struct dot : op<dialect, "aten.dot.default", "self, tensor", matrix_product, has_out> {
    struct args { value self, tensor; };
};
struct einsum : op<dialect, "aten.einsum.default", "equation, tensors, path"> {
    struct args { std::string_view equation; list<value> tensors; std::optional<int_list> path{}; };
};
struct linear : op<dialect, "aten.linear.default", "input, weight, bias", matrix_product, has_out> {
    struct args { value input, weight; std::optional<value> bias{}; };
};
struct matmul : op<dialect, "aten.matmul.default", "self, other", matrix_product, has_out> {
    struct args { value self, other; };
};
struct mm : op<dialect, "aten.mm.default",
         "self, mat2", matrix_product, has_out> { struct args { value self, mat2; }; };
struct mv : op<dialect, "aten.mv.default",
         "self, vec", matrix_product, has_out> { struct args { value self, vec; }; };
struct outer : op<dialect, "aten.outer.default", "self, vec2", has_out> {
    struct args { value self, vec2; };
};

// Recurrent networks.

struct gru_cell : op<dialect, "aten.gru_cell.default", "input, hx, w_ih, w_hh, b_ih, b_hh", recurrent_cell> {
    struct args { value input, hx, w_ih, w_hh; std::optional<value> b_ih{}, b_hh{}; };
};
struct gru_input
    : op<dialect, "aten.gru.input",
         "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first",
         2, recurrent_network> {
    struct args {
        value input, hx; list<value> params; bool has_biases; std::int64_t num_layers; double dropout;
        bool train, bidirectional, batch_first;
    };
};
struct lstm_cell : op<dialect, "aten.lstm_cell.default",
         "input, hx, w_ih, w_hh, b_ih, b_hh", 2, recurrent_cell> {
    struct args { value input; list<value> hx; value w_ih, w_hh; std::optional<value> b_ih{}, b_hh{}; };
};
struct lstm_input
    : op<dialect, "aten.lstm.input",
         "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first",
         3, recurrent_network> {
    struct args {
        value input; list<value> hx, params; bool has_biases; std::int64_t num_layers; double dropout;
        bool train, bidirectional, batch_first;
    };
};
struct rnn_relu_cell : op<dialect, "aten.rnn_relu_cell.default",
         "input, hx, w_ih, w_hh, b_ih, b_hh", recurrent_cell> {
    struct args { value input, hx, w_ih, w_hh; std::optional<value> b_ih{}, b_hh{}; };
};
struct rnn_relu_input
    : op<dialect, "aten.rnn_relu.input",
         "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first",
         2, recurrent_network> {
    struct args {
        value input, hx; list<value> params; bool has_biases; std::int64_t num_layers; double dropout;
        bool train, bidirectional, batch_first;
    };
};
struct rnn_tanh_cell : op<dialect, "aten.rnn_tanh_cell.default",
         "input, hx, w_ih, w_hh, b_ih, b_hh", recurrent_cell> {
    struct args { value input, hx, w_ih, w_hh; std::optional<value> b_ih{}, b_hh{}; };
};
struct rnn_tanh_input
    : op<dialect, "aten.rnn_tanh.input",
         "input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first",
         2, recurrent_network> {
    struct args {
        value input, hx; list<value> params; bool has_biases; std::int64_t num_layers; double dropout;
        bool train, bidirectional, batch_first;
    };
};

// Attention and softmax.

struct _log_softmax : op<dialect, "aten._log_softmax.default",
         "self, dim, half_to_float", on_reals, has_out> {
    struct args { value self; std::int64_t dim; bool half_to_float; };
};
struct log_softmax_int : op<dialect, "aten.log_softmax.int", "self, dim, dtype", on_reals, has_out> {
    struct args { value self; std::int64_t dim; std::optional<headrace::dtype> dtype{}; };
};
struct _safe_softmax : op<dialect, "aten._safe_softmax.default", "self, dim, dtype", on_reals> {
    struct args { value self; std::int64_t dim; std::optional<headrace::dtype> dtype{}; };
};
struct scaled_dot_product_attention
    : op<dialect, "aten.scaled_dot_product_attention.default",
         "query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa", attention> {
    struct args {
        headrace::value query, key, value; std::optional<headrace::value> attn_mask{}; double dropout_p = 0.0;
        bool is_causal = false; std::optional<double> scale{}; bool enable_gqa = false;
    };
};
struct _scaled_dot_product_flash_attention_for_cpu
    : op<dialect, "aten._scaled_dot_product_flash_attention_for_cpu.default",
         "query, key, value, dropout_p, is_causal, attn_mask, scale", 2, attention> {
    struct args {
        headrace::value query, key, value; double dropout_p = 0.0; bool is_causal = false;
        std::optional<headrace::value> attn_mask{}; std::optional<double> scale{};
    };
};
struct _softmax : op<dialect, "aten._softmax.default", "self, dim, half_to_float", on_reals, has_out> {
    struct args { value self; std::int64_t dim; bool half_to_float; };
};
struct softmax_int : op<dialect, "aten.softmax.int", "self, dim, dtype", on_reals, has_out> {
    struct args { value self; std::int64_t dim; std::optional<headrace::dtype> dtype{}; };
};

// Normalization.

struct batch_norm
    : op<dialect, "aten.batch_norm.default",
         "input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled"> {
    struct args {
        value input; std::optional<value> weight, bias, running_mean, running_var; bool training;
        double momentum, eps; bool cudnn_enabled;
    };
};
struct cosine_similarity : op<dialect, "aten.cosine_similarity.default", "x1, x2, dim, eps"> {
    struct args { value x1, x2; std::int64_t dim = 1; double eps = 1e-8; };
};
struct group_norm
    : op<dialect, "aten.group_norm.default", "input, num_groups, weight, bias, eps, cudnn_enabled"> {
    struct args {
        value input; std::int64_t num_groups; std::optional<value> weight{}, bias{}; double eps = 1e-5;
        bool cudnn_enabled = true;
    };
};
struct instance_norm
    : op<dialect, "aten.instance_norm.default",
         "input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled"> {
    struct args {
        value input; std::optional<value> weight, bias, running_mean, running_var; bool use_input_stats;
        double momentum, eps; bool cudnn_enabled;
    };
};
struct layer_norm
    : op<dialect, "aten.layer_norm.default", "input, normalized_shape, weight, bias, eps, cudnn_enable"> {
    struct args {
        value input; int_list normalized_shape; std::optional<value> weight{}, bias{}; double eps = 1e-5;
        bool cudnn_enable = true;
    };
};
struct linalg_vector_norm : op<dialect, "aten.linalg_vector_norm.default",
         "self, ord, dim, keepdim, dtype", reduction, has_out> {
    struct args {
        value self; scalar ord = 2; std::optional<int_list> dim{}; bool keepdim = false;
        std::optional<headrace::dtype> dtype{};
    };
};
struct native_batch_norm : op<dialect, "aten.native_batch_norm.default",
         "input, weight, bias, running_mean, running_var, training, momentum, eps", 3, has_out> {
    struct args {
        value input; std::optional<value> weight, bias, running_mean, running_var; bool training;
        double momentum, eps;
    };
};
struct _native_batch_norm_legit
    : op<dialect, "aten._native_batch_norm_legit.default",
         "input, weight, bias, running_mean, running_var, training, momentum, eps", 3> {
    struct args {
        value input; std::optional<value> weight, bias; value running_mean, running_var; bool training;
        double momentum, eps;
    };
};
struct _native_batch_norm_legit_no_stats : op<dialect, "aten._native_batch_norm_legit.no_stats",
         "input, weight, bias, training, momentum, eps", 3, has_out> {
    struct args { value input; std::optional<value> weight, bias; bool training; double momentum, eps; };
};
struct _native_batch_norm_legit_no_training : op<dialect, "aten._native_batch_norm_legit_no_training.default",
         "input, weight, bias, running_mean, running_var, momentum, eps", 3, has_out> {
    struct args {
        value input; std::optional<value> weight, bias; value running_mean, running_var; double momentum, eps;
    };
};
struct native_group_norm : op<dialect, "aten.native_group_norm.default",
         "input, weight, bias, N, C, HxW, group, eps", 3, has_out> {
    struct args {
        value input; std::optional<value> weight, bias; std::int64_t N, C, HxW, group; double eps;
    };
};
struct native_layer_norm : op<dialect, "aten.native_layer_norm.default",
         "input, normalized_shape, weight, bias, eps", 3, has_out> {
    struct args { value input; int_list normalized_shape; std::optional<value> weight, bias; double eps; };
};
struct norm_scalar : op<dialect, "aten.norm.Scalar", "self, p", reduction, has_out> {
    struct args { value self; scalar p = 2; };
};
struct norm_scalaropt_dim : op<dialect, "aten.norm.ScalarOpt_dim",
         "self, p, dim, keepdim", reduction, out_named<"aten.norm.out">> {
    struct args { value self; std::optional<scalar> p; int_list dim; bool keepdim = false; };
};
/// Makes a weight from its direction and its length, along all axes except `dim`, or all axes if it is -1.
struct _weight_norm : op<dialect, "aten._weight_norm.default", "v, g, dim"> {
    struct args { value v, g; std::int64_t dim = 0; };
};
struct rms_norm : op<dialect, "aten.rms_norm.default", "input, normalized_shape, weight, eps"> {
    struct args {
        value input; int_list normalized_shape; std::optional<value> weight{}; std::optional<double> eps{};
    };
};

// Activations.

struct celu : op<dialect, "aten.celu.default",
         "self, alpha", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; scalar alpha = 1.0; };
};
struct celu_inplace : op<dialect, "aten.celu_.default", "self, alpha", in_place_of<celu>> {
    struct args { value self; scalar alpha = 1.0; };
};
struct elu : op<dialect, "aten.elu.default",
         "self, alpha, scale, input_scale", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; scalar alpha = 1, scale = 1, input_scale = 1; };
};
struct elu_inplace : op<dialect, "aten.elu_.default", "self, alpha, scale, input_scale", in_place_of<elu>> {
    struct args { value self; scalar alpha = 1, scale = 1, input_scale = 1; };
};
struct gelu : op<dialect, "aten.gelu.default",
         "self, approximate", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; std::string_view approximate = "none"; };
};
struct gelu_inplace : op<dialect, "aten.gelu_.default", "self, approximate", in_place_of<gelu>> {
    struct args { value self; std::string_view approximate = "none"; };
};
struct glu : op<dialect, "aten.glu.default", "self, dim", on_floats, on_reals, has_out> {
    struct args { value self; std::int64_t dim = -1; };
};
struct hardshrink : op<dialect, "aten.hardshrink.default",
         "self, lambd", on_floats, unary, like_self, on_reals> {
    struct args { value self; scalar lambd = 0.5; };
};
struct hardsigmoid : op<dialect, "aten.hardsigmoid.default",
         "self", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct hardsigmoid_inplace : op<dialect, "aten.hardsigmoid_.default", "self", in_place_of<hardsigmoid>> {
    struct args { value self; };
};
struct hardswish : op<dialect, "aten.hardswish.default",
         "self", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct hardswish_inplace : op<dialect, "aten.hardswish_.default", "self", in_place_of<hardswish>> {
    struct args { value self; };
};
struct hardtanh : op<dialect, "aten.hardtanh.default",
         "self, min_val, max_val", on_numbers, unary, like_self, on_reals, has_out> {
    struct args { value self; scalar min_val = -1, max_val = 1; };
};
struct hardtanh_inplace : op<dialect, "aten.hardtanh_.default",
         "self, min_val, max_val", in_place_of<hardtanh>> {
    struct args { value self; scalar min_val = -1, max_val = 1; };
};
struct leaky_relu : op<dialect, "aten.leaky_relu.default",
         "self, negative_slope", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; scalar negative_slope = 0.01; };
};
struct leaky_relu_inplace : op<dialect, "aten.leaky_relu_.default",
         "self, negative_slope", in_place_of<leaky_relu>> {
    struct args { value self; scalar negative_slope = 0.01; };
};
struct log_sigmoid : op<dialect, "aten.log_sigmoid.default",
         "self", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct log_sigmoid_forward : op<dialect, "aten.log_sigmoid_forward.default",
         "self", on_floats, 2, on_reals, out_named<"aten.log_sigmoid_forward.output">> {
    struct args { value self; };
};
struct logit : op<dialect, "aten.logit.default", "self, eps", unary, int_to_float, on_reals, has_out> {
    struct args { value self; std::optional<double> eps{}; };
};
struct mish : op<dialect, "aten.mish.default", "self", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct mish_inplace : op<dialect, "aten.mish_.default", "self", in_place_of<mish>> {
    struct args { value self; };
};
struct prelu : op<dialect, "aten.prelu.default", "self, weight", on_floats, like_self, on_reals> {
    struct args { value self, weight; };
};
struct _prelu_kernel : op<dialect, "aten._prelu_kernel.default",
         "self, weight", on_floats, like_self, on_reals> {
    struct args { value self, weight; };
};
struct relu : op<dialect, "aten.relu.default", "self", on_numbers, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct relu6 : op<dialect, "aten.relu6.default", "self", on_numbers, unary, like_self, on_reals> {
    struct args { value self; };
};
struct relu6_inplace : op<dialect, "aten.relu6_.default", "self", in_place_of<relu6>> {
    struct args { value self; };
};
struct relu_inplace : op<dialect, "aten.relu_.default", "self", in_place_of<relu>> {
    struct args { value self; };
};
struct selu : op<dialect, "aten.selu.default", "self", on_floats, unary, like_self, on_reals> {
    struct args { value self; };
};
struct selu_inplace : op<dialect, "aten.selu_.default", "self", in_place_of<selu>> {
    struct args { value self; };
};
struct sigmoid : op<dialect, "aten.sigmoid.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct sigmoid_inplace : op<dialect, "aten.sigmoid_.default", "self", in_place_of<sigmoid>> {
    struct args { value self; };
};
struct silu : op<dialect, "aten.silu.default", "self", on_floats, unary, like_self, has_out> {
    struct args { value self; };
};
struct silu_inplace : op<dialect, "aten.silu_.default", "self", in_place_of<silu>> {
    struct args { value self; };
};
struct softplus : op<dialect, "aten.softplus.default",
         "self, beta, threshold", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; scalar beta = 1, threshold = 20; };
};
struct softshrink : op<dialect, "aten.softshrink.default",
         "self, lambd", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; scalar lambd = 0.5; };
};
struct tanh : op<dialect, "aten.tanh.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct tanh_inplace : op<dialect, "aten.tanh_.default", "self", in_place_of<tanh>> {
    struct args { value self; };
};
struct threshold : op<dialect, "aten.threshold.default",
         "self, threshold, value", on_numbers, unary, like_self, on_reals, has_out> {
    struct args { headrace::value self; scalar threshold, value; };
};
struct threshold_inplace : op<dialect, "aten.threshold_.default",
         "self, threshold, value", in_place_of<threshold>> {
    struct args { headrace::value self; scalar threshold, value; };
};

// Functions of one tensor.

struct abs : op<dialect, "aten.abs.default", "self", unary, like_self, has_out> {
    struct args { value self; };
};
struct abs_inplace : op<dialect, "aten.abs_.default", "self", in_place_of<abs>> {
    struct args { value self; };
};
struct acos : op<dialect, "aten.acos.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct acosh : op<dialect, "aten.acosh.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct asin : op<dialect, "aten.asin.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct asinh : op<dialect, "aten.asinh.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct atan : op<dialect, "aten.atan.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct atanh : op<dialect, "aten.atanh.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct ceil : op<dialect, "aten.ceil.default", "self", on_numbers, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct ceil_inplace : op<dialect, "aten.ceil_.default", "self", in_place_of<ceil>> {
    struct args { value self; };
};
struct cos : op<dialect, "aten.cos.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct cosh : op<dialect, "aten.cosh.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct deg2rad : op<dialect, "aten.deg2rad.default", "self", unary, int_to_float, on_reals> {
    struct args { value self; };
};
struct erf : op<dialect, "aten.erf.default", "self", unary, int_to_float, on_reals, has_out> {
    struct args { value self; };
};
struct erfc : op<dialect, "aten.erfc.default", "self", unary, int_to_float, on_reals, has_out> {
    struct args { value self; };
};
struct erfinv : op<dialect, "aten.erfinv.default", "self", unary, int_to_float, on_reals, has_out> {
    struct args { value self; };
};
struct exp : op<dialect, "aten.exp.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct exp2 : op<dialect, "aten.exp2.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct exp_inplace : op<dialect, "aten.exp_.default", "self", in_place_of<exp>> {
    struct args { value self; };
};
struct expm1 : op<dialect, "aten.expm1.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct floor : op<dialect, "aten.floor.default", "self", on_numbers, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct floor_inplace : op<dialect, "aten.floor_.default", "self", in_place_of<floor>> {
    struct args { value self; };
};
struct frac : op<dialect, "aten.frac.default", "self", on_floats, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct isfinite : op<dialect, "aten.isfinite.default", "self", unary, predicate> {
    struct args { value self; };
};
struct isinf : op<dialect, "aten.isinf.default", "self", unary, predicate, has_out> {
    struct args { value self; };
};
struct isnan : op<dialect, "aten.isnan.default", "self", unary, predicate, has_out> {
    struct args { value self; };
};
struct log : op<dialect, "aten.log.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct log10 : op<dialect, "aten.log10.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct log1p : op<dialect, "aten.log1p.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct log2 : op<dialect, "aten.log2.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct log_inplace : op<dialect, "aten.log_.default", "self", in_place_of<log>> {
    struct args { value self; };
};
struct nan_to_num : op<dialect, "aten.nan_to_num.default",
         "self, nan, posinf, neginf", unary, like_self, has_out> {
    struct args { value self; std::optional<double> nan{}, posinf{}, neginf{}; };
};
struct neg : op<dialect, "aten.neg.default", "self", on_numbers, unary, like_self, has_out> {
    struct args { value self; };
};
struct neg_inplace : op<dialect, "aten.neg_.default", "self", in_place_of<neg>> {
    struct args { value self; };
};
struct rad2deg : op<dialect, "aten.rad2deg.default", "self", unary, int_to_float, on_reals> {
    struct args { value self; };
};
struct reciprocal : op<dialect, "aten.reciprocal.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct reciprocal_inplace : op<dialect, "aten.reciprocal_.default", "self", in_place_of<reciprocal>> {
    struct args { value self; };
};
struct round : op<dialect, "aten.round.default", "self", on_numbers, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct round_decimals : op<dialect, "aten.round.decimals",
         "self, decimals", unary, like_self, on_reals, has_out> {
    struct args { value self; std::int64_t decimals; };
};
struct round_inplace : op<dialect, "aten.round_.default", "self", in_place_of<round>> {
    struct args { value self; };
};
struct rsqrt : op<dialect, "aten.rsqrt.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct rsqrt_inplace : op<dialect, "aten.rsqrt_.default", "self", in_place_of<rsqrt>> {
    struct args { value self; };
};
struct sgn : op<dialect, "aten.sgn.default", "self", unary, like_self, has_out> {
    struct args { value self; };
};
struct sign : op<dialect, "aten.sign.default", "self", unary, like_self, on_reals, has_out> {
    struct args { value self; };
};
struct signbit : op<dialect, "aten.signbit.default", "self", unary, predicate, on_reals> {
    struct args { value self; };
};
struct sin : op<dialect, "aten.sin.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct sinh : op<dialect, "aten.sinh.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct sqrt : op<dialect, "aten.sqrt.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct sqrt_inplace : op<dialect, "aten.sqrt_.default", "self", in_place_of<sqrt>> {
    struct args { value self; };
};
struct square : op<dialect, "aten.square.default", "self", unary, has_out> { struct args { value self; }; };
struct square_inplace : op<dialect, "aten.square_.default", "self", in_place_of<square>> {
    struct args { value self; };
};
struct tan : op<dialect, "aten.tan.default", "self", unary, int_to_float, has_out> {
    struct args { value self; };
};
struct trunc : op<dialect, "aten.trunc.default", "self", on_numbers, unary, like_self, on_reals, has_out> {
    struct args { value self; };
};

// Arithmetic.

struct add_scalar : op<dialect, "aten.add.Scalar", "self, other, alpha", unary, has_out> {
    struct args { value self; scalar other, alpha = 1; };
};
struct add_inplace_scalar : op<dialect, "aten.add_.Scalar", "self, other, alpha", in_place_of<add_scalar>> {
    struct args { value self; scalar other, alpha = 1; };
};
struct add_tensor : op<dialect, "aten.add.Tensor",
         "self, other, alpha", binary, commutative, out_named<"aten.add.out">> {
    struct args { value self, other; scalar alpha = 1; };
};
struct add_inplace_tensor : op<dialect, "aten.add_.Tensor", "self, other, alpha", in_place_of<add_tensor>> {
    struct args { value self, other; scalar alpha = 1; };
};
struct addcdiv : op<dialect, "aten.addcdiv.default",
         "self, tensor1, tensor2, value", on_floats, ternary, has_out> {
    struct args { headrace::value self, tensor1, tensor2; scalar value = 1; };
};
struct addcmul : op<dialect, "aten.addcmul.default", "self, tensor1, tensor2, value", ternary, has_out> {
    struct args { headrace::value self, tensor1, tensor2; scalar value = 1; };
};
struct atan2 : op<dialect, "aten.atan2.default", "self, other", binary, int_to_float, on_reals, has_out> {
    struct args { value self, other; };
};
struct copysign_tensor : op<dialect, "aten.copysign.Tensor", "self, other", binary, int_to_float, on_reals> {
    struct args { value self, other; };
};
struct div_scalar : op<dialect, "aten.div.Scalar", "self, other", unary, int_to_float, has_out> {
    struct args { value self; scalar other; };
};
struct div_inplace_scalar : op<dialect, "aten.div_.Scalar", "self, other", in_place_of<div_scalar>> {
    struct args { value self; scalar other; };
};
struct div_scalar_mode : op<dialect, "aten.div.Scalar_mode", "self, other, rounding_mode", unary, has_out> {
    struct args { value self; scalar other; std::optional<std::string_view> rounding_mode; };
};
struct div_tensor : op<dialect, "aten.div.Tensor",
         "self, other", binary, int_to_float, out_named<"aten.div.out">> {
    struct args { value self, other; };
};
struct div_inplace_tensor : op<dialect, "aten.div_.Tensor", "self, other", in_place_of<div_tensor>> {
    struct args { value self, other; };
};
struct div_tensor_mode : op<dialect, "aten.div.Tensor_mode",
         "self, other, rounding_mode", binary, out_named<"aten.div.out_mode">> {
    struct args { value self, other; std::optional<std::string_view> rounding_mode; };
};
struct divide_tensor : op<dialect, "aten.divide.Tensor",
         "self, other", synonym_of<div_tensor>, out_named<"aten.divide.out">> {
    struct args { value self, other; };
};
struct floor_divide : op<dialect, "aten.floor_divide.default",
         "self, other", on_numbers, binary, on_reals, has_out> {
    struct args { value self, other; };
};
struct floor_divide_scalar : op<dialect, "aten.floor_divide.Scalar",
         "self, other", on_numbers, unary, on_reals, has_out> {
    struct args { value self; scalar other; };
};
struct fmax : op<dialect, "aten.fmax.default", "self, other", binary, commutative, on_reals> {
    struct args { value self, other; };
};
struct fmin : op<dialect, "aten.fmin.default", "self, other", binary, commutative, on_reals> {
    struct args { value self, other; };
};
struct fmod_scalar : op<dialect, "aten.fmod.Scalar", "self, other", on_numbers, unary, on_reals, has_out> {
    struct args { value self; scalar other; };
};
struct fmod_tensor : op<dialect, "aten.fmod.Tensor", "self, other", on_numbers, binary, on_reals, has_out> {
    struct args { value self, other; };
};
struct hypot : op<dialect, "aten.hypot.default", "self, other", on_floats, binary, commutative, on_reals> {
    struct args { value self, other; };
};
struct lerp_scalar : op<dialect, "aten.lerp.Scalar", "self, end, weight", on_floats, binary, has_out> {
    struct args { value self, end; scalar weight; };
};
struct lerp_tensor : op<dialect, "aten.lerp.Tensor", "self, end, weight", on_floats, ternary, has_out> {
    struct args { value self, end, weight; };
};
struct logaddexp : op<dialect, "aten.logaddexp.default", "self, other", on_floats, binary, commutative> {
    struct args { value self, other; };
};
struct maximum : op<dialect, "aten.maximum.default", "self, other", binary, commutative, on_reals, has_out> {
    struct args { value self, other; };
};
struct max_other : op<dialect, "aten.max.other",
         "self, other", synonym_of<maximum>, out_named<"aten.max.out">> {
    struct args { value self, other; };
};
struct minimum : op<dialect, "aten.minimum.default", "self, other", binary, commutative, on_reals, has_out> {
    struct args { value self, other; };
};
struct min_other : op<dialect, "aten.min.other",
         "self, other", synonym_of<minimum>, out_named<"aten.min.out">> {
    struct args { value self, other; };
};
struct mul_scalar : op<dialect, "aten.mul.Scalar", "self, other", unary, has_out> {
    struct args { value self; scalar other; };
};
struct mul_inplace_scalar : op<dialect, "aten.mul_.Scalar", "self, other", in_place_of<mul_scalar>> {
    struct args { value self; scalar other; };
};
struct mul_tensor : op<dialect, "aten.mul.Tensor",
         "self, other", binary, commutative, out_named<"aten.mul.out">> {
    struct args { value self, other; };
};
struct mul_inplace_tensor : op<dialect, "aten.mul_.Tensor", "self, other", in_place_of<mul_tensor>> {
    struct args { value self, other; };
};
struct multiply_tensor : op<dialect, "aten.multiply.Tensor",
         "self, other", synonym_of<mul_tensor>, out_named<"aten.multiply.out">> {
    struct args { value self, other; };
};
struct pow_scalar : op<dialect, "aten.pow.Scalar", "self, exponent", unary, has_out> {
    struct args { scalar self; value exponent; };
};
struct pow_tensor_scalar : op<dialect, "aten.pow.Tensor_Scalar", "self, exponent", unary, has_out> {
    struct args { value self; scalar exponent; };
};
struct pow_inplace_scalar : op<dialect, "aten.pow_.Scalar",
         "self, exponent", in_place_of<pow_tensor_scalar>> {
    struct args { value self; scalar exponent; };
};
struct pow_tensor_tensor : op<dialect, "aten.pow.Tensor_Tensor", "self, exponent", binary, has_out> {
    struct args { value self, exponent; };
};
struct pow_inplace_tensor : op<dialect, "aten.pow_.Tensor",
         "self, exponent", in_place_of<pow_tensor_tensor>> {
    struct args { value self, exponent; };
};
struct remainder_scalar : op<dialect, "aten.remainder.Scalar",
         "self, other", on_numbers, unary, on_reals, has_out> {
    struct args { value self; scalar other; };
};
struct remainder_scalar_tensor : op<dialect, "aten.remainder.Scalar_Tensor",
         "self, other", on_numbers, unary, on_reals, has_out> {
    struct args { scalar self; value other; };
};
struct remainder_tensor : op<dialect, "aten.remainder.Tensor",
         "self, other", on_numbers, binary, on_reals, has_out> {
    struct args { value self, other; };
};
struct rsub_scalar : op<dialect, "aten.rsub.Scalar", "self, other, alpha", on_numbers, unary, has_out> {
    struct args { value self; scalar other, alpha = 1; };
};
struct rsub_tensor : op<dialect, "aten.rsub.Tensor", "self, other, alpha", on_numbers, binary, has_out> {
    struct args { value self, other; scalar alpha = 1; };
};
struct sub_scalar : op<dialect, "aten.sub.Scalar", "self, other, alpha", on_numbers, unary, has_out> {
    struct args { value self; scalar other, alpha = 1; };
};
struct sub_inplace_scalar : op<dialect, "aten.sub_.Scalar", "self, other, alpha", in_place_of<sub_scalar>> {
    struct args { value self; scalar other, alpha = 1; };
};
struct sub_tensor : op<dialect, "aten.sub.Tensor",
         "self, other, alpha", on_numbers, binary, out_named<"aten.sub.out">> {
    struct args { value self, other; scalar alpha = 1; };
};
struct sub_inplace_tensor : op<dialect, "aten.sub_.Tensor", "self, other, alpha", in_place_of<sub_tensor>> {
    struct args { value self, other; scalar alpha = 1; };
};
struct subtract_tensor : op<dialect, "aten.subtract.Tensor",
         "self, other, alpha", synonym_of<sub_tensor>, out_named<"aten.subtract.out">> {
    struct args { value self, other; scalar alpha = 1; };
};
struct true_divide_tensor : op<dialect, "aten.true_divide.Tensor",
         "self, other", synonym_of<div_tensor>, out_named<"aten.true_divide.out">> {
    struct args { value self, other; };
};
struct xlogy_tensor : op<dialect, "aten.xlogy.Tensor", "self, other", binary, int_to_float, on_reals> {
    struct args { value self, other; };
};

// Limits.

struct clamp : op<dialect, "aten.clamp.default", "self, min, max", on_numbers, unary, on_reals, has_out> {
    struct args { value self; std::optional<scalar> min{}, max{}; };
};
struct clamp_inplace : op<dialect, "aten.clamp_.default", "self, min, max", in_place_of<clamp>> {
    struct args { value self; std::optional<scalar> min{}, max{}; };
};
struct clamp_max : op<dialect, "aten.clamp_max.default", "self, max", on_numbers, unary, on_reals, has_out> {
    struct args { value self; scalar max; };
};
struct clamp_max_inplace : op<dialect, "aten.clamp_max_.default", "self, max", in_place_of<clamp_max>> {
    struct args { value self; scalar max; };
};
struct clamp_max_tensor : op<dialect, "aten.clamp_max.Tensor",
         "self, max", on_numbers, binary, on_reals, has_out> {
    struct args { value self, max; };
};
struct clamp_min : op<dialect, "aten.clamp_min.default", "self, min", on_numbers, unary, on_reals, has_out> {
    struct args { value self; scalar min; };
};
struct clamp_min_inplace : op<dialect, "aten.clamp_min_.default", "self, min", in_place_of<clamp_min>> {
    struct args { value self; scalar min; };
};
struct clamp_min_tensor : op<dialect, "aten.clamp_min.Tensor",
         "self, min", on_numbers, binary, on_reals, has_out> {
    struct args { value self, min; };
};
struct clamp_tensor : op<dialect, "aten.clamp.Tensor",
         "self, min, max", on_numbers, ternary, on_reals, has_out> {
    struct args { value self; std::optional<value> min{}, max{}; };
};
struct clip : op<dialect, "aten.clip.default", "self, min, max", synonym_of<clamp>, has_out> {
    struct args { value self; std::optional<scalar> min{}, max{}; };
};

// Comparison.

struct eq_scalar : op<dialect, "aten.eq.Scalar", "self, other", comparing, unary, predicate, has_out> {
    struct args { value self; scalar other; };
};
struct eq_tensor : op<dialect, "aten.eq.Tensor",
         "self, other", comparing, binary, predicate, commutative, has_out> {
    struct args { value self, other; };
};
struct ge_scalar : op<dialect, "aten.ge.Scalar",
         "self, other", comparing, unary, predicate, on_reals, has_out> {
    struct args { value self; scalar other; };
};
struct ge_tensor : op<dialect, "aten.ge.Tensor",
         "self, other", comparing, binary, predicate, on_reals, has_out> {
    struct args { value self, other; };
};
struct gt_scalar : op<dialect, "aten.gt.Scalar",
         "self, other", comparing, unary, predicate, on_reals, has_out> {
    struct args { value self; scalar other; };
};
struct gt_tensor : op<dialect, "aten.gt.Tensor",
         "self, other", comparing, binary, predicate, on_reals, has_out> {
    struct args { value self, other; };
};
struct le_scalar : op<dialect, "aten.le.Scalar",
         "self, other", comparing, unary, predicate, on_reals, has_out> {
    struct args { value self; scalar other; };
};
struct le_tensor : op<dialect, "aten.le.Tensor",
         "self, other", comparing, binary, predicate, on_reals, has_out> {
    struct args { value self, other; };
};
struct lt_scalar : op<dialect, "aten.lt.Scalar",
         "self, other", comparing, unary, predicate, on_reals, has_out> {
    struct args { value self; scalar other; };
};
struct lt_tensor : op<dialect, "aten.lt.Tensor",
         "self, other", comparing, binary, predicate, on_reals, has_out> {
    struct args { value self, other; };
};
struct ne_scalar : op<dialect, "aten.ne.Scalar", "self, other", comparing, unary, predicate, has_out> {
    struct args { value self; scalar other; };
};
struct ne_inplace_scalar : op<dialect, "aten.ne_.Scalar", "self, other", in_place_of<ne_scalar>> {
    struct args { value self; scalar other; };
};
struct ne_tensor : op<dialect, "aten.ne.Tensor",
         "self, other", comparing, binary, predicate, commutative, has_out> {
    struct args { value self, other; };
};
struct ne_inplace_tensor : op<dialect, "aten.ne_.Tensor", "self, other", in_place_of<ne_tensor>> {
    struct args { value self, other; };
};

// Logic and bits.

struct bitwise_and_scalar : op<dialect, "aten.bitwise_and.Scalar", "self, other", on_bits, unary, has_out> {
    struct args { value self; scalar other; };
};
struct and_scalar : op<dialect, "aten.__and__.Scalar", "self, other", synonym_of<bitwise_and_scalar>> {
    struct args { value self; scalar other; };
};
struct bitwise_and_tensor : op<dialect, "aten.bitwise_and.Tensor",
         "self, other", on_bits, binary, commutative, has_out> {
    struct args { value self, other; };
};
struct and_tensor : op<dialect, "aten.__and__.Tensor", "self, other", synonym_of<bitwise_and_tensor>> {
    struct args { value self, other; };
};
struct bitwise_left_shift_tensor : op<dialect, "aten.bitwise_left_shift.Tensor",
         "self, other", on_bits, on_numbers, binary, has_out> {
    struct args { value self, other; };
};
struct bitwise_left_shift_tensor_scalar : op<dialect, "aten.bitwise_left_shift.Tensor_Scalar",
         "self, other", on_bits, on_numbers, unary, has_out> {
    struct args { value self; scalar other; };
};
struct bitwise_not : op<dialect, "aten.bitwise_not.default", "self", on_bits, unary, like_self, has_out> {
    struct args { value self; };
};
struct bitwise_or_scalar : op<dialect, "aten.bitwise_or.Scalar", "self, other", on_bits, unary, has_out> {
    struct args { value self; scalar other; };
};
struct bitwise_or_tensor : op<dialect, "aten.bitwise_or.Tensor",
         "self, other", on_bits, binary, commutative, has_out> {
    struct args { value self, other; };
};
struct bitwise_right_shift_tensor : op<dialect, "aten.bitwise_right_shift.Tensor",
         "self, other", on_bits, on_numbers, binary, has_out> {
    struct args { value self, other; };
};
struct bitwise_right_shift_tensor_scalar : op<dialect, "aten.bitwise_right_shift.Tensor_Scalar",
         "self, other", on_bits, on_numbers, unary, has_out> {
    struct args { value self; scalar other; };
};
struct bitwise_xor_scalar : op<dialect, "aten.bitwise_xor.Scalar", "self, other", on_bits, unary, has_out> {
    struct args { value self; scalar other; };
};
struct bitwise_xor_tensor : op<dialect, "aten.bitwise_xor.Tensor",
         "self, other", on_bits, binary, commutative, has_out> {
    struct args { value self, other; };
};
struct logical_and : op<dialect, "aten.logical_and.default",
         "self, other", binary, predicate, commutative, has_out> {
    struct args { value self, other; };
};
struct logical_not : op<dialect, "aten.logical_not.default", "self", unary, predicate, has_out> {
    struct args { value self; };
};
struct logical_or : op<dialect, "aten.logical_or.default",
         "self, other", binary, predicate, commutative, has_out> {
    struct args { value self, other; };
};
struct logical_xor : op<dialect, "aten.logical_xor.default",
         "self, other", binary, predicate, commutative, has_out> {
    struct args { value self, other; };
};
struct lshift_scalar : op<dialect, "aten.__lshift__.Scalar",
         "self, other", synonym_of<bitwise_left_shift_tensor_scalar>, has_out> {
    struct args { value self; scalar other; };
};
struct lshift_tensor : op<dialect, "aten.__lshift__.Tensor",
         "self, other", synonym_of<bitwise_left_shift_tensor>, has_out> {
    struct args { value self, other; };
};
struct or_scalar : op<dialect, "aten.__or__.Scalar", "self, other", synonym_of<bitwise_or_scalar>> {
    struct args { value self; scalar other; };
};
struct or_tensor : op<dialect, "aten.__or__.Tensor", "self, other", synonym_of<bitwise_or_tensor>> {
    struct args { value self, other; };
};
struct rshift_scalar : op<dialect, "aten.__rshift__.Scalar",
         "self, other", synonym_of<bitwise_right_shift_tensor_scalar>, has_out> {
    struct args { value self; scalar other; };
};
struct rshift_tensor : op<dialect, "aten.__rshift__.Tensor",
         "self, other", synonym_of<bitwise_right_shift_tensor>, has_out> {
    struct args { value self, other; };
};
struct xor_scalar : op<dialect, "aten.__xor__.Scalar", "self, other", synonym_of<bitwise_xor_scalar>> {
    struct args { value self; scalar other; };
};
struct xor_tensor : op<dialect, "aten.__xor__.Tensor", "self, other", synonym_of<bitwise_xor_tensor>> {
    struct args { value self, other; };
};

// Reductions.

struct all : op<dialect, "aten.all.default", "self", reduction, out_named<"aten.all.all_out">> {
    struct args { value self; };
};
struct all_dim : op<dialect, "aten.all.dim", "self, dim, keepdim", reduction, out_named<"aten.all.out">> {
    struct args { value self; std::int64_t dim; bool keepdim = false; };
};
struct all_dims : op<dialect, "aten.all.dims", "self, dim, keepdim", reduction, has_out> {
    struct args { value self; std::optional<int_list> dim{}; bool keepdim = false; };
};
struct amax : op<dialect, "aten.amax.default", "self, dim, keepdim", reduction, on_reals, has_out> {
    struct args { value self; int_list dim{}; bool keepdim = false; };
};
struct amin : op<dialect, "aten.amin.default", "self, dim, keepdim", reduction, on_reals, has_out> {
    struct args { value self; int_list dim{}; bool keepdim = false; };
};
struct aminmax : op<dialect, "aten.aminmax.default", "self, dim, keepdim", 2, reduction, on_reals, has_out> {
    struct args { value self; std::optional<std::int64_t> dim{}; bool keepdim = false; };
};
struct any : op<dialect, "aten.any.default", "self", reduction, out_named<"aten.any.all_out">> {
    struct args { value self; };
};
struct any_dim : op<dialect, "aten.any.dim", "self, dim, keepdim", reduction, out_named<"aten.any.out">> {
    struct args { value self; std::int64_t dim; bool keepdim = false; };
};
struct any_dims : op<dialect, "aten.any.dims", "self, dim, keepdim", reduction, has_out> {
    struct args { value self; std::optional<int_list> dim{}; bool keepdim = false; };
};
struct argmax : op<dialect, "aten.argmax.default",
         "self, dim, keepdim", reduction, locating, on_reals, has_out> {
    struct args { value self; std::optional<std::int64_t> dim{}; bool keepdim = false; };
};
struct argmin : op<dialect, "aten.argmin.default",
         "self, dim, keepdim", reduction, locating, on_reals, has_out> {
    struct args { value self; std::optional<std::int64_t> dim{}; bool keepdim = false; };
};
struct cumsum : op<dialect, "aten.cumsum.default", "self, dim, dtype", has_out> {
    struct args { value self; std::int64_t dim; std::optional<headrace::dtype> dtype{}; };
};
struct cumprod : op<dialect, "aten.cumprod.default", "self, dim, dtype", has_out> {
    struct args { value self; std::int64_t dim; std::optional<headrace::dtype> dtype{}; };
};
struct logsumexp : op<dialect, "aten.logsumexp.default", "self, dim, keepdim", reduction, has_out> {
    struct args { value self; int_list dim; bool keepdim = false; };
};
struct max : op<dialect, "aten.max.default", "self", reduction, on_reals, out_named<"aten.max.unary_out">> {
    struct args { value self; };
};
struct max_dim : op<dialect, "aten.max.dim",
         "self, dim, keepdim", 2, reduction, on_reals, out_named<"aten.max.dim_max">> {
    struct args { value self; std::int64_t dim; bool keepdim = false; };
};
struct mean : op<dialect, "aten.mean.default", "self, dtype", reduction, out_named<"aten.mean.dtype_out">> {
    struct args { value self; std::optional<headrace::dtype> dtype{}; };
};
struct mean_dim : op<dialect, "aten.mean.dim",
         "self, dim, keepdim, dtype", reduction, out_named<"aten.mean.out">> {
    struct args {
        value self; std::optional<int_list> dim; bool keepdim = false; std::optional<headrace::dtype> dtype{};
    };
};
struct min : op<dialect, "aten.min.default", "self", reduction, on_reals, out_named<"aten.min.unary_out">> {
    struct args { value self; };
};
struct min_dim : op<dialect, "aten.min.dim",
         "self, dim, keepdim", 2, reduction, on_reals, out_named<"aten.min.dim_min">> {
    struct args { value self; std::int64_t dim; bool keepdim = false; };
};
struct nansum : op<dialect, "aten.nansum.default", "self, dim, keepdim, dtype", reduction, on_reals> {
    struct args {
        value self; std::optional<int_list> dim{}; bool keepdim = false;
        std::optional<headrace::dtype> dtype{};
    };
};
struct prod : op<dialect, "aten.prod.default", "self, dtype", reduction, has_out> {
    struct args { value self; std::optional<headrace::dtype> dtype{}; };
};
struct prod_dim_int : op<dialect, "aten.prod.dim_int",
         "self, dim, keepdim, dtype", reduction, out_named<"aten.prod.int_out">> {
    struct args {
        value self; std::int64_t dim; bool keepdim = false; std::optional<headrace::dtype> dtype{};
    };
};
struct argsort : op<dialect, "aten.argsort.default", "self, dim, descending", locating, on_reals> {
    struct args { value self; std::int64_t dim = -1; bool descending = false; };
};
struct argsort_stable : op<dialect, "aten.argsort.stable",
         "self, stable, dim, descending", locating, on_reals> {
    struct args { value self; bool stable; std::int64_t dim = -1; bool descending = false; };
};
struct msort : op<dialect, "aten.msort.default", "self", on_reals> { struct args { value self; }; };
struct sort : op<dialect, "aten.sort.default", "self, dim, descending", 2, on_reals> {
    struct args { value self; std::int64_t dim = -1; bool descending = false; };
};
struct sort_stable : op<dialect, "aten.sort.stable", "self, stable, dim, descending", 2, on_reals> {
    struct args {
        value self; std::optional<bool> stable{}; std::int64_t dim = -1; bool descending = false;
    };
};
using sort_ops = ops<argsort, argsort_stable, msort, sort, sort_stable>;
struct std_ : op<dialect, "aten.std.default", "self, unbiased", reduction> {
    struct args { value self; bool unbiased = true; };
};
struct std_correction : op<dialect, "aten.std.correction",
         "self, dim, correction, keepdim", reduction, has_out> {
    struct args {
        value self; std::optional<int_list> dim{}; std::optional<scalar> correction{}; bool keepdim = false;
    };
};
struct std_dim : op<dialect, "aten.std.dim",
         "self, dim, unbiased, keepdim", reduction, out_named<"aten.std.out">> {
    struct args { value self; std::optional<int_list> dim; bool unbiased = true, keepdim = false; };
};
struct std_mean_dim : op<dialect, "aten.std_mean.dim", "self, dim, unbiased, keepdim", 2, reduction> {
    struct args { value self; std::optional<int_list> dim{}; bool unbiased = true, keepdim = false; };
};
struct std_mean_correction : op<dialect, "aten.std_mean.correction",
         "self, dim, correction, keepdim", 2, reduction> {
    struct args {
        value self; std::optional<int_list> dim{}; std::optional<scalar> correction{}; bool keepdim = false;
    };
};
struct sum : op<dialect, "aten.sum.default", "self, dtype", reduction, has_out> {
    struct args { value self; std::optional<headrace::dtype> dtype{}; };
};
struct sum_dim_intlist : op<dialect, "aten.sum.dim_IntList",
         "self, dim, keepdim, dtype", reduction, out_named<"aten.sum.IntList_out">> {
    struct args {
        value self; std::optional<int_list> dim; bool keepdim = false; std::optional<headrace::dtype> dtype{};
    };
};
struct topk : op<dialect, "aten.topk.default",
         "self, k, dim, largest, sorted", 2, on_numbers, on_reals, out_named<"aten.topk.values">> {
    struct args { value self; std::int64_t k, dim = -1; bool largest = true, sorted = true; };
};
struct var : op<dialect, "aten.var.default", "self, unbiased", reduction> {
    struct args { value self; bool unbiased = true; };
};
struct var_correction : op<dialect, "aten.var.correction",
         "self, dim, correction, keepdim", reduction, has_out> {
    struct args {
        value self; std::optional<int_list> dim{}; std::optional<scalar> correction{}; bool keepdim = false;
    };
};
struct var_dim : op<dialect, "aten.var.dim",
         "self, dim, unbiased, keepdim", reduction, out_named<"aten.var.out">> {
    struct args { value self; std::optional<int_list> dim; bool unbiased = true, keepdim = false; };
};
struct var_mean_correction : op<dialect, "aten.var_mean.correction",
         "self, dim, correction, keepdim", 2, reduction, has_out> {
    struct args {
        value self; std::optional<int_list> dim{}; std::optional<scalar> correction{}; bool keepdim = false;
    };
};
struct var_mean_dim : op<dialect, "aten.var_mean.dim", "self, dim, unbiased, keepdim", 2, reduction> {
    struct args { value self; std::optional<int_list> dim{}; bool unbiased = true, keepdim = false; };
};

// Views and their copies.

struct alias : op<dialect, "aten.alias.default", "self", forwarding, like_self, aliasing> {
    struct args { value self; };
};
struct alias_copy : op<dialect, "aten.alias_copy.default", "self", view_copy_of<alias>, has_out> {
    struct args { value self; };
};
struct as_strided : op<dialect, "aten.as_strided.default", "self, size, stride, storage_offset", aliasing> {
    struct args { value self; int_list size, stride; std::optional<std::int64_t> storage_offset{}; };
};
struct as_strided_copy : op<dialect, "aten.as_strided_copy.default",
         "self, size, stride, storage_offset", view_copy_of<as_strided>, has_out> {
    struct args { value self; int_list size, stride; std::optional<std::int64_t> storage_offset{}; };
};
struct broadcast_to : op<dialect, "aten.broadcast_to.default", "self, size", broadcasting, aliasing> {
    struct args { value self; int_list size; };
};
struct detach : op<dialect, "aten.detach.default", "self", forwarding, like_self, aliasing> {
    struct args { value self; };
};
struct detach_copy : op<dialect, "aten.detach_copy.default", "self", view_copy_of<detach>, has_out> {
    struct args { value self; };
};
struct detach_inplace : op<dialect, "aten.detach_.default", "self", in_place_of<detach>> {
    struct args { value self; };
};
struct expand : op<dialect, "aten.expand.default", "self, size, implicit", broadcasting, aliasing> {
    struct args { value self; int_list size; bool implicit = false; };
};
struct expand_as : op<dialect, "aten.expand_as.default", "self, other", broadcasting, aliasing> {
    struct args { value self, other; };
};
struct expand_copy : op<dialect, "aten.expand_copy.default",
         "self, size, implicit", view_copy_of<expand>, has_out> {
    struct args { value self; int_list size; bool implicit = false; };
};
struct flatten_using_ints : op<dialect, "aten.flatten.using_ints",
         "self, start_dim, end_dim", reshaping, aliasing, may_copy> {
    struct args { value self; std::int64_t start_dim = 0, end_dim = -1; };
};
struct m_t : op<dialect, "aten.mT.default", "self", permuting, aliasing> { struct args { value self; }; };
struct movedim_int : op<dialect, "aten.movedim.int", "self, source, destination", permuting, aliasing> {
    struct args { value self; std::int64_t source, destination; };
};
struct movedim_intlist : op<dialect, "aten.movedim.intlist",
         "self, source, destination", permuting, aliasing> {
    struct args { value self; int_list source, destination; };
};
struct narrow : op<dialect, "aten.narrow.default", "self, dim, start, length", slicing, aliasing> {
    struct args { value self; std::int64_t dim, start, length; };
};
struct narrow_copy : op<dialect, "aten.narrow_copy.default",
         "self, dim, start, length", view_copy_of<narrow>, has_out> {
    struct args { value self; std::int64_t dim, start, length; };
};
struct numpy_t : op<dialect, "aten.numpy_T.default", "self", permuting, aliasing> {
    struct args { value self; };
};
struct permute : op<dialect, "aten.permute.default", "self, dims", permuting, aliasing> {
    struct args { value self; int_list dims; };
};
struct permute_copy : op<dialect, "aten.permute_copy.default", "self, dims", view_copy_of<permute>, has_out> {
    struct args { value self; int_list dims; };
};
struct ravel : op<dialect, "aten.ravel.default", "self", reshaping, aliasing, may_copy> {
    struct args { value self; };
};
struct reshape : op<dialect, "aten.reshape.default", "self, shape", reshaping, aliasing, may_copy> {
    struct args { value self; int_list shape; };
};
struct reshape_as : op<dialect, "aten.reshape_as.default", "self, other", reshaping, aliasing, may_copy> {
    struct args { value self, other; };
};
struct select_int : op<dialect, "aten.select.int", "self, dim, index", slicing, aliasing> {
    struct args { value self; std::int64_t dim, index; };
};
struct select_copy_int : op<dialect, "aten.select_copy.int",
         "self, dim, index", view_copy_of<select_int>, has_out> {
    struct args { value self; std::int64_t dim, index; };
};
struct slice_tensor : op<dialect, "aten.slice.Tensor", "self, dim, start, end, step", slicing, aliasing> {
    struct args {
        value self; std::int64_t dim = 0; std::optional<std::int64_t> start{}, end{}; std::int64_t step = 1;
    };
};
struct slice_copy_tensor : op<dialect, "aten.slice_copy.Tensor",
         "self, dim, start, end, step", view_copy_of<slice_tensor>, has_out> {
    struct args {
        value self; std::int64_t dim = 0; std::optional<std::int64_t> start{}, end{}; std::int64_t step = 1;
    };
};
struct squeeze : op<dialect, "aten.squeeze.default", "self", reshaping, aliasing> {
    struct args { value self; };
};
struct squeeze_copy : op<dialect, "aten.squeeze_copy.default", "self", view_copy_of<squeeze>, has_out> {
    struct args { value self; };
};
struct squeeze_dim : op<dialect, "aten.squeeze.dim", "self, dim", reshaping, aliasing> {
    struct args { value self; std::int64_t dim; };
};
struct squeeze_copy_dim : op<dialect, "aten.squeeze_copy.dim",
         "self, dim", view_copy_of<squeeze_dim>, has_out> {
    struct args { value self; std::int64_t dim; };
};
struct squeeze_dims : op<dialect, "aten.squeeze.dims", "self, dim", reshaping, aliasing> {
    struct args { value self; int_list dim; };
};
struct squeeze_copy_dims : op<dialect, "aten.squeeze_copy.dims",
         "self, dim", view_copy_of<squeeze_dims>, has_out> {
    struct args { value self; int_list dim; };
};
struct squeeze_inplace_dim : op<dialect, "aten.squeeze_.dim", "self, dim", in_place_of<squeeze_dim>> {
    struct args { value self; std::int64_t dim; };
};
struct t : op<dialect, "aten.t.default", "self", permuting, aliasing> { struct args { value self; }; };
struct t_copy : op<dialect, "aten.t_copy.default", "self", view_copy_of<t>, has_out> {
    struct args { value self; };
};
struct transpose_int : op<dialect, "aten.transpose.int", "self, dim0, dim1", permuting, aliasing> {
    struct args { value self; std::int64_t dim0, dim1; };
};
struct transpose_copy_int : op<dialect, "aten.transpose_copy.int",
         "self, dim0, dim1", view_copy_of<transpose_int>, has_out> {
    struct args { value self; std::int64_t dim0, dim1; };
};
struct unflatten_int : op<dialect, "aten.unflatten.int", "self, dim, sizes", reshaping, aliasing> {
    struct args { value self; std::int64_t dim; int_list sizes; };
};
struct diagonal : op<dialect, "aten.diagonal.default", "self, offset, dim1, dim2", aliasing> {
    struct args { value self; std::int64_t offset = 0, dim1 = 0, dim2 = 1; };
};
struct diagonal_copy : op<dialect, "aten.diagonal_copy.default",
         "self, offset, dim1, dim2", view_copy_of<diagonal>, has_out> {
    struct args { value self; std::int64_t offset = 0, dim1 = 0, dim2 = 1; };
};
struct unfold : op<dialect, "aten.unfold.default", "self, dimension, size, step", aliasing> {
    struct args { value self; std::int64_t dimension, size, step; };
};
struct unfold_copy : op<dialect, "aten.unfold_copy.default",
         "self, dimension, size, step", view_copy_of<unfold>, has_out> {
    struct args { value self; std::int64_t dimension, size, step; };
};
struct _unsafe_view : op<dialect, "aten._unsafe_view.default", "self, size", reshaping, has_out> {
    struct args { value self; int_list size; };
};
struct unsqueeze : op<dialect, "aten.unsqueeze.default", "self, dim", reshaping, aliasing> {
    struct args { value self; std::int64_t dim; };
};
struct unsqueeze_copy : op<dialect, "aten.unsqueeze_copy.default",
         "self, dim", view_copy_of<unsqueeze>, has_out> {
    struct args { value self; std::int64_t dim; };
};
struct view : op<dialect, "aten.view.default", "self, size", reshaping, aliasing> {
    struct args { value self; int_list size; };
};
struct view_as : op<dialect, "aten.view_as.default", "self, other", reshaping, aliasing> {
    struct args { value self, other; };
};
struct view_copy : op<dialect, "aten.view_copy.default", "self, size", view_copy_of<view>, has_out> {
    struct args { value self; int_list size; };
};

// Splitting.

struct chunk : op<dialect, "aten.chunk.default", "self, chunks, dim", variadic_results, splitting, aliasing> {
    struct args { value self; std::int64_t chunks, dim = 0; };
};
struct split_tensor : op<dialect, "aten.split.Tensor",
         "self, split_size, dim", variadic_results, splitting, aliasing> {
    struct args { value self; std::int64_t split_size, dim = 0; };
};
struct split_copy_tensor : op<dialect, "aten.split_copy.Tensor",
         "self, split_size, dim", variadic_results, view_copy_of<split_tensor>, has_out> {
    struct args { value self; std::int64_t split_size, dim = 0; };
};
struct split_with_sizes : op<dialect, "aten.split_with_sizes.default",
         "self, split_sizes, dim", variadic_results, splitting, aliasing> {
    struct args { value self; int_list split_sizes; std::int64_t dim = 0; };
};
struct split_sizes : op<dialect, "aten.split.sizes",
         "self, split_size, dim", variadic_results, synonym_of<split_with_sizes>, aliasing> {
    struct args { value self; int_list split_size; std::int64_t dim = 0; };
};
struct split_with_sizes_copy : op<dialect, "aten.split_with_sizes_copy.default",
         "self, split_sizes, dim", variadic_results, view_copy_of<split_with_sizes>, has_out> {
    struct args { value self; int_list split_sizes; std::int64_t dim = 0; };
};
struct tensor_split_indices : op<dialect, "aten.tensor_split.indices",
         "self, indices, dim", variadic_results, splitting, aliasing> {
    struct args { value self; int_list indices; std::int64_t dim = 0; };
};
struct tensor_split_sections : op<dialect, "aten.tensor_split.sections",
         "self, sections, dim", variadic_results, splitting, aliasing> {
    struct args { value self; std::int64_t sections, dim = 0; };
};
struct unbind_int : op<dialect, "aten.unbind.int", "self, dim", variadic_results, splitting, aliasing> {
    struct args { value self; std::int64_t dim = 0; };
};
struct unbind_copy_int : op<dialect, "aten.unbind_copy.int",
         "self, dim", variadic_results, view_copy_of<unbind_int>, has_out> {
    struct args { value self; std::int64_t dim = 0; };
};
struct unsafe_split_tensor : op<dialect, "aten.unsafe_split.Tensor",
         "self, split_size, dim", variadic_results, synonym_of<split_tensor>, has_out> {
    struct args { value self; std::int64_t split_size, dim = 0; };
};
struct unsafe_split_with_sizes : op<dialect, "aten.unsafe_split_with_sizes.default",
         "self, split_sizes, dim", variadic_results, synonym_of<split_with_sizes>, has_out> {
    struct args { value self; int_list split_sizes; std::int64_t dim = 0; };
};

// Joining and rearranging.

struct broadcast_tensors : op<dialect, "aten.broadcast_tensors.default",
         "tensors", variadic_results, broadcasting> {
    struct args { list<value> tensors; };
};
struct cat : op<dialect, "aten.cat.default", "tensors, dim", joining, has_out> {
    struct args { list<value> tensors; std::int64_t dim = 0; };
};
struct channel_shuffle : op<dialect, "aten.channel_shuffle.default", "self, groups", like_self, has_out> {
    struct args { value self; std::int64_t groups; };
};
struct column_stack : op<dialect, "aten.column_stack.default", "tensors", joining> {
    struct args { list<value> tensors; };
};
struct concat : op<dialect, "aten.concat.default", "tensors, dim", synonym_of<cat>, has_out> {
    struct args { list<value> tensors; std::int64_t dim = 0; };
};
struct diff : op<dialect, "aten.diff.default", "self, n, dim, prepend, append"> {
    struct args {
        value self; std::int64_t n = 1, dim = -1; std::optional<value> prepend{}, append{};
    };
};
struct dstack : op<dialect, "aten.dstack.default", "tensors", joining> {
    struct args { list<value> tensors; };
};
struct flip : op<dialect, "aten.flip.default", "self, dims", reversing, like_self, has_out> {
    struct args { value self; int_list dims; };
};
struct fliplr : op<dialect, "aten.fliplr.default", "self", reversing, like_self> {
    struct args { value self; };
};
struct flipud : op<dialect, "aten.flipud.default", "self", reversing, like_self> {
    struct args { value self; };
};
struct hstack : op<dialect, "aten.hstack.default", "tensors", joining> {
    struct args { list<value> tensors; };
};
struct meshgrid_indexing : op<dialect, "aten.meshgrid.indexing", "tensors, indexing", variadic_results> {
    struct args { list<value> tensors; std::string_view indexing; };
};
/// im2col makes columns of an image's blocks; col2im makes overlapping blocks of columns and adds them up.
struct im2col : op<dialect, "aten.im2col.default", "self, kernel_size, dilation, padding, stride", has_out> {
    struct args { value self; int_list kernel_size, dilation, padding, stride; };
};
struct col2im : op<dialect, "aten.col2im.default",
         "self, output_size, kernel_size, dilation, padding, stride", has_out> {
    struct args { value self; int_list output_size, kernel_size, dilation, padding, stride; };
};
struct pixel_shuffle : op<dialect, "aten.pixel_shuffle.default", "self, upscale_factor", has_out> {
    struct args { value self; std::int64_t upscale_factor; };
};
struct pixel_unshuffle : op<dialect, "aten.pixel_unshuffle.default", "self, downscale_factor", has_out> {
    struct args { value self; std::int64_t downscale_factor; };
};
struct repeat : op<dialect, "aten.repeat.default", "self, repeats", repeating, has_out> {
    struct args { value self; int_list repeats; };
};
struct repeat_interleave_self_int : op<dialect, "aten.repeat_interleave.self_int",
         "self, repeats, dim, output_size", repeating> {
    struct args { value self; std::int64_t repeats; std::optional<std::int64_t> dim{}, output_size{}; };
};
struct roll : op<dialect, "aten.roll.default", "self, shifts, dims", like_self, has_out> {
    struct args { value self; int_list shifts, dims{}; };
};
struct rot90 : op<dialect, "aten.rot90.default", "self, k, dims"> {
    struct args { value self; std::int64_t k = 1; int_list dims{0, 1}; };
};
struct stack : op<dialect, "aten.stack.default", "tensors, dim", joining, has_out> {
    struct args { list<value> tensors; std::int64_t dim = 0; };
};
struct tile : op<dialect, "aten.tile.default", "self, dims", repeating> {
    struct args { value self; int_list dims; };
};
struct tril : op<dialect, "aten.tril.default", "self, diagonal", like_self, has_out> {
    struct args { value self; std::int64_t diagonal = 0; };
};
struct triu : op<dialect, "aten.triu.default", "self, diagonal", like_self, has_out> {
    struct args { value self; std::int64_t diagonal = 0; };
};
struct vstack : op<dialect, "aten.vstack.default", "tensors", joining> {
    struct args { list<value> tensors; };
};

// Padding.

struct constant_pad_nd : op<dialect, "aten.constant_pad_nd.default", "self, pad, value", padding, has_out> {
    struct args { headrace::value self; int_list pad; scalar value = 0; };
};
struct pad : op<dialect, "aten.pad.default", "self, pad, mode, value", padding> {
    struct args {
        headrace::value self; int_list pad; std::string_view mode = "constant"; std::optional<double> value{};
    };
};
struct reflection_pad1d : op<dialect, "aten.reflection_pad1d.default",
         "self, padding", spatial_1d, padding, has_out> {
    struct args { value self; int_list padding; };
};
struct reflection_pad2d : op<dialect, "aten.reflection_pad2d.default",
         "self, padding", spatial_2d, padding, has_out> {
    struct args { value self; int_list padding; };
};
struct reflection_pad3d : op<dialect, "aten.reflection_pad3d.default",
         "self, padding", spatial_3d, padding, has_out> {
    struct args { value self; int_list padding; };
};
struct replication_pad1d : op<dialect, "aten.replication_pad1d.default",
         "self, padding", spatial_1d, padding, has_out> {
    struct args { value self; int_list padding; };
};
struct replication_pad2d : op<dialect, "aten.replication_pad2d.default",
         "self, padding", spatial_2d, padding, has_out> {
    struct args { value self; int_list padding; };
};
struct replication_pad3d : op<dialect, "aten.replication_pad3d.default",
         "self, padding", spatial_3d, padding, has_out> {
    struct args { value self; int_list padding; };
};

// Indexing.

struct embedding : op<dialect, "aten.embedding.default",
         "weight, indices, padding_idx, scale_grad_by_freq, sparse", gathering, has_out> {
    struct args {
        value weight, indices; std::int64_t padding_idx = -1; bool scale_grad_by_freq = false, sparse = false;
    };
};
struct gather : op<dialect, "aten.gather.default", "self, dim, index, sparse_grad", gathering, has_out> {
    struct args { value self; std::int64_t dim; value index; bool sparse_grad = false; };
};
struct index_add : op<dialect, "aten.index_add.default",
         "self, dim, index, source, alpha", like_self, has_out> {
    struct args { value self; std::int64_t dim; value index, source; scalar alpha = 1; };
};
struct index_copy : op<dialect, "aten.index_copy.default", "self, dim, index, source", like_self, has_out> {
    struct args { value self; std::int64_t dim; value index, source; };
};
struct index_copy_inplace : op<dialect, "aten.index_copy_.default",
         "self, dim, index, source", in_place_of<index_copy>> {
    struct args { value self; std::int64_t dim; value index, source; };
};
struct index_fill_int_scalar : op<dialect, "aten.index_fill.int_Scalar",
         "self, dim, index, value", like_self> {
    struct args { headrace::value self; std::int64_t dim; headrace::value index; scalar value; };
};
struct index_put : op<dialect, "aten.index_put.default",
         "self, indices, values, accumulate", like_self, has_out> {
    struct args { value self; list<std::optional<value>> indices; value values; bool accumulate = false; };
};
struct index_put_inplace : op<dialect, "aten.index_put_.default",
         "self, indices, values, accumulate", in_place_of<index_put>> {
    struct args { value self; list<std::optional<value>> indices; value values; bool accumulate = false; };
};
struct index_select : op<dialect, "aten.index_select.default", "self, dim, index", gathering, has_out> {
    struct args { value self; std::int64_t dim; value index; };
};
struct index_tensor : op<dialect, "aten.index.Tensor", "self, indices", gathering, has_out> {
    struct args { value self; list<std::optional<value>> indices; };
};
struct masked_fill_scalar : op<dialect, "aten.masked_fill.Scalar",
         "self, mask, value", binary, has_out> {
    struct args { headrace::value self, mask; scalar value; };
};
struct masked_fill_inplace_scalar : op<dialect, "aten.masked_fill_.Scalar",
         "self, mask, value", in_place_of<masked_fill_scalar>> {
    struct args { headrace::value self, mask; scalar value; };
};
struct masked_fill_tensor : op<dialect, "aten.masked_fill.Tensor", "self, mask, value", has_out> {
    struct args { headrace::value self, mask, value; };
};
struct masked_fill_inplace_tensor : op<dialect, "aten.masked_fill_.Tensor",
         "self, mask, value", in_place_of<masked_fill_tensor>> {
    struct args { headrace::value self, mask, value; };
};
struct one_hot : op<dialect, "aten.one_hot.default", "self, num_classes"> {
    struct args { value self; std::int64_t num_classes = -1; };
};
struct scatter_add : op<dialect, "aten.scatter_add.default", "self, dim, index, src", like_self, has_out> {
    struct args { value self; std::int64_t dim; value index, src; };
};
struct scatter_src : op<dialect, "aten.scatter.src", "self, dim, index, src", like_self, has_out> {
    struct args { value self; std::int64_t dim; value index, src; };
};
struct scatter_value : op<dialect, "aten.scatter.value", "self, dim, index, value", like_self, has_out> {
    struct args { headrace::value self; std::int64_t dim; headrace::value index; scalar value; };
};
struct select_scatter : op<dialect, "aten.select_scatter.default",
         "self, src, dim, index", like_self, has_out> {
    struct args { value self, src; std::int64_t dim, index; };
};
struct slice_scatter : op<dialect, "aten.slice_scatter.default",
         "self, src, dim, start, end, step", like_self, has_out> {
    struct args {
        value self, src; std::int64_t dim = 0; std::optional<std::int64_t> start{}, end{};
        std::int64_t step = 1;
    };
};
struct _unsafe_index_put : op<dialect, "aten._unsafe_index_put.default",
         "self, indices, values, accumulate", like_self> {
    struct args { value self; list<std::optional<value>> indices; value values; bool accumulate = false; };
};
struct _unsafe_index_tensor : op<dialect, "aten._unsafe_index.Tensor", "self, indices", gathering> {
    struct args { value self; list<std::optional<value>> indices; };
};
struct where_scalar : op<dialect, "aten.where.Scalar", "condition, self, other"> {
    struct args { value condition; scalar self, other; };
};
struct where_scalarother : op<dialect, "aten.where.ScalarOther", "condition, self, other"> {
    struct args { value condition, self; scalar other; };
};
struct where_scalarself : op<dialect, "aten.where.ScalarSelf", "condition, self, other"> {
    struct args { value condition; scalar self; value other; };
};
struct where_self : op<dialect, "aten.where.self", "condition, self, other", ternary, has_out> {
    struct args { value condition, self, other; };
};

// Resizing.

struct grid_sampler
    : op<dialect, "aten.grid_sampler.default",
         "input, grid, interpolation_mode, padding_mode, align_corners"> {
    struct args { value input, grid; std::int64_t interpolation_mode, padding_mode; bool align_corners; };
};
struct grid_sampler_2d : op<dialect, "aten.grid_sampler_2d.default",
         "input, grid, interpolation_mode, padding_mode, align_corners", has_out> {
    struct args { value input, grid; std::int64_t interpolation_mode, padding_mode; bool align_corners; };
};
struct upsample_bicubic2d : op<dialect, "aten.upsample_bicubic2d.default",
         "self, output_size, align_corners, scales_h, scales_w", resampling, spatial_2d, has_out> {
    struct args {
        value self; int_list output_size; bool align_corners; std::optional<double> scales_h{}, scales_w{};
    };
};
struct upsample_bicubic2d_vec
    : op<dialect, "aten.upsample_bicubic2d.vec",
         "input, output_size, align_corners, scale_factors", resampling, spatial_2d> {
    struct args {
        value input; std::optional<int_list> output_size; bool align_corners;
        std::optional<list<double>> scale_factors;
    };
};
struct upsample_bilinear2d : op<dialect, "aten.upsample_bilinear2d.default",
         "self, output_size, align_corners, scales_h, scales_w", resampling, spatial_2d, has_out> {
    struct args {
        value self; int_list output_size; bool align_corners; std::optional<double> scales_h{}, scales_w{};
    };
};
struct upsample_bilinear2d_vec : op<dialect, "aten.upsample_bilinear2d.vec",
         "input, output_size, align_corners, scale_factors", resampling, spatial_2d, has_out> {
    struct args {
        value input; std::optional<int_list> output_size; bool align_corners;
        std::optional<list<double>> scale_factors;
    };
};
struct upsample_linear1d : op<dialect, "aten.upsample_linear1d.default",
         "self, output_size, align_corners, scales", resampling, spatial_1d, has_out> {
    struct args { value self; int_list output_size; bool align_corners; std::optional<double> scales{}; };
};
struct upsample_linear1d_vec
    : op<dialect, "aten.upsample_linear1d.vec",
         "input, output_size, align_corners, scale_factors", resampling, spatial_1d> {
    struct args {
        value input; std::optional<int_list> output_size; bool align_corners;
        std::optional<list<double>> scale_factors;
    };
};
struct upsample_nearest1d : op<dialect, "aten.upsample_nearest1d.default",
         "self, output_size, scales", resampling, nearest, spatial_1d, has_out> {
    struct args { value self; int_list output_size; std::optional<double> scales{}; };
};
struct upsample_nearest1d_vec
    : op<dialect, "aten.upsample_nearest1d.vec",
         "input, output_size, scale_factors", resampling, nearest, spatial_1d> {
    struct args {
        value input; std::optional<int_list> output_size; std::optional<list<double>> scale_factors;
    };
};
struct upsample_nearest2d : op<dialect, "aten.upsample_nearest2d.default",
         "self, output_size, scales_h, scales_w", resampling, nearest, spatial_2d, has_out> {
    struct args { value self; int_list output_size; std::optional<double> scales_h{}, scales_w{}; };
};
struct upsample_nearest2d_vec : op<dialect, "aten.upsample_nearest2d.vec",
         "input, output_size, scale_factors", resampling, nearest, spatial_2d, has_out> {
    struct args {
        value input; std::optional<int_list> output_size; std::optional<list<double>> scale_factors;
    };
};
struct upsample_nearest3d : op<dialect, "aten.upsample_nearest3d.default",
         "self, output_size, scales_d, scales_h, scales_w", resampling, nearest, spatial_3d, has_out> {
    struct args {
        value self; int_list output_size; std::optional<double> scales_d{}, scales_h{}, scales_w{};
    };
};
struct upsample_nearest3d_vec
    : op<dialect, "aten.upsample_nearest3d.vec",
         "input, output_size, scale_factors", resampling, nearest, spatial_3d> {
    struct args {
        value input; std::optional<int_list> output_size; std::optional<list<double>> scale_factors;
    };
};
struct _upsample_nearest_exact1d : op<dialect, "aten._upsample_nearest_exact1d.default",
         "self, output_size, scales", resampling, nearest, spatial_1d, has_out> {
    struct args { value self; int_list output_size; std::optional<double> scales{}; };
};
struct _upsample_nearest_exact1d_vec
    : op<dialect, "aten._upsample_nearest_exact1d.vec",
         "input, output_size, scale_factors", resampling, nearest, spatial_1d> {
    struct args {
        value input; std::optional<int_list> output_size; std::optional<list<double>> scale_factors;
    };
};
struct _upsample_nearest_exact2d : op<dialect, "aten._upsample_nearest_exact2d.default",
         "self, output_size, scales_h, scales_w", resampling, nearest, spatial_2d, has_out> {
    struct args { value self; int_list output_size; std::optional<double> scales_h{}, scales_w{}; };
};
struct _upsample_nearest_exact2d_vec
    : op<dialect, "aten._upsample_nearest_exact2d.vec",
         "input, output_size, scale_factors", resampling, nearest, spatial_2d> {
    struct args {
        value input; std::optional<int_list> output_size; std::optional<list<double>> scale_factors;
    };
};
struct _upsample_nearest_exact3d : op<dialect, "aten._upsample_nearest_exact3d.default",
         "self, output_size, scales_d, scales_h, scales_w", resampling, nearest, spatial_3d, has_out> {
    struct args {
        value self; int_list output_size; std::optional<double> scales_d{}, scales_h{}, scales_w{};
    };
};
struct _upsample_nearest_exact3d_vec
    : op<dialect, "aten._upsample_nearest_exact3d.vec",
         "input, output_size, scale_factors", resampling, nearest, spatial_3d> {
    struct args {
        value input; std::optional<int_list> output_size; std::optional<list<double>> scale_factors;
    };
};
struct upsample_trilinear3d : op<dialect, "aten.upsample_trilinear3d.default",
         "self, output_size, align_corners, scales_d, scales_h, scales_w", resampling, spatial_3d, has_out> {
    struct args {
        value self; int_list output_size; bool align_corners;
        std::optional<double> scales_d{}, scales_h{}, scales_w{};
    };
};
struct upsample_trilinear3d_vec
    : op<dialect, "aten.upsample_trilinear3d.vec",
         "input, output_size, align_corners, scale_factors", resampling, spatial_3d> {
    struct args {
        value input; std::optional<int_list> output_size; bool align_corners;
        std::optional<list<double>> scale_factors;
    };
};

// Fourier transforms.

struct fft_fft : op<dialect, "aten.fft_fft.default", "self, n, dim, norm", has_out, composite> {
    struct args {
        value self; std::optional<std::int64_t> n{}; std::int64_t dim = -1;
        std::optional<std::string_view> norm{};
    };
};
struct fft_ifft : op<dialect, "aten.fft_ifft.default", "self, n, dim, norm", has_out, composite> {
    struct args {
        value self; std::optional<std::int64_t> n{}; std::int64_t dim = -1;
        std::optional<std::string_view> norm{};
    };
};
struct fft_rfft : op<dialect, "aten.fft_rfft.default", "self, n, dim, norm", has_out, composite> {
    struct args {
        value self; std::optional<std::int64_t> n{}; std::int64_t dim = -1;
        std::optional<std::string_view> norm{};
    };
};
struct fft_irfft : op<dialect, "aten.fft_irfft.default", "self, n, dim, norm", has_out, composite> {
    struct args {
        value self; std::optional<std::int64_t> n{}; std::int64_t dim = -1;
        std::optional<std::string_view> norm{};
    };
};
struct fft_hfft : op<dialect, "aten.fft_hfft.default", "self, n, dim, norm", has_out, composite> {
    struct args {
        value self; std::optional<std::int64_t> n{}; std::int64_t dim = -1;
        std::optional<std::string_view> norm{};
    };
};
struct fft_ihfft : op<dialect, "aten.fft_ihfft.default", "self, n, dim, norm", has_out, composite> {
    struct args {
        value self; std::optional<std::int64_t> n{}; std::int64_t dim = -1;
        std::optional<std::string_view> norm{};
    };
};
struct fft_fft2 : op<dialect, "aten.fft_fft2.default", "self, s, dim, norm", has_out, composite> {
    struct args {
        value self; std::optional<int_list> s{}; int_list dim{-2, -1}; std::optional<std::string_view> norm{};
    };
};
struct fft_ifft2 : op<dialect, "aten.fft_ifft2.default", "self, s, dim, norm", has_out, composite> {
    struct args {
        value self; std::optional<int_list> s{}; int_list dim{-2, -1}; std::optional<std::string_view> norm{};
    };
};
struct fft_rfft2 : op<dialect, "aten.fft_rfft2.default", "self, s, dim, norm", has_out, composite> {
    struct args {
        value self; std::optional<int_list> s{}; int_list dim{-2, -1}; std::optional<std::string_view> norm{};
    };
};
struct fft_irfft2 : op<dialect, "aten.fft_irfft2.default", "self, s, dim, norm", has_out, composite> {
    struct args {
        value self; std::optional<int_list> s{}; int_list dim{-2, -1}; std::optional<std::string_view> norm{};
    };
};
struct fft_fftn : op<dialect, "aten.fft_fftn.default", "self, s, dim, norm", has_out, composite> {
    struct args {
        value self; std::optional<int_list> s{}, dim{}; std::optional<std::string_view> norm{};
    };
};
struct fft_ifftn : op<dialect, "aten.fft_ifftn.default", "self, s, dim, norm", has_out, composite> {
    struct args {
        value self; std::optional<int_list> s{}, dim{}; std::optional<std::string_view> norm{};
    };
};
struct fft_rfftn : op<dialect, "aten.fft_rfftn.default", "self, s, dim, norm", has_out, composite> {
    struct args {
        value self; std::optional<int_list> s{}, dim{}; std::optional<std::string_view> norm{};
    };
};
struct fft_irfftn : op<dialect, "aten.fft_irfftn.default", "self, s, dim, norm", has_out, composite> {
    struct args {
        value self; std::optional<int_list> s{}, dim{}; std::optional<std::string_view> norm{};
    };
};

/// The transforms above in core form. `normalization` is 0 for none, 1 for 1/√n, 2 for 1/n.
struct _fft_r2c : op<dialect, "aten._fft_r2c.default",
         "self, dim, normalization, onesided", has_out, composite> {
    struct args { value self; int_list dim; std::int64_t normalization; bool onesided; };
};
struct _fft_c2r : op<dialect, "aten._fft_c2r.default",
         "self, dim, normalization, last_dim_size", has_out, composite> {
    struct args { value self; int_list dim; std::int64_t normalization, last_dim_size; };
};
struct _fft_c2c : op<dialect, "aten._fft_c2c.default",
         "self, dim, normalization, forward", has_out, composite> {
    struct args { value self; int_list dim; std::int64_t normalization; bool forward; };
};
struct fft_fftfreq : op<dialect, "aten.fft_fftfreq.default", "n, d, dtype", has_out, composite> {
    struct args { std::int64_t n; double d = 1; std::optional<headrace::dtype> dtype{}; };
};
struct fft_rfftfreq : op<dialect, "aten.fft_rfftfreq.default", "n, d, dtype", has_out, composite> {
    struct args { std::int64_t n; double d = 1; std::optional<headrace::dtype> dtype{}; };
};
/// The spectra of windows of a signal; `center` pads the signal first.
struct stft : op<dialect, "aten.stft.default",
         "self, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window",
         composite> {
    struct args {
        value self; std::int64_t n_fft; std::optional<std::int64_t> hop_length{}, win_length{};
        std::optional<value> window{}; bool normalized = false;
        std::optional<bool> onesided{}, return_complex{}, align_to_window{};
    };
};
struct stft_center : op<dialect, "aten.stft.center",
         "self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, "
         "return_complex, align_to_window", composite> {
    struct args {
        value self; std::int64_t n_fft; std::optional<std::int64_t> hop_length{}, win_length{};
        std::optional<value> window{}; bool center = true; std::string_view pad_mode = "reflect";
        bool normalized = false; std::optional<bool> onesided{}, return_complex{}, align_to_window{};
    };
};
struct istft : op<dialect, "aten.istft.default",
         "self, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex",
         composite> {
    struct args {
        value self; std::int64_t n_fft; std::optional<std::int64_t> hop_length{}, win_length{};
        std::optional<value> window{}; bool center = true, normalized = false; std::optional<bool> onesided{};
        std::optional<std::int64_t> length{}; bool return_complex = false;
    };
};

// Complex numbers and their parts.

struct complex : op<dialect, "aten.complex.default", "real, imag", has_out, composite> {
    struct args { value real, imag; };
};
struct polar : op<dialect, "aten.polar.default", "abs, angle", has_out, composite> {
    struct args { value abs, angle; };
};
struct imag : op<dialect, "aten.imag.default", "self", aliasing, composite> {
    struct args { value self; };
};
struct view_as_real : op<dialect, "aten.view_as_real.default", "self", aliasing, composite> {
    struct args { value self; };
};
struct view_as_real_copy : op<dialect, "aten.view_as_real_copy.default",
         "self", view_copy_of<view_as_real>, has_out> {
    struct args { value self; };
};
struct view_as_complex : op<dialect, "aten.view_as_complex.default", "self", aliasing, composite> {
    struct args { value self; };
};
struct view_as_complex_copy : op<dialect, "aten.view_as_complex_copy.default",
         "self", view_copy_of<view_as_complex>, has_out> {
    struct args { value self; };
};
struct _conj : op<dialect, "aten._conj.default", "self", like_self, aliasing, composite> {
    struct args { value self; };
};
struct _conj_copy : op<dialect, "aten._conj_copy.default", "self", view_copy_of<_conj>, has_out> {
    struct args { value self; };
};
struct conj_physical : op<dialect, "aten.conj_physical.default", "self", like_self, has_out, composite> {
    struct args { value self; };
};
struct _conj_physical : op<dialect, "aten._conj_physical.default", "self", like_self, has_out, composite> {
    struct args { value self; };
};
struct resolve_conj : op<dialect, "aten.resolve_conj.default", "self", like_self, aliasing, composite> {
    struct args { value self; };
};
struct resolve_neg : op<dialect, "aten.resolve_neg.default", "self", like_self, aliasing, composite> {
    struct args { value self; };
};

// Creation.

struct arange : op<dialect, "aten.arange.default", "end, dtype", has_out> {
    struct args { scalar end; std::optional<headrace::dtype> dtype{}; };
};
struct arange_start : op<dialect, "aten.arange.start", "start, end, dtype"> {
    struct args { scalar start, end; std::optional<headrace::dtype> dtype{}; };
};
struct arange_start_step : op<dialect, "aten.arange.start_step",
         "start, end, step, dtype", out_named<"aten.arange.start_out">> {
    struct args { scalar start, end, step = 1; std::optional<headrace::dtype> dtype{}; };
};
struct empty_like : op<dialect, "aten.empty_like.default",
         "self, dtype, memory_format", gives_zeros, has_out> {
    struct args {
        value self; std::optional<headrace::dtype> dtype{};
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct empty_memory_format : op<dialect, "aten.empty.memory_format",
         "size, dtype, memory_format", gives_zeros, out_named<"aten.empty.out">> {
    struct args {
        int_list size; std::optional<headrace::dtype> dtype{};
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct eye : op<dialect, "aten.eye.default", "n, dtype", has_out> {
    struct args { std::int64_t n; std::optional<headrace::dtype> dtype{}; };
};
struct eye_m : op<dialect, "aten.eye.m", "n, m, dtype", has_out> {
    struct args { std::int64_t n, m; std::optional<headrace::dtype> dtype{}; };
};
struct full : op<dialect, "aten.full.default", "size, fill_value, dtype", gives_number, has_out> {
    struct args { int_list size; scalar fill_value; std::optional<headrace::dtype> dtype{}; };
};
struct full_like : op<dialect, "aten.full_like.default",
         "self, fill_value, dtype, memory_format", gives_number, has_out> {
    struct args {
        value self; scalar fill_value; std::optional<headrace::dtype> dtype{};
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct linspace : op<dialect, "aten.linspace.default", "start, end, steps, dtype", has_out> {
    struct args { scalar start, end; std::int64_t steps; std::optional<headrace::dtype> dtype{}; };
};
struct new_empty : op<dialect, "aten.new_empty.default", "self, size, dtype", gives_zeros, has_out> {
    struct args { value self; int_list size; std::optional<headrace::dtype> dtype{}; };
};
struct new_full : op<dialect, "aten.new_full.default",
         "self, size, fill_value, dtype", gives_number, has_out> {
    struct args { value self; int_list size; scalar fill_value; std::optional<headrace::dtype> dtype{}; };
};
struct new_ones : op<dialect, "aten.new_ones.default", "self, size, dtype", gives_ones, has_out> {
    struct args { value self; int_list size; std::optional<headrace::dtype> dtype{}; };
};
struct new_zeros : op<dialect, "aten.new_zeros.default", "self, size, dtype", gives_zeros, has_out> {
    struct args { value self; int_list size; std::optional<headrace::dtype> dtype{}; };
};
struct ones : op<dialect, "aten.ones.default", "size, dtype", gives_ones, has_out> {
    struct args { int_list size; std::optional<headrace::dtype> dtype{}; };
};
struct ones_like : op<dialect, "aten.ones_like.default", "self, dtype, memory_format", gives_ones, has_out> {
    struct args {
        value self; std::optional<headrace::dtype> dtype{};
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct scalar_tensor : op<dialect, "aten.scalar_tensor.default", "s, dtype", gives_number, has_out> {
    struct args { scalar s; std::optional<headrace::dtype> dtype{}; };
};
struct zeros : op<dialect, "aten.zeros.default", "size, dtype", gives_zeros, has_out> {
    struct args { int_list size; std::optional<headrace::dtype> dtype{}; };
};
struct zeros_like : op<dialect, "aten.zeros_like.default",
         "self, dtype, memory_format", gives_zeros, has_out> {
    struct args {
        value self; std::optional<headrace::dtype> dtype{};
        std::optional<headrace::memory_format> memory_format{};
    };
};

// Copies, casts and dropout.

struct clone : op<dialect, "aten.clone.default", "self, memory_format", copying, like_self, has_out> {
    struct args { value self; std::optional<headrace::memory_format> memory_format{}; };
};
struct contiguous : op<dialect, "aten.contiguous.default",
         "self, memory_format", forwarding, like_self, aliasing, may_copy> {
    struct args { value self; headrace::memory_format memory_format = headrace::memory_format::contiguous; };
};
struct copy : op<dialect, "aten.copy.default", "self, src, non_blocking", has_out> {
    struct args { value self, src; bool non_blocking = false; };
};
struct copy_inplace : op<dialect, "aten.copy_.default", "self, src, non_blocking", in_place_of<copy>> {
    struct args { value self, src; bool non_blocking = false; };
};
struct dropout : op<dialect, "aten.dropout.default", "input, p, train"> {
    struct args { value input; double p; bool train; };
};
struct dropout_inplace : op<dialect, "aten.dropout_.default", "self, p, train", in_place_of<dropout>> {
    struct args { value self; double p; bool train; };
};
struct fill_scalar : op<dialect, "aten.fill.Scalar", "self, value", gives_number, like_self, has_out> {
    struct args { headrace::value self; scalar value; };
};
struct fill_inplace_scalar : op<dialect, "aten.fill_.Scalar", "self, value", in_place_of<fill_scalar>> {
    struct args { headrace::value self; scalar value; };
};
struct fill_tensor : op<dialect, "aten.fill.Tensor", "self, value", like_self, has_out> {
    struct args { headrace::value self, value; };
};
struct fill_inplace_tensor : op<dialect, "aten.fill_.Tensor", "self, value", in_place_of<fill_tensor>> {
    struct args { headrace::value self, value; };
};
struct lift_fresh : op<dialect, "aten.lift_fresh.default", "self", forwarding, like_self, aliasing> {
    struct args { value self; };
};
struct lift_fresh_copy : op<dialect, "aten.lift_fresh_copy.default",
         "self", view_copy_of<lift_fresh>, has_out> {
    struct args { value self; };
};
struct _to_copy : op<dialect, "aten._to_copy.default", "self, dtype, non_blocking, memory_format", has_out> {
    struct args {
        value self; std::optional<headrace::dtype> dtype{}; bool non_blocking = false;
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct to_device : op<dialect, "aten.to.device",
         "self, dtype, non_blocking, copy, memory_format", casting, aliasing> {
    struct args {
        value self; headrace::dtype dtype; bool non_blocking = false, copy = false;
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct to_dtype : op<dialect, "aten.to.dtype",
         "self, dtype, non_blocking, copy, memory_format", casting, aliasing> {
    struct args {
        value self; headrace::dtype dtype; bool non_blocking = false, copy = false;
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct to_dtype_layout : op<dialect, "aten.to.dtype_layout",
         "self, dtype, non_blocking, copy, memory_format", casting, aliasing> {
    struct args {
        value self; std::optional<headrace::dtype> dtype{}; bool non_blocking = false, copy = false;
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct to_other : op<dialect, "aten.to.other",
         "self, other, non_blocking, copy, memory_format", casting, aliasing> {
    struct args {
        value self, other; bool non_blocking = false, copy = false;
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct type_as : op<dialect, "aten.type_as.default", "self, other", casting> {
    struct args { value self, other; };
};
struct zero_inplace : op<dialect, "aten.zero_.default", "self", in_place, gives_zeros, like_self> {
    struct args { value self; };
};

// Composite functions, which torch.export keeps whole: elementwise.

struct special_round : op<dialect, "aten.special_round.default", "self, decimals", has_out, composite> {
    struct args { value self; std::int64_t decimals = 0; };
};
struct vdot : op<dialect, "aten.vdot.default", "self, other", has_out, composite> {
    struct args { value self, other; };
};
struct feature_dropout : op<dialect, "aten.feature_dropout.default", "input, p, train"> {
    struct args { value input; double p; bool train; };
};
struct alpha_dropout : op<dialect, "aten.alpha_dropout.default", "input, p, train"> {
    struct args { value input; double p; bool train; };
};
struct feature_alpha_dropout : op<dialect, "aten.feature_alpha_dropout.default", "input, p, train"> {
    struct args { value input; double p; bool train; };
};
struct feature_dropout_inplace : op<dialect, "aten.feature_dropout_.default",
         "self, p, train", in_place_of<feature_dropout>> {
    struct args { value self; double p; bool train; };
};
struct alpha_dropout_inplace : op<dialect, "aten.alpha_dropout_.default",
         "self, p, train", in_place_of<alpha_dropout>> {
    struct args { value self; double p; bool train; };
};
struct feature_alpha_dropout_inplace : op<dialect, "aten.feature_alpha_dropout_.default",
         "self, p, train", in_place_of<feature_alpha_dropout>> {
    struct args { value self; double p; bool train; };
};
struct isneginf : op<dialect, "aten.isneginf.default", "self", on_reals, has_out, composite> {
    struct args { value self; };
};
struct isposinf : op<dialect, "aten.isposinf.default", "self", on_reals, has_out, composite> {
    struct args { value self; };
};
struct isreal : op<dialect, "aten.isreal.default", "self", on_reals, composite> {
    struct args { value self; };
};
struct sinc : op<dialect, "aten.sinc.default", "self", has_out, composite> {
    struct args { value self; };
};
struct angle : op<dialect, "aten.angle.default", "self", has_out, composite> {
    struct args { value self; };
};
struct conj : op<dialect, "aten.conj.default", "self", aliasing, composite> {
    struct args { value self; };
};
struct real : op<dialect, "aten.real.default", "self", aliasing, composite> {
    struct args { value self; };
};
struct isclose : op<dialect, "aten.isclose.default", "self, other, rtol, atol, equal_nan", composite> {
    struct args { value self, other; double rtol = 1e-5, atol = 1e-8; bool equal_nan = false; };
};
struct heaviside : op<dialect, "aten.heaviside.default", "self, values", on_reals, has_out, composite> {
    struct args { value self, values; };
};
struct logaddexp2 : op<dialect, "aten.logaddexp2.default",
         "self, other", on_floats, on_reals, has_out, composite> {
    struct args { value self, other; };
};
struct special_entr : op<dialect, "aten.special_entr.default", "self", on_reals, has_out, composite> {
    struct args { value self; };
};
struct special_xlog1py : op<dialect, "aten.special_xlog1py.default",
         "self, other", on_reals, has_out, composite> {
    struct args { value self, other; };
};
struct special_ndtr : op<dialect, "aten.special_ndtr.default", "self", on_reals, has_out, composite> {
    struct args { value self; };
};
struct float_power_tensor_tensor : op<dialect, "aten.float_power.Tensor_Tensor",
         "self, exponent", has_out, composite> {
    struct args { value self, exponent; };
};
struct float_power_tensor_scalar : op<dialect, "aten.float_power.Tensor_Scalar",
         "self, exponent", has_out, composite> {
    struct args { value self; scalar exponent; };
};
struct float_power_scalar : op<dialect, "aten.float_power.Scalar", "self, exponent", has_out, composite> {
    struct args { scalar self; value exponent; };
};
struct fft_fftshift : op<dialect, "aten.fft_fftshift.default", "self, dim", composite> {
    struct args { value self; std::optional<int_list> dim{}; };
};
struct fft_ifftshift : op<dialect, "aten.fft_ifftshift.default", "self, dim", composite> {
    struct args { value self; std::optional<int_list> dim{}; };
};

// Composite reductions, and running extrema.

struct count_nonzero : op<dialect, "aten.count_nonzero.default", "self, dim", has_out, composite> {
    struct args { value self; std::optional<std::int64_t> dim{}; };
};
struct count_nonzero_dim_intlist : op<dialect, "aten.count_nonzero.dim_IntList",
         "self, dim", has_out, composite> {
    struct args { value self; int_list dim; };
};
struct nanmean : op<dialect, "aten.nanmean.default", "self, dim, keepdim, dtype", has_out, composite> {
    struct args {
        value self; std::optional<int_list> dim{}; bool keepdim = false;
        std::optional<headrace::dtype> dtype{};
    };
};
struct dist : op<dialect, "aten.dist.default", "self, other, p", has_out, composite> {
    struct args { value self, other; scalar p = 2; };
};
struct std_mean : op<dialect, "aten.std_mean.default", "self, unbiased", 2, composite> {
    struct args { value self; bool unbiased = true; };
};
struct var_mean : op<dialect, "aten.var_mean.default", "self, unbiased", 2, composite> {
    struct args { value self; bool unbiased = true; };
};
struct kthvalue : op<dialect, "aten.kthvalue.default", "self, k, dim, keepdim", 2, on_reals, composite> {
    struct args { value self; std::int64_t k, dim = -1; bool keepdim = false; };
};
struct median : op<dialect, "aten.median.default", "self", on_reals, has_out, composite> {
    struct args { value self; };
};
struct median_dim : op<dialect, "aten.median.dim", "self, dim, keepdim", 2, on_reals, composite> {
    struct args { value self; std::int64_t dim; bool keepdim = false; };
};
struct nanmedian : op<dialect, "aten.nanmedian.default", "self", on_reals, has_out, composite> {
    struct args { value self; };
};
struct nanmedian_dim : op<dialect, "aten.nanmedian.dim", "self, dim, keepdim", 2, on_reals, composite> {
    struct args { value self; std::int64_t dim; bool keepdim = false; };
};
struct cummax : op<dialect, "aten.cummax.default", "self, dim", 2, on_reals, composite> {
    struct args { value self; std::int64_t dim; };
};
struct cummin : op<dialect, "aten.cummin.default", "self, dim", 2, on_reals, composite> {
    struct args { value self; std::int64_t dim; };
};
struct logcumsumexp : op<dialect, "aten.logcumsumexp.default",
         "self, dim", on_floats, on_reals, has_out, composite> {
    struct args { value self; std::int64_t dim; };
};
struct trapezoid_dx : op<dialect, "aten.trapezoid.dx", "y, dx, dim", composite> {
    struct args { value y; scalar dx = 1; std::int64_t dim = -1; };
};
struct trapezoid_x : op<dialect, "aten.trapezoid.x", "y, x, dim", composite> {
    struct args { value y, x; std::int64_t dim = -1; };
};
struct cumulative_trapezoid_dx : op<dialect, "aten.cumulative_trapezoid.dx", "y, dx, dim", composite> {
    struct args { value y; scalar dx = 1; std::int64_t dim = -1; };
};
struct cov : op<dialect, "aten.cov.default", "self, correction, fweights, aweights", composite> {
    struct args { value self; std::int64_t correction = 1; std::optional<value> fweights{}, aweights{}; };
};
struct corrcoef : op<dialect, "aten.corrcoef.default", "self", on_reals, composite> {
    struct args { value self; };
};
struct quantile : op<dialect, "aten.quantile.default",
         "self, q, dim, keepdim, interpolation", on_floats, on_reals, has_out, composite> {
    struct args {
        value self, q; std::optional<std::int64_t> dim{}; bool keepdim = false;
        std::string_view interpolation = "linear";
    };
};
struct quantile_scalar : op<dialect, "aten.quantile.scalar",
         "self, q, dim, keepdim, interpolation", on_floats, on_reals, has_out, composite> {
    struct args {
        value self; double q; std::optional<std::int64_t> dim{}; bool keepdim = false;
        std::string_view interpolation = "linear";
    };
};
struct nanquantile : op<dialect, "aten.nanquantile.default",
         "self, q, dim, keepdim, interpolation", on_floats, on_reals, has_out, composite> {
    struct args {
        value self, q; std::optional<std::int64_t> dim{}; bool keepdim = false;
        std::string_view interpolation = "linear";
    };
};
struct nanquantile_scalar : op<dialect, "aten.nanquantile.scalar",
         "self, q, dim, keepdim, interpolation", on_floats, on_reals, has_out, composite> {
    struct args {
        value self; double q; std::optional<std::int64_t> dim{}; bool keepdim = false;
        std::string_view interpolation = "linear";
    };
};
struct gradient_scalarint : op<dialect, "aten.gradient.scalarint",
         "self, spacing, dim, edge_order", variadic_results, composite> {
    struct args {
        value self; std::optional<scalar> spacing{}; std::optional<std::int64_t> dim{};
        std::int64_t edge_order = 1;
    };
};
struct gradient_scalararray : op<dialect, "aten.gradient.scalararray",
         "self, spacing, dim, edge_order", variadic_results, composite> {
    struct args { value self; scalar spacing; int_list dim; std::int64_t edge_order = 1; };
};
struct gradient_array : op<dialect, "aten.gradient.array",
         "self, dim, edge_order", variadic_results, composite> {
    struct args { value self; int_list dim; std::int64_t edge_order = 1; };
};
struct gradient_scalarrayint : op<dialect, "aten.gradient.scalarrayint",
         "self, spacing, dim, edge_order", variadic_results, composite> {
    struct args {
        value self; list<double> spacing; std::optional<std::int64_t> dim{}; std::int64_t edge_order = 1;
    };
};
struct gradient_scalarrayarray : op<dialect, "aten.gradient.scalarrayarray",
         "self, spacing, dim, edge_order", variadic_results, composite> {
    struct args { value self; list<double> spacing; int_list dim; std::int64_t edge_order = 1; };
};
struct gradient_tensorarrayint : op<dialect, "aten.gradient.tensorarrayint",
         "self, spacing, dim, edge_order", variadic_results, composite> {
    struct args {
        value self; list<value> spacing; std::optional<std::int64_t> dim{}; std::int64_t edge_order = 1;
    };
};
struct gradient_tensorarray : op<dialect, "aten.gradient.tensorarray",
         "self, spacing, dim, edge_order", variadic_results, composite> {
    struct args { value self; list<value> spacing; int_list dim; std::int64_t edge_order = 1; };
};

// Composite products, norms and distances.

struct inner : op<dialect, "aten.inner.default", "self, other", has_out, composite> {
    struct args { value self, other; };
};
struct tensordot : op<dialect, "aten.tensordot.default",
         "self, other, dims_self, dims_other", has_out, composite> {
    struct args { value self, other; int_list dims_self, dims_other; };
};
struct kron : op<dialect, "aten.kron.default", "self, other", has_out, composite> {
    struct args { value self, other; };
};
struct linalg_cross : op<dialect, "aten.linalg_cross.default", "self, other, dim", has_out, composite> {
    struct args { value self, other; std::int64_t dim = -1; };
};
struct cross : op<dialect, "aten.cross.default", "self, other, dim", has_out, composite> {
    struct args { value self, other; std::optional<std::int64_t> dim{}; };
};
struct linalg_vecdot : op<dialect, "aten.linalg_vecdot.default", "x, y, dim", has_out, composite> {
    struct args { value x, y; std::int64_t dim = -1; };
};
struct addmv : op<dialect, "aten.addmv.default", "self, mat, vec, beta, alpha", has_out, composite> {
    struct args { value self, mat, vec; scalar beta = 1, alpha = 1; };
};
struct addr : op<dialect, "aten.addr.default", "self, vec1, vec2, beta, alpha", has_out, composite> {
    struct args { value self, vec1, vec2; scalar beta = 1, alpha = 1; };
};
struct addbmm : op<dialect, "aten.addbmm.default", "self, batch1, batch2, beta, alpha", has_out, composite> {
    struct args { value self, batch1, batch2; scalar beta = 1, alpha = 1; };
};
struct chain_matmul : op<dialect, "aten.chain_matmul.default", "matrices", has_out, composite> {
    struct args { list<value> matrices; };
};
struct linalg_multi_dot : op<dialect, "aten.linalg_multi_dot.default", "tensors", has_out, composite> {
    struct args { list<value> tensors; };
};
struct linalg_matrix_power : op<dialect, "aten.linalg_matrix_power.default", "self, n", has_out, composite> {
    struct args { value self; std::int64_t n; };
};
struct bilinear : op<dialect, "aten.bilinear.default", "input1, input2, weight, bias", on_reals, composite> {
    struct args { value input1, input2, weight; std::optional<value> bias{}; };
};
struct linalg_norm : op<dialect, "aten.linalg_norm.default",
         "self, ord, dim, keepdim, dtype", has_out, composite> {
    struct args {
        value self; std::optional<scalar> ord{}; std::optional<int_list> dim{}; bool keepdim = false;
        std::optional<headrace::dtype> dtype{};
    };
};
struct linalg_matrix_norm : op<dialect, "aten.linalg_matrix_norm.default",
         "self, ord, dim, keepdim, dtype", has_out, composite> {
    struct args {
        value self; scalar ord; int_list dim{-2, -1}; bool keepdim = false;
        std::optional<headrace::dtype> dtype{};
    };
};
struct linalg_matrix_norm_str_ord : op<dialect, "aten.linalg_matrix_norm.str_ord",
         "self, ord, dim, keepdim, dtype", has_out, composite> {
    struct args {
        value self; std::string_view ord = "fro"; int_list dim{-2, -1}; bool keepdim = false;
        std::optional<headrace::dtype> dtype{};
    };
};
struct renorm : op<dialect, "aten.renorm.default", "self, p, dim, maxnorm", has_out, composite> {
    struct args { value self; scalar p; std::int64_t dim; scalar maxnorm; };
};
struct linalg_vander : op<dialect, "aten.linalg_vander.default", "x, N", composite> {
    struct args { value x; std::optional<std::int64_t> N{}; };
};
struct vander : op<dialect, "aten.vander.default", "x, N, increasing", composite> {
    struct args { value x; std::optional<std::int64_t> N{}; bool increasing = false; };
};
struct pairwise_distance : op<dialect, "aten.pairwise_distance.default",
         "x1, x2, p, eps, keepdim", on_floats, on_reals, composite> {
    struct args { value x1, x2; double p = 2, eps = 1e-6; bool keepdim = false; };
};
struct cdist : op<dialect, "aten.cdist.default", "x1, x2, p, compute_mode", on_floats, on_reals, composite> {
    struct args { value x1, x2; double p = 2; std::optional<std::int64_t> compute_mode{}; };
};
struct _cdist_forward : op<dialect, "aten._cdist_forward.default",
         "x1, x2, p, compute_mode", on_floats, on_reals, has_out, composite> {
    struct args { value x1, x2; double p; std::optional<std::int64_t> compute_mode; };
};
struct pdist : op<dialect, "aten.pdist.default", "self, p", on_floats, on_reals, composite> {
    struct args { value self; double p = 2; };
};
struct _pdist_forward : op<dialect, "aten._pdist_forward.default",
         "self, p", on_floats, on_reals, has_out, composite> {
    struct args { value self; double p = 2; };
};

// Composite rearrangements.

struct atleast_1d : op<dialect, "aten.atleast_1d.default", "self", composite> {
    struct args { value self; };
};
struct atleast_2d : op<dialect, "aten.atleast_2d.default", "self", composite> {
    struct args { value self; };
};
struct atleast_3d : op<dialect, "aten.atleast_3d.default", "self", composite> {
    struct args { value self; };
};
struct diag : op<dialect, "aten.diag.default", "self, diagonal", has_out, composite> {
    struct args { value self; std::int64_t diagonal = 0; };
};
struct diag_embed : op<dialect, "aten.diag_embed.default", "self, offset, dim1, dim2", has_out, composite> {
    struct args { value self; std::int64_t offset = 0, dim1 = -2, dim2 = -1; };
};
struct diagflat : op<dialect, "aten.diagflat.default", "self, offset", composite> {
    struct args { value self; std::int64_t offset = 0; };
};
struct diagonal_scatter : op<dialect, "aten.diagonal_scatter.default",
         "self, src, offset, dim1, dim2", has_out, composite> {
    struct args { value self, src; std::int64_t offset = 0, dim1 = 0, dim2 = 1; };
};
struct linalg_diagonal : op<dialect, "aten.linalg_diagonal.default",
         "A, offset, dim1, dim2", aliasing, composite> {
    struct args { value A; std::int64_t offset = 0, dim1 = -2, dim2 = -1; };
};
struct trace : op<dialect, "aten.trace.default", "self", has_out, composite> {
    struct args { value self; };
};
struct block_diag : op<dialect, "aten.block_diag.default", "tensors", has_out, composite> {
    struct args { list<value> tensors; };
};
struct cartesian_prod : op<dialect, "aten.cartesian_prod.default", "tensors", composite> {
    struct args { list<value> tensors; };
};
struct hsplit_int : op<dialect, "aten.hsplit.int", "self, sections", variadic_results, aliasing, composite> {
    struct args { value self; std::int64_t sections; };
};
struct hsplit_array : op<dialect, "aten.hsplit.array",
         "self, indices", variadic_results, aliasing, composite> {
    struct args { value self; int_list indices; };
};
struct vsplit_int : op<dialect, "aten.vsplit.int", "self, sections", variadic_results, aliasing, composite> {
    struct args { value self; std::int64_t sections; };
};
struct vsplit_array : op<dialect, "aten.vsplit.array",
         "self, indices", variadic_results, aliasing, composite> {
    struct args { value self; int_list indices; };
};
struct dsplit_int : op<dialect, "aten.dsplit.int", "self, sections", variadic_results, aliasing, composite> {
    struct args { value self; std::int64_t sections; };
};
struct dsplit_array : op<dialect, "aten.dsplit.array",
         "self, indices", variadic_results, aliasing, composite> {
    struct args { value self; int_list indices; };
};

// Composite selections and searches.

struct take : op<dialect, "aten.take.default", "self, index", has_out, composite> {
    struct args { value self, index; };
};
struct take_along_dim : op<dialect, "aten.take_along_dim.default", "self, indices, dim", has_out, composite> {
    struct args { value self, indices; std::optional<std::int64_t> dim{}; };
};
struct isin_tensor_tensor : op<dialect, "aten.isin.Tensor_Tensor",
         "elements, test_elements, assume_unique, invert", has_out, composite> {
    struct args { value elements, test_elements; bool assume_unique = false, invert = false; };
};
struct isin_tensor_scalar : op<dialect, "aten.isin.Tensor_Scalar",
         "elements, test_element, assume_unique, invert", has_out, composite> {
    struct args { value elements; scalar test_element; bool assume_unique = false, invert = false; };
};
struct isin_scalar_tensor : op<dialect, "aten.isin.Scalar_Tensor",
         "element, test_elements, assume_unique, invert", has_out, composite> {
    struct args { scalar element; value test_elements; bool assume_unique = false, invert = false; };
};
struct bucketize_tensor : op<dialect, "aten.bucketize.Tensor",
         "self, boundaries, out_int32, right", on_reals, has_out, composite> {
    struct args { value self, boundaries; bool out_int32 = false, right = false; };
};
struct bucketize_scalar : op<dialect, "aten.bucketize.Scalar",
         "self, boundaries, out_int32, right", on_reals, has_out, composite> {
    struct args { scalar self; value boundaries; bool out_int32 = false, right = false; };
};
struct searchsorted_tensor : op<dialect, "aten.searchsorted.Tensor",
         "sorted_sequence, self, out_int32, right, side, sorter", on_reals, has_out, composite> {
    struct args {
        value sorted_sequence, self; bool out_int32 = false, right = false;
        std::optional<std::string_view> side{}; std::optional<value> sorter{};
    };
};
struct searchsorted_scalar : op<dialect, "aten.searchsorted.Scalar",
         "sorted_sequence, self, out_int32, right, side, sorter", on_reals, has_out, composite> {
    struct args {
        value sorted_sequence; scalar self; bool out_int32 = false, right = false;
        std::optional<std::string_view> side{}; std::optional<value> sorter{};
    };
};
struct masked_scatter : op<dialect, "aten.masked_scatter.default", "self, mask, source", has_out> {
    struct args { value self, mask, source; };
};
struct scatter_reduce_two : op<dialect, "aten.scatter_reduce.two",
         "self, dim, index, src, reduce, include_self", on_reals, has_out, composite> {
    struct args {
        value self; std::int64_t dim; value index, src; std::string_view reduce; bool include_self = true;
    };
};
struct scatter_src_reduce : op<dialect, "aten.scatter.reduce",
         "self, dim, index, src, reduce", on_reals, has_out, composite> {
    struct args { value self; std::int64_t dim; value index, src; std::string_view reduce; };
};
struct index_reduce : op<dialect, "aten.index_reduce.default",
         "self, dim, index, source, reduce, include_self", on_reals, has_out, composite> {
    struct args {
        value self; std::int64_t dim; value index, source; std::string_view reduce;
        bool include_self = true;
    };
};
struct embedding_bag : op<dialect, "aten.embedding_bag.default",
         "weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, "
         "include_last_offset",
         4, composite> {
    struct args {
        value weight, indices, offsets; bool scale_grad_by_freq = false; std::int64_t mode = 0;
        bool sparse = false; std::optional<value> per_sample_weights{}; bool include_last_offset = false;
    };
};
struct embedding_bag_padding_idx : op<dialect, "aten.embedding_bag.padding_idx",
         "weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, "
         "include_last_offset, padding_idx",
         4, composite> {
    struct args {
        value weight, indices, offsets; bool scale_grad_by_freq; std::int64_t mode; bool sparse;
        std::optional<value> per_sample_weights; bool include_last_offset;
        std::optional<std::int64_t> padding_idx;
    };
};
struct _embedding_bag : op<dialect, "aten._embedding_bag.default",
         "weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, "
         "include_last_offset, padding_idx",
         4, has_out, composite> {
    struct args {
        value weight, indices, offsets; bool scale_grad_by_freq = false; std::int64_t mode = 0;
        bool sparse = false; std::optional<value> per_sample_weights{}; bool include_last_offset = false;
        std::int64_t padding_idx = -1;
    };
};
struct _embedding_bag_forward_only : op<dialect, "aten._embedding_bag_forward_only.default",
         "weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, "
         "include_last_offset, padding_idx",
         4, has_out, composite> {
    struct args {
        value weight, indices, offsets; bool scale_grad_by_freq = false; std::int64_t mode = 0;
        bool sparse = false; std::optional<value> per_sample_weights{}; bool include_last_offset = false;
        std::int64_t padding_idx = -1;
    };
};

// Losses. The reduction is 0 for none, 1 for the mean, 2 for the sum.

struct mse_loss : op<dialect, "aten.mse_loss.default",
         "self, target, reduction", on_floats, on_reals, has_out, composite> {
    struct args { value self, target; std::int64_t reduction = 1; };
};
struct l1_loss : op<dialect, "aten.l1_loss.default",
         "self, target, reduction", on_numbers, on_reals, composite> {
    struct args { value self, target; std::int64_t reduction = 1; };
};
struct soft_margin_loss : op<dialect, "aten.soft_margin_loss.default",
         "self, target, reduction", on_floats, on_reals, has_out, composite> {
    struct args { value self, target; std::int64_t reduction = 1; };
};
struct smooth_l1_loss : op<dialect, "aten.smooth_l1_loss.default",
         "self, target, reduction, beta", on_floats, on_reals, has_out, composite> {
    struct args { value self, target; std::int64_t reduction = 1; double beta = 1; };
};
struct huber_loss : op<dialect, "aten.huber_loss.default",
         "self, target, reduction, delta", on_floats, on_reals, has_out, composite> {
    struct args { value self, target; std::int64_t reduction = 1; double delta = 1; };
};
struct binary_cross_entropy : op<dialect, "aten.binary_cross_entropy.default",
         "self, target, weight, reduction", on_floats, on_reals, has_out, composite> {
    struct args { value self, target; std::optional<value> weight{}; std::int64_t reduction = 1; };
};
struct binary_cross_entropy_with_logits : op<dialect, "aten.binary_cross_entropy_with_logits.default",
         "self, target, weight, pos_weight, reduction", on_reals, has_out, composite> {
    struct args {
        value self, target; std::optional<value> weight{}, pos_weight{}; std::int64_t reduction = 1;
    };
};
struct kl_div : op<dialect, "aten.kl_div.default",
         "self, target, reduction, log_target", on_floats, on_reals, composite> {
    struct args { value self, target; std::int64_t reduction = 1; bool log_target = false; };
};
struct nll_loss : op<dialect, "aten.nll_loss.default",
         "self, target, weight, reduction, ignore_index", on_floats, on_reals, has_out, composite> {
    struct args {
        value self, target; std::optional<value> weight{}; std::int64_t reduction = 1, ignore_index = -100;
    };
};
struct nll_loss2d : op<dialect, "aten.nll_loss2d.default",
         "self, target, weight, reduction, ignore_index", on_floats, on_reals, has_out, composite> {
    struct args {
        value self, target; std::optional<value> weight{}; std::int64_t reduction = 1, ignore_index = -100;
    };
};
struct nll_loss_nd : op<dialect, "aten.nll_loss_nd.default",
         "self, target, weight, reduction, ignore_index", on_floats, on_reals, composite> {
    struct args {
        value self, target; std::optional<value> weight{}; std::int64_t reduction = 1, ignore_index = -100;
    };
};
struct nll_loss_forward : op<dialect, "aten.nll_loss_forward.default",
         "self, target, weight, reduction, ignore_index", 2, on_floats, on_reals, composite> {
    struct args { value self, target; std::optional<value> weight; std::int64_t reduction, ignore_index; };
};
struct nll_loss2d_forward : op<dialect, "aten.nll_loss2d_forward.default",
         "self, target, weight, reduction, ignore_index", 2, on_floats, on_reals, composite> {
    struct args { value self, target; std::optional<value> weight; std::int64_t reduction, ignore_index; };
};
struct cross_entropy_loss : op<dialect, "aten.cross_entropy_loss.default",
         "self, target, weight, reduction, ignore_index, label_smoothing", on_floats, on_reals, composite> {
    struct args {
        value self, target; std::optional<value> weight{}; std::int64_t reduction = 1, ignore_index = -100;
        double label_smoothing = 0;
    };
};
struct poisson_nll_loss : op<dialect, "aten.poisson_nll_loss.default",
         "input, target, log_input, full, eps, reduction", on_reals, composite> {
    struct args { value input, target; bool log_input, full; double eps; std::int64_t reduction; };
};
struct cosine_embedding_loss : op<dialect, "aten.cosine_embedding_loss.default",
         "input1, input2, target, margin, reduction", on_reals, composite> {
    struct args { value input1, input2, target; double margin = 0; std::int64_t reduction = 1; };
};
struct margin_ranking_loss : op<dialect, "aten.margin_ranking_loss.default",
         "input1, input2, target, margin, reduction", on_reals, composite> {
    struct args { value input1, input2, target; double margin = 0; std::int64_t reduction = 1; };
};
struct hinge_embedding_loss : op<dialect, "aten.hinge_embedding_loss.default",
         "self, target, margin, reduction", on_numbers, on_reals, composite> {
    struct args { value self, target; double margin = 1; std::int64_t reduction = 1; };
};
struct triplet_margin_loss : op<dialect, "aten.triplet_margin_loss.default",
         "anchor, positive, negative, margin, p, eps, swap, reduction", on_reals, composite> {
    struct args {
        value anchor, positive, negative; double margin = 1, p = 2, eps = 1e-6; bool swap = false;
        std::int64_t reduction = 1;
    };
};
struct multi_margin_loss : op<dialect, "aten.multi_margin_loss.default",
         "self, target, p, margin, weight, reduction", on_reals, has_out, composite> {
    struct args {
        value self, target; scalar p = 1, margin = 1; std::optional<value> weight{};
        std::int64_t reduction = 1;
    };
};
struct multilabel_margin_loss : op<dialect, "aten.multilabel_margin_loss.default",
         "self, target, reduction", on_floats, on_reals, has_out, composite> {
    struct args { value self, target; std::int64_t reduction = 1; };
};

// Windows of signals, and other tensors that are computed from arguments alone.

struct hann_window : op<dialect, "aten.hann_window.default", "window_length, dtype", has_out, composite> {
    struct args { std::int64_t window_length; std::optional<headrace::dtype> dtype{}; };
};
struct hann_window_periodic : op<dialect, "aten.hann_window.periodic",
         "window_length, periodic, dtype", has_out, composite> {
    struct args { std::int64_t window_length; bool periodic; std::optional<headrace::dtype> dtype{}; };
};
struct hamming_window : op<dialect, "aten.hamming_window.default",
         "window_length, dtype", has_out, composite> {
    struct args { std::int64_t window_length; std::optional<headrace::dtype> dtype{}; };
};
struct hamming_window_periodic : op<dialect, "aten.hamming_window.periodic",
         "window_length, periodic, dtype", has_out, composite> {
    struct args { std::int64_t window_length; bool periodic; std::optional<headrace::dtype> dtype{}; };
};
struct blackman_window : op<dialect, "aten.blackman_window.default",
         "window_length, dtype", has_out, composite> {
    struct args { std::int64_t window_length; std::optional<headrace::dtype> dtype{}; };
};
struct blackman_window_periodic : op<dialect, "aten.blackman_window.periodic",
         "window_length, periodic, dtype", has_out, composite> {
    struct args { std::int64_t window_length; bool periodic; std::optional<headrace::dtype> dtype{}; };
};
struct bartlett_window : op<dialect, "aten.bartlett_window.default",
         "window_length, dtype", has_out, composite> {
    struct args { std::int64_t window_length; std::optional<headrace::dtype> dtype{}; };
};
struct bartlett_window_periodic : op<dialect, "aten.bartlett_window.periodic",
         "window_length, periodic, dtype", has_out, composite> {
    struct args { std::int64_t window_length; bool periodic; std::optional<headrace::dtype> dtype{}; };
};
struct kaiser_window : op<dialect, "aten.kaiser_window.default", "window_length, dtype", has_out, composite> {
    struct args { std::int64_t window_length; std::optional<headrace::dtype> dtype{}; };
};
struct kaiser_window_periodic : op<dialect, "aten.kaiser_window.periodic",
         "window_length, periodic, dtype", has_out, composite> {
    struct args { std::int64_t window_length; bool periodic; std::optional<headrace::dtype> dtype{}; };
};
struct hamming_window_periodic_alpha : op<dialect, "aten.hamming_window.periodic_alpha",
         "window_length, periodic, alpha, dtype", has_out, composite> {
    struct args {
        std::int64_t window_length; bool periodic; double alpha; std::optional<headrace::dtype> dtype{};
    };
};
struct hamming_window_periodic_alpha_beta : op<dialect, "aten.hamming_window.periodic_alpha_beta",
         "window_length, periodic, alpha, beta, dtype", has_out, composite> {
    struct args {
        std::int64_t window_length; bool periodic; double alpha, beta;
        std::optional<headrace::dtype> dtype{};
    };
};
struct kaiser_window_beta : op<dialect, "aten.kaiser_window.beta",
         "window_length, periodic, beta, dtype", has_out, composite> {
    struct args {
        std::int64_t window_length; bool periodic; double beta; std::optional<headrace::dtype> dtype{};
    };
};
struct logspace : op<dialect, "aten.logspace.default", "start, end, steps, base, dtype", has_out, composite> {
    struct args {
        scalar start, end; std::int64_t steps; double base = 10; std::optional<headrace::dtype> dtype{};
    };
};
struct tril_indices : op<dialect, "aten.tril_indices.default",
         "row, col, offset, dtype", has_out, composite> {
    struct args {
        std::int64_t row, col, offset = 0; std::optional<headrace::dtype> dtype{headrace::dtype::int64};
    };
};
struct triu_indices : op<dialect, "aten.triu_indices.default",
         "row, col, offset, dtype", has_out, composite> {
    struct args {
        std::int64_t row, col, offset = 0; std::optional<headrace::dtype> dtype{headrace::dtype::int64};
    };
};
struct affine_grid_generator : op<dialect, "aten.affine_grid_generator.default",
         "theta, size, align_corners", on_floats, on_reals, has_out, composite> {
    struct args { value theta; int_list size; bool align_corners; };
};
struct repeat_interleave_self_tensor : op<dialect, "aten.repeat_interleave.self_Tensor",
         "self, repeats, dim, output_size", composite> {
    struct args {
        value self, repeats; std::optional<std::int64_t> dim{}, output_size{};
    };
};
struct repeat_interleave_tensor : op<dialect, "aten.repeat_interleave.Tensor",
         "repeats, output_size", has_out> {
    struct args { value repeats; std::optional<std::int64_t> output_size{}; };
};

// Resizing with antialiasing.

struct _upsample_bilinear2d_aa : op<dialect, "aten._upsample_bilinear2d_aa.default",
         "self, output_size, align_corners, scales_h, scales_w", resampling, spatial_2d, has_out> {
    struct args {
        value self; int_list output_size; bool align_corners; std::optional<double> scales_h{}, scales_w{};
    };
};
struct _upsample_bilinear2d_aa_vec : op<dialect, "aten._upsample_bilinear2d_aa.vec",
         "input, output_size, align_corners, scale_factors", resampling, spatial_2d> {
    struct args {
        value input; std::optional<int_list> output_size; bool align_corners;
        std::optional<list<double>> scale_factors;
    };
};
struct _upsample_bicubic2d_aa : op<dialect, "aten._upsample_bicubic2d_aa.default",
         "self, output_size, align_corners, scales_h, scales_w", resampling, spatial_2d, has_out> {
    struct args {
        value self; int_list output_size; bool align_corners; std::optional<double> scales_h{}, scales_w{};
    };
};
struct _upsample_bicubic2d_aa_vec : op<dialect, "aten._upsample_bicubic2d_aa.vec",
         "input, output_size, align_corners, scale_factors", resampling, spatial_2d> {
    struct args {
        value input; std::optional<int_list> output_size; bool align_corners;
        std::optional<list<double>> scale_factors;
    };
};

// Random numbers.

struct rand : op<dialect, "aten.rand.default", "size, dtype", impure, has_out> {
    struct args { int_list size; std::optional<headrace::dtype> dtype{}; };
};
struct randn : op<dialect, "aten.randn.default", "size, dtype", impure, has_out> {
    struct args { int_list size; std::optional<headrace::dtype> dtype{}; };
};
struct rand_like : op<dialect, "aten.rand_like.default", "self, dtype, memory_format", impure, has_out> {
    struct args {
        value self; std::optional<headrace::dtype> dtype{};
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct randn_like : op<dialect, "aten.randn_like.default", "self, dtype, memory_format", impure, has_out> {
    struct args {
        value self; std::optional<headrace::dtype> dtype{};
        std::optional<headrace::memory_format> memory_format{};
    };
};
struct bernoulli : op<dialect, "aten.bernoulli.default", "self", on_reals, impure, has_out> {
    struct args { value self; };
};
struct bernoulli_p : op<dialect, "aten.bernoulli.p",
         "self, p", impure, out_named<"aten.bernoulli.float_out">> {
    struct args { value self; double p; };
};

// Sizes and assertions. A size or item() is a number, not a tensor; it counts as one result here.

struct _assert_async : op<dialect, "aten._assert_async.default", "self", 0> { struct args { value self; }; };
struct _assert_scalar : op<dialect, "aten._assert_scalar.default", "self, assert_msg", 0> {
    struct args { scalar self; std::string_view assert_msg; };
};
struct _assert_tensor_metadata
    : op<dialect, "aten._assert_tensor_metadata.default", "a, size, stride, dtype", 0> {
    struct args {
        value a; std::optional<int_list> size{}, stride{}; std::optional<headrace::dtype> dtype{};
    };
};
struct item : op<dialect, "aten.item.default", "self", host_number> { struct args { value self; }; };
struct _local_scalar_dense : op<dialect, "aten._local_scalar_dense.default", "self", host_number> {
    struct args { value self; };
};
struct sym_constrain_range : op<dialect, "aten.sym_constrain_range.default", "size, min, max", 0> {
    struct args { scalar size; std::optional<std::int64_t> min{}, max{}; };
};
struct sym_constrain_range_for_size
    : op<dialect, "aten.sym_constrain_range_for_size.default", "size, min, max", 0> {
    struct args { scalar size; std::optional<std::int64_t> min{}, max{}; };
};
struct sym_numel : op<dialect, "aten.sym_numel.default", "self", host_number> {
    struct args { value self; };
};
struct sym_size_int : op<dialect, "aten.sym_size.int", "self, dim", host_number> {
    struct args { value self; std::int64_t dim; };
};

struct dialect : dialect_of<"aten",
      conv1d, conv1d_padding, conv2d, conv2d_padding, conv3d, conv3d_padding, conv_transpose1d,
      conv_transpose2d_input, conv_transpose3d_input, convolution,
      adaptive_avg_pool1d, _adaptive_avg_pool2d, adaptive_avg_pool2d, _adaptive_avg_pool3d,
      adaptive_avg_pool3d, adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d, avg_pool1d,
      avg_pool2d, avg_pool3d, max_pool1d, max_pool1d_with_indices, max_unpool2d, max_pool2d,
      max_pool2d_with_indices, max_pool3d, max_pool3d_with_indices,
      addmm, baddbmm, bmm, dot, einsum, linear, matmul, mm, mv, outer,
      gru_cell, gru_input, lstm_cell, lstm_input, rnn_relu_cell, rnn_relu_input, rnn_tanh_cell,
      rnn_tanh_input,
      _log_softmax, log_softmax_int, _safe_softmax, scaled_dot_product_attention,
      _scaled_dot_product_flash_attention_for_cpu, _softmax, softmax_int,
      batch_norm, cosine_similarity, group_norm, instance_norm, layer_norm, linalg_vector_norm,
      native_batch_norm, _native_batch_norm_legit, _native_batch_norm_legit_no_stats,
      _native_batch_norm_legit_no_training, native_group_norm, native_layer_norm, norm_scalar,
      norm_scalaropt_dim, rms_norm, _weight_norm,
      celu, celu_inplace, elu, elu_inplace, gelu, gelu_inplace, glu, hardshrink, hardsigmoid,
      hardsigmoid_inplace, hardswish, hardswish_inplace, hardtanh, hardtanh_inplace, leaky_relu,
      leaky_relu_inplace, log_sigmoid, log_sigmoid_forward, logit, mish, mish_inplace, prelu, _prelu_kernel,
      relu, relu6, relu6_inplace, relu_inplace, selu, selu_inplace, sigmoid, sigmoid_inplace, silu,
      silu_inplace, softplus, softshrink, tanh, tanh_inplace, threshold, threshold_inplace,
      abs, abs_inplace, acos, acosh, asin, asinh, atan, atanh, ceil, ceil_inplace, cos, cosh, deg2rad, erf,
      erfc, erfinv, exp, exp2, exp_inplace, expm1, floor, floor_inplace, frac, isfinite, isinf, isnan, log,
      log10, log1p, log2, log_inplace, nan_to_num, neg, neg_inplace, rad2deg, reciprocal, reciprocal_inplace,
      round, round_decimals, round_inplace, rsqrt, rsqrt_inplace, sgn, sign, signbit, sin, sinh, sqrt,
      sqrt_inplace, square, square_inplace, tan, trunc,
      add_inplace_scalar, add_inplace_tensor, add_scalar, add_tensor, addcdiv, addcmul, atan2,
      copysign_tensor, div_inplace_scalar, div_inplace_tensor, div_scalar, div_scalar_mode, div_tensor,
      div_tensor_mode, divide_tensor, floor_divide, floor_divide_scalar, fmax, fmin, fmod_scalar, fmod_tensor,
      hypot, lerp_scalar, lerp_tensor, logaddexp, max_other, maximum, min_other, minimum, mul_inplace_scalar,
      mul_inplace_tensor, mul_scalar, mul_tensor, multiply_tensor, pow_inplace_scalar, pow_inplace_tensor,
      pow_scalar, pow_tensor_scalar, pow_tensor_tensor, remainder_scalar, remainder_scalar_tensor,
      remainder_tensor, rsub_scalar, rsub_tensor, sub_inplace_scalar, sub_inplace_tensor, sub_scalar,
      sub_tensor, subtract_tensor, true_divide_tensor, xlogy_tensor,
      clamp, clamp_inplace, clamp_max, clamp_max_inplace, clamp_max_tensor, clamp_min, clamp_min_inplace,
      clamp_min_tensor, clamp_tensor, clip,
      eq_scalar, eq_tensor, ge_scalar, ge_tensor, gt_scalar, gt_tensor, le_scalar, le_tensor, lt_scalar,
      lt_tensor, ne_inplace_scalar, ne_inplace_tensor, ne_scalar, ne_tensor,
      and_scalar, and_tensor, bitwise_and_scalar, bitwise_and_tensor, bitwise_left_shift_tensor,
      bitwise_left_shift_tensor_scalar, bitwise_not, bitwise_or_scalar, bitwise_or_tensor,
      bitwise_right_shift_tensor, bitwise_right_shift_tensor_scalar, bitwise_xor_scalar, bitwise_xor_tensor,
      logical_and, logical_not, logical_or, logical_xor, lshift_scalar, lshift_tensor, or_scalar, or_tensor,
      rshift_scalar, rshift_tensor, xor_scalar, xor_tensor,
      all, all_dim, all_dims, amax, amin, aminmax, any, any_dim, any_dims, argmax, argmin, argsort,
      argsort_stable, cumprod, cumsum, logsumexp, max, max_dim, mean, mean_dim, min, min_dim, msort, nansum,
      prod, prod_dim_int, sort, sort_stable, std_, std_correction, std_dim, std_mean_correction, std_mean_dim,
      sum, sum_dim_intlist, topk, var, var_correction, var_dim, var_mean_correction, var_mean_dim,
      alias, alias_copy, as_strided, as_strided_copy, broadcast_to, detach, detach_copy, detach_inplace,
      diagonal, diagonal_copy, expand, expand_as, expand_copy, flatten_using_ints, m_t, movedim_int,
      movedim_intlist, narrow,
      narrow_copy, numpy_t, permute, permute_copy, ravel, reshape, reshape_as, select_copy_int, select_int,
      slice_copy_tensor, slice_tensor, squeeze, squeeze_copy, squeeze_copy_dim, squeeze_copy_dims,
      squeeze_dim, squeeze_dims, squeeze_inplace_dim, t, t_copy, transpose_copy_int, transpose_int,
      unflatten_int, unfold, unfold_copy, _unsafe_view, unsqueeze, unsqueeze_copy, view, view_as, view_copy,
      chunk, split_copy_tensor, split_sizes, split_tensor, split_with_sizes, split_with_sizes_copy,
      tensor_split_indices, tensor_split_sections, unbind_copy_int, unbind_int, unsafe_split_tensor,
      unsafe_split_with_sizes,
      broadcast_tensors, cat, channel_shuffle, col2im, column_stack, concat, diff, dstack, flip, fliplr,
      flipud, hstack, im2col, meshgrid_indexing, pixel_shuffle, pixel_unshuffle, repeat,
      repeat_interleave_self_int, roll, rot90, stack, tile, tril, triu, vstack,
      constant_pad_nd, pad, reflection_pad1d, reflection_pad2d, reflection_pad3d, replication_pad1d,
      replication_pad2d, replication_pad3d,
      embedding, gather, index_add, index_copy, index_copy_inplace, index_fill_int_scalar, index_put,
      index_put_inplace, index_select, index_tensor, masked_fill_inplace_scalar, masked_fill_inplace_tensor,
      masked_fill_scalar, masked_fill_tensor, one_hot, scatter_add, scatter_src, scatter_value,
      select_scatter, slice_scatter, _unsafe_index_put, _unsafe_index_tensor, where_scalar, where_scalarother,
      where_scalarself, where_self,
      grid_sampler, grid_sampler_2d, upsample_bicubic2d, upsample_bicubic2d_vec, upsample_bilinear2d,
      upsample_bilinear2d_vec, upsample_linear1d, upsample_linear1d_vec, upsample_nearest1d,
      upsample_nearest1d_vec, upsample_nearest2d, upsample_nearest2d_vec, upsample_nearest3d,
      upsample_nearest3d_vec, _upsample_nearest_exact1d, _upsample_nearest_exact1d_vec,
      _upsample_nearest_exact2d, _upsample_nearest_exact2d_vec, _upsample_nearest_exact3d,
      _upsample_nearest_exact3d_vec, upsample_trilinear3d, upsample_trilinear3d_vec,
      fft_fft, fft_ifft, fft_rfft, fft_irfft, fft_hfft, fft_ihfft, fft_fft2, fft_ifft2, fft_rfft2,
      fft_irfft2, fft_fftn, fft_ifftn, fft_rfftn, fft_irfftn, _fft_r2c, _fft_c2r, _fft_c2c, fft_fftfreq,
      fft_rfftfreq, stft, stft_center, istft, complex, polar, imag, view_as_real, view_as_real_copy,
      view_as_complex, view_as_complex_copy, _conj, _conj_copy, conj_physical, _conj_physical,
      resolve_conj, resolve_neg,
      arange, arange_start, arange_start_step, empty_like, empty_memory_format, eye, eye_m, full, full_like,
      linspace, new_empty, new_full, new_ones, new_zeros, ones, ones_like, scalar_tensor, zeros, zeros_like,
      clone, contiguous, copy, copy_inplace, dropout, dropout_inplace, fill_inplace_scalar,
      fill_inplace_tensor, fill_scalar, fill_tensor, lift_fresh, lift_fresh_copy, _to_copy, to_device,
      to_dtype, to_dtype_layout, to_other, type_as, zero_inplace,
      special_round, vdot, feature_dropout, alpha_dropout, feature_alpha_dropout, feature_dropout_inplace,
      alpha_dropout_inplace, feature_alpha_dropout_inplace, isneginf, isposinf, isreal, sinc, angle, conj,
      real, isclose, heaviside, logaddexp2, special_entr, special_xlog1py, count_nonzero,
      count_nonzero_dim_intlist, nanmean, dist, std_mean, var_mean, kthvalue, median, median_dim, nanmedian,
      nanmedian_dim, cummax, cummin, logcumsumexp, trapezoid_dx, trapezoid_x, cumulative_trapezoid_dx, cov,
      corrcoef, inner, tensordot, kron, linalg_cross, cross, linalg_vecdot, addmv, addr, addbmm,
      chain_matmul, linalg_multi_dot, linalg_matrix_power, bilinear, linalg_norm, linalg_matrix_norm,
      linalg_matrix_norm_str_ord, pairwise_distance, cdist, _cdist_forward, pdist, _pdist_forward,
      atleast_1d, atleast_2d, atleast_3d, diag, diag_embed, diagflat, diagonal_scatter, linalg_diagonal,
      trace, block_diag, cartesian_prod, hsplit_int, hsplit_array, vsplit_int, vsplit_array, dsplit_int,
      dsplit_array, take, take_along_dim, isin_tensor_tensor, isin_tensor_scalar, isin_scalar_tensor,
      bucketize_tensor, bucketize_scalar, searchsorted_tensor, searchsorted_scalar, masked_scatter,
      scatter_reduce_two, scatter_src_reduce, index_reduce, embedding_bag, embedding_bag_padding_idx,
      _embedding_bag, _embedding_bag_forward_only, mse_loss, l1_loss, soft_margin_loss, smooth_l1_loss,
      huber_loss, binary_cross_entropy, binary_cross_entropy_with_logits, kl_div, nll_loss, nll_loss2d,
      nll_loss_nd, nll_loss_forward, nll_loss2d_forward, cross_entropy_loss, poisson_nll_loss,
      cosine_embedding_loss, margin_ranking_loss, hinge_embedding_loss, triplet_margin_loss,
      multi_margin_loss, hann_window, hann_window_periodic, hamming_window, hamming_window_periodic,
      blackman_window, blackman_window_periodic, bartlett_window, bartlett_window_periodic, kaiser_window,
      kaiser_window_periodic, hamming_window_periodic_alpha, hamming_window_periodic_alpha_beta,
      kaiser_window_beta, logspace, tril_indices, triu_indices, affine_grid_generator,
      repeat_interleave_self_tensor, repeat_interleave_tensor, _upsample_bilinear2d_aa,
      _upsample_bilinear2d_aa_vec, _upsample_bicubic2d_aa, _upsample_bicubic2d_aa_vec, rand, randn,
      rand_like, randn_like, bernoulli, bernoulli_p, special_ndtr, float_power_tensor_tensor,
      float_power_tensor_scalar, float_power_scalar, fft_fftshift, fft_ifftshift, quantile, quantile_scalar,
      nanquantile, nanquantile_scalar, gradient_scalarint, gradient_scalararray, gradient_array,
      gradient_scalarrayint, gradient_scalarrayarray, gradient_tensorarrayint, gradient_tensorarray, renorm,
      linalg_vander, vander, multilabel_margin_loss,
      _assert_async, _assert_scalar, _assert_tensor_metadata, item, _local_scalar_dense, sym_constrain_range,
      sym_constrain_range_for_size, sym_numel, sym_size_int> {
    static constexpr bool is_pure = true;
};

// clang-format on

}  // namespace headrace::aten

#endif
