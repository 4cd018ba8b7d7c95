// SPDX-License-Identifier: MIT
// The dialect of an NPU: ten ops that its driver knows, what each gives, and what the machine cannot do.
#ifndef HEADRACE_EXAMPLES_NPU_HPP
#define HEADRACE_EXAMPLES_NPU_HPP

//! [ops]
#include <algorithm>
//! [ops]

#if __has_include(<headrace_passes.hpp>)  // the single headers
#include <headrace_passes.hpp>
#else
//! [ops]
#include <headrace/infer/aten.hpp>
#include <headrace/op/custom.hpp>
#include <headrace/op/op_map.hpp>
//! [ops]
#endif

//! [ops]
namespace npu {

using namespace headrace;

struct dialect;

/// conv2d(input, weight) + bias, and max(…, 0) where `relu`.
struct conv2d : op<dialect, "npu.conv2d", "input, weight, bias, stride, padding, groups, relu"> {
    struct args {
        value input, weight, bias;
        int_list stride{1, 1}, padding{0, 0};
        std::int64_t groups = 1;
        bool relu = false;
    };
};
struct linear : op<dialect, "npu.linear", "input, weight, bias, relu"> {
    struct args {
        value input, weight, bias;
        bool relu = false;
    };
};
/// The sum of two tensors of one shape: the machine does not broadcast.
struct add : op<dialect, "npu.add", "a, b, relu"> {
    struct args {
        value a, b;
        bool relu = false;
    };
};
/// input * scale + shift, with one factor and one summand for each channel.
struct affine : op<dialect, "npu.affine", "input, scale, shift"> {
    struct args {
        value input, scale, shift;
    };
};
struct max_pool : op<dialect, "npu.max_pool", "input, kernel, stride, padding"> {
    struct args {
        value input;
        int_list kernel, stride, padding{0, 0};
    };
};
/// The mean over rows and columns, which stay with size 1.
struct average : op<dialect, "npu.average", "input", trait::reduction> {
    struct args {
        value input;
    };
};
/// A function of one element, of those in the machine's table.
enum class function : std::uint8_t { relu, sigmoid, tanh, hardswish };
constexpr std::string_view enumerator_names(function) { return "relu, sigmoid, tanh, hardswish"; }
struct table : op<dialect, "npu.table", "input, function", trait::unary> {
    struct args {
        value input;
        npu::function function{};
    };
};
/// Over the last axis.
struct softmax : op<dialect, "npu.softmax", "input"> {
    struct args {
        value input;
    };
};
struct concat : op<dialect, "npu.concat", "inputs, axis", trait::joining> {
    struct args {
        list<value> inputs;
        std::int64_t axis = 0;
    };
};
struct reshape : op<dialect, "npu.reshape", "input, shape", trait::reshaping> {
    struct args {
        value input;
        int_list shape;
    };
};
struct dialect
    : dialect_of<"npu", conv2d, linear, add, affine, max_pool, average, table, softmax, concat, reshape> {};
//! [ops]

//! [inference]
// What an op gives is what the ATen op like it gives.
inline args<aten::conv2d> as_aten(const args<conv2d>& a) {
    return {.input = a.input,
        .weight = a.weight,
        .bias = a.bias,
        .stride = a.stride,
        .padding = a.padding,
        .groups = a.groups};
}
inline args<aten::linear> as_aten(const args<linear>& a) { return {a.input, a.weight, a.bias}; }
inline args<aten::max_pool2d> as_aten(const args<max_pool>& a) {
    return {.self = a.input, .kernel_size = a.kernel, .stride = a.stride, .padding = a.padding};
}
inline args<aten::mean_dim> as_aten(const args<average>& a) { return {a.input, int_list{2, 3}, true}; }
inline args<aten::softmax_int> as_aten(const args<softmax>& a) { return {a.input, -1}; }
inline args<aten::cat> as_aten(const args<concat>& a) { return {a.inputs, a.axis}; }
inline args<aten::view> as_aten(const args<reshape>& a) { return {a.input, a.shape}; }

/// Ops that ATen has under another name, or with an activation less.
using twins = op_map<becomes<conv2d, aten::conv2d>, becomes<linear, aten::linear>,
    becomes<max_pool, aten::max_pool2d>, becomes<average, aten::mean_dim>,
    becomes<softmax, aten::softmax_int>, becomes<concat, aten::cat>, becomes<reshape, aten::view>>;

template <one_of<twins::keys> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return infer_op<twins::at<Op>>(as_aten(a), out);
}
inline result<void> infer_results(add, const args<add>& a, inference& out) {
    if (!(out.of(a.a) == out.of(a.b))) return invalid("the operands differ in type or shape");
    out.add(out.of(a.a));
    return {};
}
inline result<void> infer_results(affine, const args<affine>& a, inference& out) {
    const tensor_meta& input = out.of(a.input);
    if (input.rank() != 4) return invalid("the input must have four axes");
    const int_list channels{input.shape[1]};
    if (out.of(a.scale).shape != channels || out.of(a.shift).shape != channels)
        return invalid("scale and shift must have one element for each channel");
    out.add(input);
    return {};
}
inline result<void> infer_results(table, const args<table>& a, inference& out) {
    out.add(out.of(a.input));
    return {};
}
//! [inference]

//! [verifiers]
// The machine's limits, found by the name verify_op beside the tags.
inline constexpr std::int64_t max_stride = 3;
inline constexpr std::int64_t max_kernel = 8;

inline bool all_within(sizes numbers, std::int64_t limit) {
    return std::ranges::all_of(numbers, [&](std::int64_t n) { return n <= limit; });
}
inline result<void> verify_op(conv2d, const args<conv2d>& a, const node&) {
    if (!all_within(a.stride, max_stride)) return invalid("strides are at most 3");
    const sizes kernel = sizes(meta_of(a.weight)->shape).last(2);
    if (!all_within(kernel, max_kernel)) return invalid("kernels are at most 8 x 8");
    return {};
}
inline result<void> verify_op(max_pool, const args<max_pool>& a, const node&) {
    if (!all_within(a.stride, max_stride) || !all_within(a.kernel, max_kernel))
        return invalid("strides are at most 3, kernels 8 x 8");
    return {};
}

}  // namespace npu
//! [verifiers]

#endif
