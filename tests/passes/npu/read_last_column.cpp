// SPDX-License-Identifier: MIT
// Tests that convolutions read the last column that their strides skip, bit for bit.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/strided_convolutions.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<read_last_column>::sound);

/// A convolution of a part of an image.
npu_builder of_part(int_list whole, int_list start, const convolution_of& c) {
    return for_target(u85_npu, [=](program& p) {
        const value part = p.make<tosa::slice>({.input1 = p.input(dtype::int8, whole),
            .start = p.make<tosa::const_shape>({.values = start}),
            .size = p.make<tosa::const_shape>({.values = c.image})});
        return convolved_by(p, part, c);
    });
}

}  // namespace

TEST_CASE("shortcuts of any size") {
    for (unsigned seed = 0; seed != 6; ++seed) {
        random_numbers any(seed);
        const std::int64_t height = 2 * any(1, 5), width = 2 * any(1, 5), channels = any(1, 6);
        const std::int64_t rows = seed % 2 == 0 ? height - 1 : height;
        const convolution_of c{.image = {any(1, 2), rows, width - 1, channels},
            .weight = {any(1, 5), 1, 1, channels},
            .stride = {seed % 2 == 0 ? 2 : 1, 2},
            .input_zero = any(-128, 127),
            .weight_zero = any(-9, 9)};
        const npu_builder build = of_part({c.image[0], height, width, channels}, {0, 0, 0, 0}, c);
        INFO(seed);
        CHECK_THAT(build, computes_the_same<read_last_column>().within(0));
        CHECK(count_after<tosa::slice, read_last_column>(build) == (seed % 2 == 0 ? 1 : 0));
    }
}

TEST_CASE("other parts, windows, strides and padding stay") {
    const auto stays = [](int_list whole, int_list start, const convolution_of& c) {
        CHECK_THAT(of_part(whole, start, c), is_left_alone_by<read_last_column>());
    };
    const int_list none{0, 0, 0, 0};
    stays({1, 4, 4, 2}, {0, 0, 1, 0}, {.image = {1, 3, 3, 2}, .weight = {3, 1, 1, 2}, .stride = {2, 2}});
    stays({1, 4, 5, 2}, none, {.image = {1, 3, 3, 2}, .weight = {3, 1, 1, 2}, .stride = {2, 2}});
    stays({1, 4, 4, 3}, none, {.image = {1, 3, 3, 2}, .weight = {3, 1, 1, 2}, .stride = {2, 2}});
    stays({1, 4, 4, 2}, none, {.image = {1, 3, 3, 2}, .weight = {3, 1, 1, 2}});
    stays({1, 4, 4, 2}, none, {.image = {1, 3, 3, 2}, .weight = {3, 1, 3, 2}, .stride = {2, 2}});
    stays({1, 4, 4, 2}, none,
        {.image = {1, 3, 3, 2}, .weight = {3, 1, 1, 2}, .pad = {0, 0, 1, 1}, .stride = {2, 2}});
}

TEST_CASE("the last column is read for targets that prefer that") {
    CHECK(runs_for<read_last_column>(u85_npu));
    CHECK_FALSE(runs_for<read_last_column>(u55_npu));
    CHECK_FALSE(runs_for<read_last_column>(integer_target));
}
