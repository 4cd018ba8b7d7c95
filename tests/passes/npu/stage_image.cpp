// SPDX-License-Identifier: MIT
// Tests that input images with few channels are copied before a convolution reads them.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/first_layers.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<stage_image>::sound);

struct first_layer {
    int_list image{1, 32, 32, 3};
    std::int64_t results = 8, window = 3, stride = 2;
    bool is_given = true, is_cropped = false;
    std::int64_t input_zero = 5;
};
npu_builder layer(const first_layer& l) {
    return for_target(u85_npu, [=](program& p) {
        value image = p.input(dtype::int8, l.image);
        if (!l.is_given) image = p.make<tosa::clamp>({.input = image, .min_val = -100, .max_val = 100});
        int_list read = l.image;
        if (l.is_cropped) {
            read = {l.image[0], l.image[1] - 1, l.image[2] - 1, l.image[3]};
            image = p.make<tosa::slice>({.input1 = image,
                .start = p.make<tosa::const_shape>({.values = {0, 1, 0, 0}}),
                .size = p.make<tosa::const_shape>({.values = read})});
        }
        const std::int64_t after = l.is_cropped || l.stride == 1 ? l.window / 2 : l.window / 2 - 1;
        return convolved_by(p, image,
            {.image = read,
                .weight = {l.results, l.window, l.window, l.image[3]},
                .pad = {l.window / 2, after, l.window / 2, after},
                .stride = {l.stride, l.stride},
                .input_zero = l.input_zero});
    });
}

}  // namespace

TEST_CASE("first layers of any size") {
    for (unsigned seed = 0; seed != 6; ++seed) {
        random_numbers any(seed);
        INFO(seed);
        const npu_builder build = layer({.image = {1, 16 * any(1, 3), 8 * any(2, 4), any(1, 4)},
            .results = any(4, 9),
            .is_cropped = any(0, 1) == 1,
            .input_zero = any(-128, 127)});
        CHECK_THAT(build, computes_the_same<stage_image>().within(0));
        CHECK(count_after<tosa::max_pool2d, stage_image>(build) == 1);
    }
}

TEST_CASE("computed, deep and large images, much arithmetic and lines that make no bursts stay") {
    for (const npu_builder& build : {layer({.is_given = false}), layer({.image = {1, 32, 32, 16}}),
             layer({.image = {2, 32, 32, 3}}), layer({.image = {1, 400, 400, 3}}),
             layer({.results = 96, .window = 7, .stride = 1}), layer({.image = {1, 30, 30, 3}})}) {
        CHECK_THAT(build, is_left_alone_by<stage_image>());
    }
}

TEST_CASE("it is for targets with slow memory") {
    CHECK(runs_for<stage_image>(u85_npu));
    CHECK_FALSE(runs_for<stage_image>(u55_npu));
    CHECK_FALSE(runs_for<stage_image>(integer_target));
}
