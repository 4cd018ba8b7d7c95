// SPDX-License-Identifier: MIT
// Defines the kernels of TOSA's tensor operators: convolutions, poolings, MATMUL and Fourier transforms.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/aten/pool.hpp>
#include <headrace/eval/element.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/product.hpp>
#include <headrace/eval/tosa/fixed_point.hpp>
#include <headrace/eval/volume.hpp>

namespace headrace::eval {

namespace {

/// Subtracts the zero point. Doubles hold products of INT16, and sums of 2^22 of them, exactly.
[[nodiscard]] inline std::vector<double> without_zero_point(const tensor& t, const tensor& zero_point) {
    std::vector<double> numbers = t.to<double>();
    if (is_floating(t.type()) || zero_point.size() == 0) return numbers;
    const double zero = zero_point.real(0);
    for (double& x : numbers) x -= zero;
    return numbers;
}
/// Permutes the axes and converts the elements.
template <std::size_t N>
[[nodiscard]] std::vector<double> reordered(
    const std::vector<double>& numbers, const extents& shape, const std::array<std::size_t, N>& order) {
    return permuted(tensor::of(dtype::float64, shape, numbers), order).template to<double>();
}

/// Returns the middle axes of a channels-last tensor.
[[nodiscard]] inline triple spatial_sizes(const extents& shape) {
    return triple_of(std::span(shape).subspan(1, shape.size() - 2), shape.size() - 2, 1);
}
/// Returns the paddings before each axis; TOSA's pads are pairs of before and after.
[[nodiscard]] inline triple pads_before(const int_list& pad, std::int64_t sign) {
    extents before;
    for (std::size_t i = 0; i + 1 < pad.size(); i += 2) before.push_back(sign * pad[i]);
    return triple_of(before, before.size(), 0);
}

/// Converts [N, spatial..., C] to [N, C, volume], and back.
[[nodiscard]] inline std::vector<double> channels_first(const std::vector<double>& x, const extents& shape) {
    const extents flat{shape.front(), volume_of(spatial_sizes(shape)), shape.back()};
    return reordered(x, flat, std::array<std::size_t, 3>{0, 2, 1});
}
[[nodiscard]] inline std::vector<double> channels_last(const std::vector<double>& x, const extents& shape) {
    const extents flat{shape.front(), shape.back(), volume_of(spatial_sizes(shape))};
    return reordered(x, flat, std::array<std::size_t, 3>{0, 2, 1});
}

inline void write_convolution(evaluation& e, const std::vector<double>& out) {
    e.output().assign(channels_last(out, e.output_shape()));
}
template <class Args>
[[nodiscard]] convolution_shape tosa_convolution(const evaluation& e, const Args& a) {
    const extents& in = e.input(a.input).shape();
    const extents out = e.output_shape();
    convolution_shape s;
    s.batch = in.front();
    s.channels = in.back();
    s.features = out.back();
    s.in = spatial_sizes(in);
    s.out = spatial_sizes(out);
    s.stride = triple_of(a.stride, a.stride.size(), 1);
    return s;
}
/// Weights [O, kernel..., I].
template <one_of<ops<tosa::conv2d, tosa::conv3d>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    convolution_shape s = tosa_convolution(e, a);
    const extents& weight = e.input(a.weight).shape();
    s.kernel = spatial_sizes(weight);
    s.before = pads_before(a.pad, 1);
    s.dilation = triple_of(a.dilation, a.dilation.size(), 1);
    const std::vector<double> in = without_zero_point(e.input(a.input), e.input(a.input_zp));
    const std::vector<double> filters = without_zero_point(e.input(a.weight), e.input(a.weight_zp));
    write_convolution(e,
        convolve(s, channels_first(in, e.input(a.input).shape()), channels_first(filters, weight),
            e.input(a.bias).template to<double>()));
}
/// Weights [KH, KW, C, M]: each channel has M features.
void evaluate(tosa::depthwise_conv2d, const args<tosa::depthwise_conv2d>& a, evaluation& e) {
    convolution_shape s = tosa_convolution(e, a);
    const extents& weight = e.input(a.weight).shape();
    s.groups = s.channels;
    s.kernel = {1, weight[0], weight[1]};
    s.before = pads_before(a.pad, 1);
    s.dilation = triple_of(a.dilation, a.dilation.size(), 1);
    const std::vector<double> in = without_zero_point(e.input(a.input), e.input(a.input_zp));
    const std::vector<double> filters = without_zero_point(e.input(a.weight), e.input(a.weight_zp));
    const std::array<std::size_t, 4> order{2, 3, 0, 1};
    write_convolution(e,
        convolve(s, channels_first(in, e.input(a.input).shape()), reordered(filters, weight, order),
            e.input(a.bias).to<double>()));
}
/// Weights [O, KH, KW, I]; the underlying convolution goes from the result to the input.
void evaluate(tosa::transpose_conv2d, const args<tosa::transpose_conv2d>& a, evaluation& e) {
    convolution_shape s = tosa_convolution(e, a);
    const extents& weight = e.input(a.weight).shape();
    std::swap(s.channels, s.features);
    std::swap(s.in, s.out);
    s.kernel = spatial_sizes(weight);
    s.before = pads_before(a.out_pad, -1);
    const std::vector<double> in = without_zero_point(e.input(a.input), e.input(a.input_zp));
    const std::vector<double> filters = without_zero_point(e.input(a.weight), e.input(a.weight_zp));
    const std::array<std::size_t, 4> order{3, 0, 1, 2};
    const std::vector<double> by_channel = channels_first(in, e.input(a.input).shape());
    write_convolution(e,
        convolve_transposed(s, by_channel, reordered(filters, weight, order), e.input(a.bias).to<double>()));
}
void evaluate(tosa::matmul, const args<tosa::matmul>& a, evaluation& e) {
    const std::vector<double> left = without_zero_point(e.input(a.a), e.input(a.a_zp));
    const std::vector<double> right = without_zero_point(e.input(a.b), e.input(a.b_zp));
    e.output().assign(matrix_product<double>(left, e.input(a.a).shape(), right, e.input(a.b).shape()));
}

// --- pooling ---------------------------------------------------------------------------

template <class Args>
[[nodiscard]] pool_ranges tosa_pool_ranges(const evaluation& e, const Args& a) {
    const triple in = spatial_sizes(e.input(a.input).shape());
    const triple out = spatial_sizes(e.output_shape());
    const triple kernel = triple_of(a.kernel, 2, 1);
    const triple stride = triple_of(a.stride, 2, 1);
    const triple before = pads_before(a.pad, 1);
    pool_ranges ranges;
    for (std::size_t d = 0; d != 3; ++d)
        ranges[d] = ranges_of({in[d], out[d], kernel[d], stride[d], before[d], 1, false});
    return ranges;
}
/// Integers are divided by a fixed-point reciprocal of the count.
void evaluate(tosa::avg_pool2d, const args<tosa::avg_pool2d>& a, evaluation& e) {
    const tensor& in = e.input(a.input);
    const std::vector<double> x = channels_first(without_zero_point(in, e.input(a.input_zp)), in.shape());
    std::vector<double> sums;
    std::vector<std::int64_t> counts;
    const auto begin = [&](std::int64_t count) {
        sums.push_back(0);
        counts.push_back(std::max<std::int64_t>(1, count));
    };
    pool(in.dim(0) * in.dim(3), spatial_sizes(in.shape()), tosa_pool_ranges(e, a), begin,
        [&](std::size_t i) { sums.back() += x[i]; });
    const bool integral = !is_floating(e.output_type());
    const std::int64_t zero_point = integral ? e.input(a.output_zp).integer(0) : 0;
    const integer_range range = range_of_type(e.output_type(), false);
    for (std::size_t i = 0; i != sums.size(); ++i) {
        const auto whole = element_cast<std::int64_t>(sums[i]);
        const std::int64_t mean = apply_scale(whole, reciprocal_scale(counts[i]), false) + zero_point;
        sums[i] = integral ? static_cast<double>(std::clamp(mean, range.lowest, range.highest))
                           : sums[i] / static_cast<double>(counts[i]);
    }
    e.output().assign(channels_last(sums, e.output_shape()));
}
/// Returns the maximum of a window that is all NaN.
[[nodiscard]] inline double lowest_number_of(dtype t) {
    return is_floating(t) ? -std::numeric_limits<double>::infinity()
                          : static_cast<double>(range_of_type(t, false).lowest);
}
void evaluate(tosa::max_pool2d, const args<tosa::max_pool2d>& a, evaluation& e) {
    const tensor& in = e.input(a.input);
    const std::vector<double> x = channels_first(in.to<double>(), in.shape());
    std::vector<double> best;
    const bool ignore = a.nan_mode == nan_mode::ignore;
    const auto element = [&](std::size_t i) {
        if (!(ignore && std::isnan(x[i]))) best.back() = larger()(best.back(), x[i]);
    };
    const auto begin = [&](std::int64_t) { best.push_back(lowest_number_of(in.type())); };
    pool(in.dim(0) * in.dim(3), spatial_sizes(in.shape()), tosa_pool_ranges(e, a), begin, element);
    e.output().assign(channels_last(best, e.output_shape()));
}

// --- Fourier transforms ----------------------------------------------------------------

struct complex_tensor {
    std::vector<double> real, imaginary;
};
/// Computes `count` results of the transform along one axis, directly from its definition.
[[nodiscard]] complex_tensor transform_axis(
    const complex_tensor& in, extents& shape, std::size_t axis, std::int64_t count, double sign) {
    const axis_view from(shape, static_cast<std::int64_t>(axis));
    shape[axis] = count;
    const axis_view to(shape, static_cast<std::int64_t>(axis));
    complex_tensor out{
        std::vector<double>(idx(elements_in(shape))), std::vector<double>(idx(elements_in(shape)))};
    for (std::int64_t f = 0; f != count; ++f) {
        for (std::int64_t t = 0; t != from.size; ++t) {
            const double turn = static_cast<double>(f * t % from.size) / static_cast<double>(from.size);
            const double angle = sign * 2 * std::numbers::pi * turn;
            const double c = std::cos(angle);
            const double s = std::sin(angle);
            from.for_each_line([&](std::int64_t o, std::int64_t k) {
                const double re = in.real[from.at(o, t, k)];
                const double im = in.imaginary[from.at(o, t, k)];
                out.real[to.at(o, f, k)] += re * c - im * s;
                out.imaginary[to.at(o, f, k)] += re * s + im * c;
            });
        }
    }
    return out;
}
inline void transform_planes(evaluation& e, complex_tensor in, extents shape, double sign) {
    in = transform_axis(in, shape, 2, e.output_shape()[2], sign);
    in = transform_axis(in, shape, 1, e.output_shape()[1], sign);
    e.output(0).assign(in.real);
    e.output(1).assign(in.imaginary);
}
void evaluate(tosa::fft2d, const args<tosa::fft2d>& a, evaluation& e) {
    const tensor& real = e.input(a.input_real);
    transform_planes(
        e, {real.to<double>(), e.input(a.input_imag).to<double>()}, real.shape(), a.inverse ? 1 : -1);
}
void evaluate(tosa::rfft2d, const args<tosa::rfft2d>& a, evaluation& e) {
    const tensor& real = e.input(a.input_real);
    transform_planes(e, {real.to<double>(), std::vector<double>(idx(real.size()), 0.0)}, real.shape(), -1);
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list tosa_tensor_kernels = kernels_of<tosa::dialect>(kernel);

}  // namespace headrace::eval
