// SPDX-License-Identifier: MIT
// Defines the kernels of ATen's convolutions.
#include <optional>
#include <string_view>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/float_convolution.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/volume.hpp>
#include <headrace/infer/window.hpp>

namespace headrace::eval {

namespace {

/// The operands that all forms of a convolution share; an input without a batch axis is a batch of one.
struct convolution_operands {
    value input, weight;
    std::optional<value> bias;
    int_list stride, dilation;
    std::int64_t groups;
};

[[nodiscard]] convolution_shape convolution_shape_of(
    const evaluation& e, const convolution_operands& a, bool transposed) {
    const tensor& in = e.input(a.input);
    const tensor& weight = e.input(a.weight);
    const std::size_t count = weight.rank() - 2;
    const extents out = e.output_shape();
    const auto tail = [count](const extents& s) { return triple_of(std::span(s).last(count), count, 1); };
    convolution_shape s;
    s.batch = in.rank() == weight.rank() ? in.dim(0) : 1;
    s.channels =
        weight.dim(1) * a.groups;  // a transposed weight is [features, result channels / groups, ...]
    s.features = weight.dim(0);
    s.groups = a.groups;
    s.in = tail(transposed ? out : in.shape());
    s.out = tail(transposed ? in.shape() : out);
    s.kernel = tail(weight.shape());
    s.stride = triple_of(a.stride, count, 1);
    s.dilation = triple_of(a.dilation, count, 1);
    return s;
}

void convolve_into(evaluation& e, const convolution_operands& a, const int_list& padding, bool transposed) {
    convolution_shape s = convolution_shape_of(e, a, transposed);
    s.before = triple_of(padding, e.input(a.weight).rank() - 2, 0);
    const tensor* const bias = e.input(a.bias);
    if (!transposed && e.output_type() == dtype::float32) {
        const elements_as<float> in(e.input(a.input));
        const elements_as<float> weight(e.input(a.weight));
        const elements_as<float> biases(bias);
        return convolve_floats(s, in, weight, biases, e.output().mutable_data<float>());
    }
    const elements_as<double> in(e.input(a.input));
    const elements_as<double> weight(e.input(a.weight));
    const elements_as<double> biases(bias);
    e.output().assign(
        transposed ? convolve_transposed(s, in, weight, biases) : convolve(s, in, weight, biases));
}

template <one_of<ops<aten::conv1d, aten::conv2d, aten::conv3d>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    convolve_into(e, {a.input, a.weight, a.bias, a.stride, a.dilation, a.groups}, a.padding, false);
}
template <one_of<ops<aten::conv1d_padding, aten::conv2d_padding, aten::conv3d_padding>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const extents& weight = e.input(a.weight).shape();
    extents before(weight.size() - 2, 0);
    for (std::size_t d = 0; d != before.size() && a.padding == "same"; ++d) {
        const std::int64_t dilation = a.dilation[a.dilation.size() == 1 ? 0 : d];
        before[d] = same_padded({.kernel = weight[d + 2], .dilation = dilation}).before;
    }
    convolve_into(e, {a.input, a.weight, a.bias, a.stride, a.dilation, a.groups}, before, false);
}
template <one_of<ops<aten::conv_transpose1d, aten::conv_transpose2d_input, aten::conv_transpose3d_input>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    convolve_into(e, {a.input, a.weight, a.bias, a.stride, a.dilation, a.groups}, a.padding, true);
}
void evaluate(aten::convolution, const args<aten::convolution>& a, evaluation& e) {
    convolve_into(e, {a.input, a.weight, a.bias, a.stride, a.dilation, a.groups}, a.padding, a.transposed);
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_conv_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
