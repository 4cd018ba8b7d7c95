// SPDX-License-Identifier: MIT
// Tests that convolutions and poolings are given windows that Ethos-U55 supports, with the same results.
#include <array>

#include <catch2/catch.hpp>

#include <headrace/passes/u55/expand_moves.hpp>
#include <headrace/passes/u55/expand_windows.hpp>

#include "../../support/u55_test.hpp"

using namespace headrace;

namespace {

/// The common part of convolutions; the zero points are not 0, so that padding counts.
template <op_tag Op>
args<Op> convolution(
    program& p, int_list input, int_list weight, std::int64_t channels, dtype type = dtype::int8) {
    const bool is_long = type == dtype::int16;
    const dtype sums = is_long ? dtype::int48 : dtype::int32;
    std::vector<std::int64_t> bias;
    for (std::int64_t c = 0; c != channels; ++c) bias.push_back(100 - 37 * c);
    args<Op> a{};
    a.input = p.input(type, input);
    a.weight = constant_codes(p, weight_codes(1), weight);
    a.bias = create_constant(p.g, {sums, {channels}, {}}, nullptr, [&](std::span<std::byte> data) {
        const std::size_t width = data.size() / bias.size();
        for (std::size_t i = 0; i != bias.size(); ++i) std::memcpy(&data[i * width], &bias[i], width);
    });
    a.input_zp = integer_constant(p, type, {1}, {is_long ? 0 : 5});
    a.weight_zp = integer_constant(p, dtype::int8, {1}, {is_long ? 0 : 3});
    a.acc_type = sums;
    return a;
}
template <op_tag Op>
auto convolved(int_list input, int_list weight, int_list pad, int_list stride, int_list dilation) {
    return [=](program& p) {
        constexpr bool depthwise = std::is_same_v<Op, tosa::depthwise_conv2d>;
        args<Op> a = convolution<Op>(p, input, weight, depthwise ? weight[2] * weight[3] : weight[0]);
        a.pad = pad;
        a.stride = stride;
        a.dilation = dilation;
        return p.make<Op>(a);
    };
}
auto transposed(int_list input, int_list weight, int_list out_pad, int_list stride) {
    return [=](program& p) {
        auto a = convolution<tosa::transpose_conv2d>(p, input, weight, weight[0]);
        a.out_pad = out_pad;
        a.stride = stride;
        return p.make<tosa::transpose_conv2d>(a);
    };
}
auto averaged(int_list input, int_list kernel, int_list stride, int_list pad) {
    return [=](program& p) {
        return p.make<tosa::avg_pool2d>({.input = p.input(dtype::int8, input),
            .input_zp = integer_constant(p, dtype::int8, {1}, {4}),
            .output_zp = integer_constant(p, dtype::int8, {1}, {-3}),
            .kernel = kernel,
            .stride = stride,
            .pad = pad,
            .acc_type = dtype::int32});
    };
}
auto largest(dtype type, int_list input, int_list kernel, int_list stride, int_list pad) {
    return [=](program& p) {
        return p.make<tosa::max_pool2d>(
            {.input = p.input(type, input), .kernel = kernel, .stride = stride, .pad = pad});
    };
}
value rescaled(program& p, value sums) {
    return p.make<tosa::rescale>({.input = sums,
        .multiplier = integer_constant(p, dtype::int16, {1}, {1 << 14}),
        .shift = integer_constant(p, dtype::int8, {1}, {24}),
        .input_zp = integer_constant(p, dtype::int48, {1}, {0}),
        .output_zp = integer_constant(p, dtype::int16, {1}, {0}),
        .scale32 = false});
}
std::pmr::string windowed(const result_builder& build) { return expanded<expand_windows>(build); }
template <op_tag Op>
std::size_t count(const result_builder& build) {
    return count_after<Op, expand_windows>(for_u55_target(build));
}

}  // namespace

TEST_CASE("the depth of a window is stacked onto the channels") {
    const int_list input{2, 5, 6, 7, 2};
    const int_list weight{3, 2, 3, 3, 2};
    CHECK(windowed(convolved<tosa::conv3d>(input, weight, {0, 0, 0, 0, 0, 0}, {1, 1, 1}, {1, 1, 1})) == "");
    CHECK(windowed(convolved<tosa::conv3d>(input, weight, {1, 2, 1, 0, 1, 1}, {2, 2, 2}, {1, 1, 1})) == "");
    CHECK(windowed(convolved<tosa::conv3d>(input, weight, {1, 1, 2, 1, 1, 1}, {1, 1, 1}, {3, 2, 1})) == "");
    const auto flat =
        convolved<tosa::conv3d>(input, {3, 1, 3, 3, 2}, {0, 0, 0, 0, 0, 0}, {1, 1, 1}, {1, 1, 1});
    CHECK(count<tosa::conv3d>(flat) == 1);
}

TEST_CASE("a stride above 3 takes padding and dilation apart") {
    const int_list input{1, 17, 14, 3};
    CHECK(windowed(convolved<tosa::conv2d>(input, {4, 5, 4, 3}, {2, 2, 1, 1}, {4, 4}, {1, 1})) == "");
    CHECK(windowed(convolved<tosa::conv2d>(input, {4, 3, 2, 3}, {0, 0, 0, 0}, {4, 1}, {2, 3})) == "");
    CHECK(windowed(convolved<tosa::conv2d>(input, {4, 3, 2, 3}, {2, 0, 1, 0}, {1, 6}, {2, 2})) == "");
    CHECK(
        count<tosa::conv2d>(convolved<tosa::conv2d>(input, {4, 5, 4, 3}, {0, 0, 1, 1}, {1, 3}, {1, 1})) == 1);
}

