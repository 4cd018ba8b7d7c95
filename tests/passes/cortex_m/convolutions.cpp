// SPDX-License-Identifier: MIT
// Tests that convolutions and their RESCALEs become kernels that compute the same.
#include <catch2/catch.hpp>

#include <cmath>

#include <headrace/passes/cortex_m/convolutions.hpp>
#include <headrace/passes/cortex_m/moves.hpp>
#include <headrace/passes/fold/redundancies.hpp>

#include "../../support/kernel_runs.hpp"

using namespace headrace;
using kernel_test::dice;
using kernel_test::factors_around;
using kernel_test::narrowed;
using kernel_test::random_integers;

namespace {

constexpr auto doubled = rounding_mode::double_round;

// The properties of random convolutions.
struct convolution_kind {
    bool is_depthwise = false;
    std::int64_t batch = 1;
    std::int64_t max_dilation = 1;
    bool is_row = false;
    bool is_pointwise = false;
    bool has_one_factor = false;
    rounding_mode rounding = doubled;
};

// One axis: its size, and a window that ends where the padded image does, as TOSA demands.
struct axis {
    std::int64_t size, kernel, stride, dilation, before, after;
};
axis random_axis(dice& d, const convolution_kind& kind) {
    axis a{0, d.from(1, 4), d.from(1, 3), d.from(1, kind.max_dilation), 0, 0};
    if (kind.is_pointwise) a.kernel = a.stride = 1;
    const std::int64_t extent = (a.kernel - 1) * a.dilation + 1, most = kind.is_pointwise ? 0 : extent - 1;
    const std::int64_t positions = d.from(1, 5);
    a.before = d.from(0, most);
    a.after = d.once_in(2) ? a.before : d.from(0, most);
    a.size = (positions - 1) * a.stride + extent - a.before - a.after;
    if (a.size < 1) a = {1, 1, 1, 1, 0, 0};
    return a;
}
std::int64_t random_channels(dice& d) { return d.once_in(4) ? 1 : d.from(2, 9); }
// A factor with which sums of that many products of int8 fill int8.
double filling(std::int64_t taps) { return 1 / (80 * std::sqrt(static_cast<double>(taps))); }

value random_bias(program& p, dice& d, std::int64_t channels) {
    return random_integers(p, d, dtype::int32, {d.once_in(4) ? 1 : channels}, -5000, 5000);
}
std::int64_t random_zero(dice& d) { return d.once_in(4) ? 0 : d.from(-128, 127); }
value zero(program& p) { return kernel_test::number(p, dtype::int8, 0); }

value convolved(
    program& p, dice& d, value image, const axis& y, const axis& x, const convolution_kind& kind) {
    const std::int64_t in = meta_of(image)->shape[3], out = random_channels(d);
    const std::int64_t zero_point = random_zero(d);
    const int_list pad{y.before, y.after, x.before, x.after}, stride{y.stride, x.stride},
        dilation{y.dilation, x.dilation};
    if (kind.is_depthwise) {
        const std::int64_t multiplier = d.once_in(2) ? 1 : d.from(2, 3);
        return p.make<tosa::depthwise_conv2d>({.input = image,
            .weight = random_integers(p, d, dtype::int8, {y.kernel, x.kernel, in, multiplier}, -127, 127),
            .bias = random_bias(p, d, in * multiplier),
            .input_zp = kernel_test::number(p, dtype::int8, zero_point),
            .weight_zp = zero(p),
            .pad = pad,
            .stride = stride,
            .dilation = dilation,
            .acc_type = dtype::int32});
    }
    return p.make<tosa::conv2d>({.input = image,
        .weight = random_integers(p, d, dtype::int8, {out, y.kernel, x.kernel, in}, -127, 127),
        .bias = random_bias(p, d, out),
        .input_zp = kernel_test::number(p, dtype::int8, zero_point),
        .weight_zp = zero(p),
        .pad = pad,
        .stride = stride,
        .dilation = dilation,
        .acc_type = dtype::int32});
}
value narrowed_randomly(program& p, dice& d, value sum, std::int64_t taps, const convolution_kind& kind) {
    const std::int64_t channels = meta_of(sum)->shape[3];
    const bool is_single = kind.has_one_factor || d.once_in(3);
    return narrowed(p, sum,
        {factors_around(d, filling(taps), is_single ? 1 : channels), d.from(-128, 127), kind.rounding});
}
kernel_test::random_program convolution(const convolution_kind& kind) {
    return [=](program& p, dice& d) {
        axis y = random_axis(d, kind);
        const axis x = random_axis(d, kind);
        if (kind.is_row) {
            y = {1, 1, d.from(1, 2), 1, 0, 0};
            if (d.once_in(3)) y.before = y.after = y.stride;  // rows of padding above and below
        }
        const std::int64_t in = random_channels(d);
        const value image = p.input(dtype::int8, {kind.batch, y.size, x.size, in});
        const value sum = convolved(p, d, image, y, x, kind);
        return narrowed_randomly(p, d, sum, y.kernel * x.kernel * (kind.is_depthwise ? 1 : in), kind);
    };
}
std::pmr::string becomes(const convolution_kind& kind, std::int64_t difference = 0) {
    return becomes_kernels<select_convolutions>(convolution(kind), {.difference = difference});
}

// A crop after which the last window ends where the image does, as a lowering from PyTorch makes it.
value cropped_convolution(program& p, dice& d) {
    const convolution_kind kind{.max_dilation = 2};
    axis axes[] = {random_axis(d, kind), random_axis(d, kind)};
    shape_builder sizes{d.from(1, 2), 0, 0, random_channels(d)}, inner(sizes), start{0, 0, 0, 0};
    for (std::size_t i = 0; i != 2; ++i) {
        axis& a = axes[i];
        a.size += a.after;
        a.after = 0;
        inner[1 + i] = a.size;
        sizes[1 + i] = a.size + d.from(0, 4);
        if (d.once_in(4) && sizes[1 + i] > a.size) start[1 + i] = 1;
    }
    const value image = p.input(dtype::int8, int_list(sizes));
    const value crop = p.make<tosa::slice>(
        {image, kernel_test::shape_of(p, int_list(start)), kernel_test::shape_of(p, int_list(inner))});
    const value sum = convolved(p, d, crop, axes[0], axes[1], kind);
    return narrowed_randomly(p, d, sum, axes[0].kernel * axes[1].kernel * sizes[3], kind);
}

kernel_test::random_program transposed(std::int64_t fewest_channels, std::int64_t max_stride) {
    return [=](program& p, dice& d) {
        const std::int64_t in = d.from(fewest_channels, fewest_channels + 4), out = random_channels(d);
        const value image = p.input(dtype::int8, {d.from(1, 2), d.from(1, 4), d.from(1, 4), in});
        const int_list stride{d.from(1, max_stride), d.from(1, max_stride)};
        const int_list weight{out, d.from(stride[0], 4), d.from(1, 4), in};
        shape_builder pad;
        for (std::size_t i = 0; i != 4; ++i) pad.push_back(-d.from(0, weight[1 + i / 2] / 2));
        for (std::size_t i = 0; i != 2; ++i) {
            const std::int64_t whole = (meta_of(image)->shape[1 + i] - 1) * stride[i] + weight[1 + i];
            if (whole + pad[2 * i] + pad[2 * i + 1] < 1) pad[2 * i] = pad[2 * i + 1] = 0;
        }
        const value sum = p.make<tosa::transpose_conv2d>({.input = image,
            .weight = random_integers(p, d, dtype::int8, weight, -127, 127),
            .bias = random_bias(p, d, out),
            .input_zp = kernel_test::number(p, dtype::int8, random_zero(d)),
            .weight_zp = zero(p),
            .out_pad = int_list(pad),
            .stride = stride,
            .acc_type = dtype::int32});
        return narrowed_randomly(p, d, sum, in * 4, {});
    };
}

}  // namespace

