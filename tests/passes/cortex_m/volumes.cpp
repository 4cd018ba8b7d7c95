// SPDX-License-Identifier: MIT
// Tests that CONV3D becomes one convolution of images, with the same results.
#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/convolutions.hpp>
#include <headrace/passes/cortex_m/volumes.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

constexpr target_spec cortex_m4 = *parse_target("TOSA-1.0+INT+core+dsp");

struct convolution {
    int_list volume{1, 5, 6, 4, 2}, weight{3, 3, 2, 2, 2};
    int_list pad{0, 0, 0, 0, 0, 0}, stride{1, 1, 1}, dilation{1, 1, 1};
    dtype type = dtype::int8;
    rescaling_of scale{
        .multipliers = {1 << 30, 1234567890, 1876543210}, .shift = 41, .output_zero = 9, .to = dtype::int8};
};
npu_builder convolved(const convolution& c) {
    return for_target(cortex_m4, [=](program& p) {
        const bool is_int8 = c.type == dtype::int8;
        const dtype sums = is_int8 ? dtype::int32 : dtype::int48;
        const value sum = p.make<tosa::conv3d>({.input = p.input(c.type, c.volume),
            .weight = constant_codes(p, weight_codes(1), c.weight),
            .bias = is_int8 ? integer_constant(p, sums, {3}, {100, -37, 5}) : p.input(sums, {3}),
            .input_zp = integer_constant(p, c.type, {1}, {is_int8 ? 5 : 0}),
            .weight_zp = integer_constant(p, dtype::int8, {1}, {0}),
            .pad = c.pad,
            .stride = c.stride,
            .dilation = c.dilation,
            .acc_type = sums});
        return is_int8 ? rescaled_by(p, sum, c.scale) : sum;
    });
}

}  // namespace

TEST_CASE("volumes of any size") {
    for (unsigned seed = 0; seed != 40; ++seed) {
        random_numbers any(seed);
        const std::int64_t channels = any(1, 3);
        shape_builder volume{any(1, 2), 0, 0, 0, channels}, weight{3, 0, 0, 0, channels};
        shape_builder pad, stride, dilation;
        for (std::size_t i = 0; i != 3; ++i) {  // windows that fit exactly
            weight[1 + i] = any(1, 3);
            stride.push_back(any(1, 3));
            dilation.push_back(any(1, 2));
            pad.push_back(any(0, 1));
            pad.push_back(any(0, 1));
            const std::int64_t extent = (weight[1 + i] - 1) * dilation[i] + 1;
            volume[1 + i] = extent + stride[i] * any(1, 3) - pad[2 * i] - pad[2 * i + 1];
            if (volume[1 + i] < 1) volume[1 + i] += 2 * stride[i];
        }
        const convolution c{
            int_list(volume), int_list(weight), int_list(pad), int_list(stride), int_list(dilation)};
        INFO(seed);
        CHECK_THAT(convolved(c), computes_the_same<convolve_volumes>().within(0));
        CHECK(count_after<tosa::conv2d, convolve_volumes>(convolved(c)) == 1);
    }
}

TEST_CASE("one kernel") {
    convolution c;
    c.scale.multipliers = {1 << 30, 1 << 30, 1 << 30};
    CHECK(count_after<cortex_m::quantized_conv2d_nhwc, convolve_volumes, select_convolutions>(convolved(c)) ==
        1);
    CHECK(count_after<aten::slice_tensor, convolve_volumes, select_convolutions>(convolved(c)) == 3);
}

TEST_CASE("a whole depth is not sliced") {
    const convolution c{.weight = {3, 1, 2, 2, 2}};
    CHECK_THAT(convolved(c), computes_the_same<convolve_volumes>().within(0));
    CHECK(count_after<aten::slice_tensor, convolve_volumes>(convolved(c)) == 0);
    CHECK(count_after<aten::cat, convolve_volumes>(convolved(c)) == 0);
}

TEST_CASE("other types, and sums that stay sums, are left") {
    CHECK_THAT(convolved({.type = dtype::int16}), is_left_alone_by<convolve_volumes>());
    const convolution sum{.scale = {.multipliers = {1 << 30, 1 << 30, 1 << 30}, .shift = 33}};
    CHECK_THAT(convolved(sum), is_left_alone_by<convolve_volumes>());
}
