// SPDX-License-Identifier: MIT
// Tests that convolutions with few channels read columns in pairs, bit for bit.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/strided_convolutions.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<pair_columns>::sound);

bool reads_pairs(const npu_builder& build) {
    program p;
    const graph& g = lowered<pair_columns>(p, build);
    for (const node& n : g.nodes_of(info_of<tosa::conv2d>)) {
        if (args_of<tosa::conv2d>(n).stride[1] != 1) return false;
    }
    return true;
}
/// With enough padding after the image for the last window to end there.
convolution_of stem(random_numbers& any) {
    const std::int64_t kernel = any(3, 7), before = any(0, kernel - 1), channels = any(1, 4);
    const std::int64_t width = 2 * any(4, 8);
    std::int64_t after = any(0, kernel - 1);
    if ((width + before + after - kernel) % 2 != 0) after += after == 0 ? 1 : -1;
    return {.image = {any(1, 2), 9, width, channels},
        .weight = {any(1, 4), 3, kernel, channels},
        .pad = {any(0, 2), 0, before, after},
        .stride = {1, 2},
        .input_zero = any(-128, 127),
        .weight_zero = any(-9, 9)};
}

}  // namespace

TEST_CASE("first layers of any window and padding") {
    for (unsigned seed = 0; seed != 12; ++seed) {
        random_numbers any(seed);
        const npu_builder build = convolution_for(u55_npu, stem(any));
        INFO(seed);
        CHECK(reads_pairs(build));
        CHECK_THAT(build, computes_the_same<pair_columns>().within(0));
    }
}

TEST_CASE("more channels, odd widths, other strides, dilation and windows of one column stay") {
    const auto stays = [](const convolution_of& c) {
        CHECK_THAT(convolution_for(u55_npu, c), is_left_alone_by<pair_columns>());
    };
    stays({.image = {1, 5, 9, 5}, .weight = {2, 3, 3, 5}, .stride = {2, 2}});
    stays({.image = {1, 5, 9, 3}, .weight = {2, 3, 3, 3}, .stride = {2, 2}});
    stays({.image = {1, 5, 8, 3}, .weight = {2, 3, 3, 3}});
    stays({.image = {1, 5, 8, 3}, .weight = {2, 3, 2, 3}, .stride = {2, 2}, .dilation = {1, 3}});
    stays({.image = {1, 5, 8, 3}, .weight = {2, 3, 1, 3}, .pad = {0, 0, 1, 0}, .stride = {2, 2}});
}

TEST_CASE("windows whose pairs are no fewer stay") {
    CHECK_THAT(convolution_for(u55_npu,
                   {.image = {1, 5, 8, 3}, .weight = {2, 3, 2, 3}, .pad = {0, 0, 1, 1}, .stride = {2, 2}}),
        is_left_alone_by<pair_columns>());
}

TEST_CASE("where bursts are long, large windows of computed images alone read pairs") {
    const auto of_image = [](std::int64_t window, bool is_given) {
        return for_target(u85_npu, [=](program& p) {
            value image = p.input(dtype::int8, {1, 8, 8, 3});
            if (!is_given) image = p.make<tosa::clamp>({.input = image, .min_val = -90, .max_val = 90});
            return convolved_by(p, image,
                {.image = {1, 8, 8, 3},
                    .weight = {2, window, window, 3},
                    .pad = {window / 2, window / 2 - 1, window / 2, window / 2 - 1},
                    .stride = {2, 2}});
        });
    };
    CHECK_THAT(of_image(7, false), computes_the_same<pair_columns>().within(0));
    CHECK_THAT(of_image(7, true), is_left_alone_by<pair_columns>());
    CHECK_THAT(of_image(3, false), is_left_alone_by<pair_columns>());
}

TEST_CASE("it is for targets that pair columns") {
    CHECK(runs_for<pair_columns>(u55_npu));
    CHECK(runs_for<pair_columns>(u85_npu));
    CHECK_FALSE(runs_for<pair_columns>(integer_target));
}