TEST_CASE("convolutions of any size, stride, padding and dilation") {
    CHECK(becomes({}) == "");
    CHECK(becomes({.batch = 3}) == "");
    CHECK(becomes({.max_dilation = 3}) == "");
    CHECK(becomes({.rounding = rounding_mode::single_round}, 1) == "");
}

TEST_CASE("depthwise convolutions, with channel multipliers and batches") {
    CHECK(becomes({.is_depthwise = true}) == "");
    CHECK(becomes({.is_depthwise = true, .batch = 2}) == "");
    CHECK(becomes({.is_depthwise = true, .max_dilation = 3}) == "");
    CHECK(becomes({.is_depthwise = true, .rounding = rounding_mode::single_round}, 1) == "");
}

TEST_CASE("rows, whose windows move along them, are turned") {
    CHECK(becomes({.is_row = true}) == "");
    CHECK(becomes({.batch = 2, .max_dilation = 2, .is_row = true}) == "");
    CHECK(becomes({.is_depthwise = true, .is_row = true}) == "");
}

TEST_CASE("pointwise convolutions with one factor are products of matrices") {
    CHECK(becomes({.is_pointwise = true}) == "");
    CHECK(becomes({.batch = 2, .is_pointwise = true, .has_one_factor = true}) == "");
}

TEST_CASE("crops that only make windows fit are undone") {
    CHECK(becomes_kernels<select_convolutions, select_moves>(cropped_convolution) == "");
}

TEST_CASE("transposed convolutions of any stride and padding") {
    CHECK(becomes_kernels<select_convolutions>(transposed(1, 3)) == "");
    CHECK(becomes_kernels<select_convolutions>(transposed(17, 2)) == "");
    CHECK(becomes_kernels<select_convolutions>(transposed(17, 3)) == "");
}