TEST_CASE("depthwise convolutions of long strides drop results") {
    const int_list input{2, 17, 19, 3};
    for (const std::int64_t stride : {4, 6, 7, 9}) {
        CAPTURE(stride);
        const std::int64_t rest = (17 - 3) % stride;
        const std::int64_t more = (stride - rest) % stride;
        const int_list pad{more, 0, 0, (stride - (19 - 2) % stride) % stride};
        CHECK(windowed(convolved<tosa::depthwise_conv2d>(
                  input, {3, 2, 3, 2}, pad, {stride, stride}, {1, 1})) == "");
    }
    CHECK(
        windowed(convolved<tosa::depthwise_conv2d>(input, {3, 2, 3, 1}, {0, 0, 1, 0}, {4, 1}, {4, 2})) == "");
}

TEST_CASE("a kernel that is too large is cut up, and the parts are added") {
    CHECK(
        windowed(convolved<tosa::conv2d>({1, 90, 8, 2}, {2, 70, 3, 2}, {0, 0, 0, 0}, {1, 1}, {1, 1})) == "");
    CHECK(windowed(convolved<tosa::conv2d>({1, 70, 80, 1}, {1, 64, 66, 1}, {3, 1, 1, 0}, {2, 1}, {1, 1})) ==
        "");
    CHECK(windowed(convolved<tosa::depthwise_conv2d>(
              {1, 90, 8, 2}, {66, 3, 2, 1}, {0, 0, 1, 1}, {1, 1}, {1, 1})) == "");
}

TEST_CASE("a transposed convolution of any stride") {
    for (const std::int64_t y : {1, 2, 3, 4}) {
        for (const std::int64_t x : {1, 2, 3}) {
            if (y == x && y < 3) continue;
            CAPTURE(y, x);
            CHECK(windowed(transposed({1, 4, 5, 3}, {2, 3, 4, 3}, {0, 0, 0, 0}, {y, x})) == "");
            CHECK(windowed(transposed({2, 4, 5, 3}, {2, 5, 3, 3}, {-1, 1, 2, -2}, {y, x})) == "");
        }
    }
    CHECK(count<tosa::transpose_conv2d>(transposed({1, 4, 5, 3}, {2, 3, 4, 3}, {0, 0, 0, 0}, {2, 2})) == 1);
}

TEST_CASE("INT16 is accumulated in 48 bits") {
    const auto long_stride = [](program& p) {
        auto a = convolution<tosa::conv2d>(p, {1, 9, 10, 2}, {3, 3, 4, 2}, 3, dtype::int16);
        a.pad = {1, 1, 1, 1};
        a.stride = {4, 4};
        a.dilation = {1, 1};
        return rescaled(p, p.make<tosa::conv2d>(a));
    };
    CHECK(windowed(long_stride) == "");
    const auto deep = [](program& p) {
        auto a = convolution<tosa::conv3d>(p, {1, 4, 6, 5, 2}, {3, 2, 3, 3, 2}, 3, dtype::int16);
        a.pad = {0, 0, 1, 1, 1, 1};
        a.stride = {1, 1, 1};
        a.dilation = {1, 1, 1};
        return rescaled(p, p.make<tosa::conv3d>(a));
    };
    CHECK(expanded<expand_windows, rescale_before_moving>(deep) == "");
    const auto tripled = [](program& p) {
        auto a = convolution<tosa::transpose_conv2d>(p, {1, 4, 5, 2}, {3, 4, 3, 2}, 3, dtype::int16);
        a.out_pad = {0, -1, 0, 0};
        a.stride = {3, 3};
        return rescaled(p, p.make<tosa::transpose_conv2d>(a));
    };
    CHECK(expanded<expand_windows, rescale_before_moving>(tripled) == "");
}

TEST_CASE("averages of padded windows are taken apart at the rims") {
    CHECK(windowed(averaged({2, 20, 21, 3}, {9, 9}, {1, 1}, {4, 4, 4, 4})) == "");
    CHECK(windowed(averaged({1, 20, 21, 2}, {10, 3}, {2, 2}, {5, 3, 1, 1})) == "");
    CHECK(windowed(averaged({1, 21, 20, 2}, {4, 5}, {4, 5}, {2, 1, 0, 0})) == "");
    const auto rims_only = for_u55_target(averaged({1, 10, 10, 2}, {10, 10}, {1, 1}, {9, 9, 9, 9}));
    CHECK_THAT(rims_only, is_refused_by<expand_windows>("would take more than 256"));
}

TEST_CASE("the padding of a pooling of long stride is a PAD that is never the largest") {
    for (const dtype type : {dtype::int8, dtype::int16})
        CHECK(windowed(largest(type, {2, 10, 11, 3}, {4, 5}, {4, 4}, {1, 1, 1, 1})) == "");
}

TEST_CASE("windows that Ethos-U55 has stay") {
    CHECK(windowed(averaged({1, 20, 20, 2}, {3, 3}, {1, 1}, {1, 1, 1, 1})) == "Ethos-U55 has all of it");
    CHECK(windowed(largest(dtype::int8, {1, 9, 9, 2}, {3, 3}, {2, 2}, {1, 1, 1, 1})) ==
        "Ethos-U55 has all of it");
}
