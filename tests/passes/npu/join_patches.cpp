// SPDX-License-Identifier: MIT
// Tests that convolutions of patches become linear, bit for bit.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/strided_convolutions.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<join_patches>::sound);

bool all_strides_are_one(const npu_builder& build) {
    program p;
    const graph& g = lowered<join_patches>(p, build);
    for (const node& n : g.nodes_of(info_of<tosa::conv2d>)) {
        if (args_of<tosa::conv2d>(n).stride != int_list{1, 1}) return false;
    }
    return count_of<tosa::conv2d>(g) == 1;
}

}  // namespace

TEST_CASE("patches of any size") {
    for (unsigned seed = 0; seed != 8; ++seed) {
        random_numbers any(seed);
        const std::int64_t height = any(1, 6), width = any(4, 7), channels = any(1, 5);
        convolution_of c{.image = {any(1, 2), height * any(1, 3), width * any(1, 4), channels},
            .weight = {any(1, 4), height, width, channels},
            .stride = {height, width},
            .input_zero = any(-128, 127),
            .weight_zero = any(-9, 9)};
        INFO(seed);
        const npu_builder build = convolution_for(seed % 2 == 0 ? u55_npu : u85_npu, c);
        CHECK(all_strides_are_one(build));
        CHECK_THAT(build, computes_the_same<join_patches>().within(0));
    }
}

TEST_CASE("short strides, padding, dilation and windows that overlap or leave gaps stay") {
    const convolution_of patches{.image = {1, 12, 12, 3}, .weight = {2, 4, 4, 3}, .stride = {4, 4}};
    REQUIRE(all_strides_are_one(convolution_for(u85_npu, patches)));
    const auto stays = [](const convolution_of& c) {
        CHECK_THAT(convolution_for(u85_npu, c), is_left_alone_by<join_patches>());
    };
    stays({.image = {1, 12, 12, 3}, .weight = {2, 3, 3, 3}, .stride = {3, 3}});
    stays({.image = {1, 8, 12, 3}, .weight = {2, 4, 4, 3}, .pad = {2, 2, 0, 0}, .stride = {4, 4}});
    stays({.image = {1, 13, 13, 3}, .weight = {2, 5, 5, 3}, .stride = {4, 4}});
    stays({.image = {1, 11, 11, 3}, .weight = {2, 3, 3, 3}, .stride = {4, 4}});
    stays({.image = {1, 7, 7, 3}, .weight = {2, 4, 4, 3}, .stride = {4, 4}, .dilation = {2, 2}});
}

TEST_CASE("it is for targets with a longest stride") {
    CHECK(runs_for<join_patches>(u55_npu));
    CHECK_FALSE(runs_for<join_patches>(integer_target));
}
