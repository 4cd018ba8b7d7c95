// SPDX-License-Identifier: MIT
// Tests that long strides of convolutions become channels, bit for bit.
#include <catch2/catch.hpp>

#include <algorithm>

#include <headrace/passes/npu/strides_to_channels.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<strides_to_channels>::sound);

/// Returns the longest stride after the pass.
std::int64_t stride_after(const npu_builder& build) {
    program p;
    const graph& g = lowered<strides_to_channels>(p, build);
    std::int64_t longest = 0;
    for (const node& n : g.nodes_of(info_of<tosa::conv2d>)) {
        const auto& a = args_of<tosa::conv2d>(n);
        longest = std::max({longest, a.stride[0], a.stride[1]});
    }
    return longest;
}
/// A convolution with strides of up to 12, at least one of them long, whose last window ends with the padding.
convolution_of skipping(random_numbers& any) {
    const std::int64_t strides[] = {any(1, 12), any(4, 12)};
    const std::int64_t kernel[] = {any(1, 9), any(1, 9)};
    const std::int64_t dilation[] = {any(1, 2), any(1, 2)};
    std::int64_t pad[4], image[2];
    for (std::size_t i = 0; i != 2; ++i) {
        const std::int64_t read = (any(3, 6) - 1) * strides[i] + (kernel[i] - 1) * dilation[i] + 1;
        pad[2 * i] = any(0, std::min<std::int64_t>(9, (read - 1) / 2));
        pad[2 * i + 1] = any(0, std::min<std::int64_t>(9, (read - 1) / 2));
        image[i] = read - pad[2 * i] - pad[2 * i + 1];
    }
    const std::int64_t channels = any(1, 5);
    return {.image = {any(1, 2), image[0], image[1], channels},
        .weight = {any(1, 4), kernel[0], kernel[1], channels},
        .pad = int_list(sizes(pad)),
        .stride = int_list(sizes(strides)),
        .dilation = int_list(sizes(dilation)),
        .input_zero = any(-128, 127),
        .weight_zero = any(-9, 9)};
}

}  // namespace

TEST_CASE("windows of any size, stride, padding and dilation") {
    std::size_t rewritten = 0;
    for (unsigned seed = 0; seed != 60; ++seed) {
        random_numbers any(seed);
        const convolution_of c = skipping(any);
        INFO(seed);
        const npu_builder build = convolution_for(seed % 2 == 0 ? u55_npu : u85_npu, c);
        if (stride_after(build) > 3) continue;  // few pixels, in blocks of which almost no tap is read
        ++rewritten;
        CHECK_THAT(build, computes_the_same<strides_to_channels>().within(0));
    }
    CHECK(rewritten > 40);
}

TEST_CASE("pitch tracking, speech and the first layer of a pyramid") {
    const convolution_of cases[] = {
        {.image = {1, 1, 96, 1}, .weight = {4, 1, 64, 1}, .pad = {0, 0, 30, 30}, .stride = {1, 4}},
        {.image = {1, 1, 640, 1}, .weight = {4, 1, 250, 1}, .pad = {0, 0, 45, 45}, .stride = {1, 160}},
        {.image = {1, 32, 32, 3}, .weight = {4, 7, 7, 3}, .pad = {3, 0, 3, 0}, .stride = {4, 4}}};
    for (const convolution_of& c : cases) {
        for (const target_spec& target : {u55_npu, u85_npu}) {
            const npu_builder build = convolution_for(target, c);
            CHECK(stride_after(build) <= 2);
            CHECK_THAT(build, computes_the_same<strides_to_channels>().within(0));
        }
    }
}

TEST_CASE("patches are linear") {
    // A stride of 7 has no other blocks than whole ones.
    const convolution_of patches{.image = {2, 28, 28, 3}, .weight = {5, 7, 7, 3}, .stride = {7, 7}};
    program p;
    const graph& g = lowered<strides_to_channels>(p, convolution_for(u85_npu, patches));
    const auto convolutions = g.nodes_of(info_of<tosa::conv2d>);
    const auto is_linear = [](const node& n) {
        return meta_of(args_of<tosa::conv2d>(n).input)->shape == int_list{1, 1, 32, 147};
    };
    CHECK(std::ranges::count_if(convolutions, is_linear) == 1);
    CHECK(count_of<tosa::transpose>(g) == 0);
}

TEST_CASE("a computed weight stays in order, or the convolution stays") {
    const auto of_computed = [](const int_list& image) {
        return for_target(u85_npu, [=](program& p) {
            const value weight = p.make<tosa::clamp>(
                {.input = p.input(dtype::int8, {4, 4, 4, 3}), .min_val = -9, .max_val = 9});
            args<tosa::conv2d> a = *match<tosa::conv2d>(
                convolved_by(p, p.input(dtype::int8, image), {image, {4, 4, 4, 3}, {0, 0, 0, 0}, {4, 4}}));
            a.weight = weight;
            return p.make<tosa::conv2d>(a);
        });
    };
    CHECK_THAT(of_computed({1, 16, 16, 3}), computes_the_same<strides_to_channels>().within(0));
}

TEST_CASE("short strides and single pixels stay") {
    const auto stays = [](const convolution_of& c) {
        CHECK_THAT(convolution_for(u85_npu, c), is_left_alone_by<strides_to_channels>());
    };
    stays({.image = {1, 12, 12, 3}, .weight = {2, 3, 3, 3}, .stride = {3, 3}});
    stays({.image = {1, 801, 801, 8}, .weight = {2, 1, 1, 8}, .stride = {800, 800}});
}

TEST_CASE("a stride that skips nothing is short") {
    const npu_builder build =
        convolution_for(u55_npu, {.image = {1, 5, 8, 3}, .weight = {2, 5, 3, 3}, .stride = {9, 5}});
    CHECK(stride_after(build) <= 3);
    CHECK_THAT(build, computes_the_same<strides_to_channels>().within(0));
}

TEST_CASE("it is for targets with a longest stride") {
    CHECK(runs_for<strides_to_channels>(u55_npu));
    CHECK_FALSE(runs_for<strides_to_channels>(integer_target));
}
