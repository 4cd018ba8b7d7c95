// SPDX-License-Identifier: MIT
// Tests that the operands of windows are cropped after they are transposed.
#include <catch2/catch.hpp>

#include <headrace/passes/layout/moving_ops.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<crop_after_transpose>::sound);

struct crop {
    int_list image{1, 3, 8, 10}, start{0, 0, 0, 1}, size{1, 3, 7, 9};
    bool is_read_twice = false, is_for_windows = true;
};
npu_builder cropped(const crop& c) {
    return for_target(u55_npu, [=](program& p) {
        const auto shape = [&](const int_list& sizes) {
            return p.make<tosa::const_shape>({.values = sizes});
        };
        const value part = p.make<tosa::slice>(
            {.input1 = p.input(dtype::int8, c.image), .start = shape(c.start), .size = shape(c.size)});
        if (c.is_read_twice) p.output(part);
        const value v = p.make<tosa::transpose>({.input1 = part, .perms = {0, 2, 3, 1}});
        if (!c.is_for_windows) return p.make<tosa::reverse>({.input1 = v, .axis = 1});
        return p.make<tosa::max_pool2d>(
            {.input = v, .kernel = {1, 1}, .stride = {1, 1}, .pad = {0, 0, 0, 0}});
    });
}

}  // namespace

TEST_CASE("parts of images of any size") {
    for (unsigned seed = 0; seed != 6; ++seed) {
        random_numbers any(seed);
        const int_list image{any(1, 2), any(1, 4), any(6, 9), any(6, 9)};
        const std::int64_t top = any(0, 1), left = any(0, 1);
        INFO(seed);
        CHECK_THAT(cropped({.image = image,
                       .start = {0, 0, top, left},
                       .size = {image[0], image[1], image[2] - top, image[3] - left - any(0, 1)}}),
            computes_the_same<crop_after_transpose>().within(0));
    }
}

TEST_CASE("small parts, and what others read as well, stay") {
    for (const npu_builder& build : {cropped({.size = {1, 3, 4, 9}}), cropped({.is_read_twice = true}),
             cropped({.is_for_windows = false})}) {
        CHECK_THAT(build, is_left_alone_by<crop_after_transpose>());
    }
}

TEST_CASE("it is for targets whose windows read a part where it lies") {
    CHECK(runs_for<crop_after_transpose>(u55_npu));
    CHECK_FALSE(runs_for<crop_after_transpose>(integer_target));
}
