// SPDX-License-Identifier: MIT
// Tests that the result of a convolution is copied before it is split by channels.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/transposes.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<copy_before_planes>::sound);

struct planes {
    std::int64_t batch = 1, height = 3, width = 4, inputs = 3, channels = 24;
    int_list perms{0, 3, 1, 2};
    int_list as{};  // the shape that is transposed, if it differs from the image's
    bool is_reversed = false, is_clamped = true, is_read_twice = false;
    std::int64_t input_zero = 5, output_zero = -7;
};
npu_builder taken_apart(const planes& s) {
    return for_target(u85_npu, [=](program& p) {
        const int_list image{s.batch, s.height, s.width, s.inputs};
        const value sums = convolved_by(p, p.input(dtype::int8, image),
            {.image = image, .weight = {s.channels, 1, 1, s.inputs}, .input_zero = s.input_zero});
        value v = rescaled_by(p, sums, {.shift = 37, .output_zero = s.output_zero, .to = dtype::int8});
        if (s.is_clamped) v = p.make<tosa::clamp>({.input = v, .min_val = -90, .max_val = 110});
        if (s.is_reversed) v = p.make<tosa::reverse>({.input1 = v, .axis = 1});
        if (s.is_read_twice) p.output(v);
        if (!s.as.empty())
            v = p.make<tosa::reshape>({.input1 = v, .shape = p.make<tosa::const_shape>({.values = s.as})});
        return p.make<tosa::transpose>({.input1 = v, .perms = s.perms});
    });
}

}  // namespace

TEST_CASE("images of many channels") {
    for (unsigned seed = 0; seed != 6; ++seed) {
        random_numbers any(seed);
        INFO(seed);
        const npu_builder build = taken_apart({.height = any(1, 5),
            .width = any(2, 7),
            .inputs = any(1, 4),
            .channels = any(20, 40),
            .is_clamped = any(0, 1) == 1,
            .input_zero = any(-128, 127),
            .output_zero = any(-128, 127)});
        CHECK_THAT(build, computes_the_same<copy_before_planes>().within(0));
        CHECK(count_after<tosa::max_pool2d, copy_before_planes>(build) == 1);
    }
}

TEST_CASE("rows of a linear layer, whole or in heads") {
    for (const npu_builder& build : {taken_apart({.height = 1, .width = 9, .perms = {1, 0}, .as = {9, 24}}),
             taken_apart({.height = 1, .width = 9, .perms = {1, 2, 0}, .as = {9, 4, 6}})}) {
        CHECK_THAT(build, computes_the_same<copy_before_planes>().within(0));
        CHECK(count_after<tosa::max_pool2d, copy_before_planes>(build) == 1);
    }
}

TEST_CASE("few channels, large images, batches, other permutations, sources and users stay") {
    for (const npu_builder& build :
        {taken_apart({.channels = 8}), taken_apart({.height = 128, .width = 128, .channels = 399}),
            taken_apart({.batch = 2}), taken_apart({.perms = {0, 3, 2, 1}}),
            taken_apart({.is_reversed = true}), taken_apart({.is_read_twice = true}),
            taken_apart({.height = 1, .width = 9, .perms = {1, 0}, .as = {18, 12}})}) {
        CHECK_THAT(build, is_left_alone_by<copy_before_planes>());
    }
}

TEST_CASE("it is for targets that are slow at planes") {
    CHECK(runs_for<copy_before_planes>(u85_npu));
    CHECK_FALSE(runs_for<copy_before_planes>(u55_npu));
    CHECK_FALSE(runs_for<copy_before_planes>(integer_target));
}
