// SPDX-License-Identifier: MIT
// Tests that sums over an image become depthwise convolutions, bit for bit.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/quantized_arithmetic.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<convolve_sums>::sound);

struct summing {
    int_list image{1, 3, 4, 5};
    std::int64_t first = 1, second = 2;
    rescaling_of widening{};
    dtype type = dtype::int8;
};
npu_builder sum(const summing& s) {
    return for_target(u85_npu, [=](program& p) {
        const value wide = rescaled_by(p, p.input(s.type, s.image), s.widening);
        const value once = p.make<tosa::reduce_sum>({.input = wide, .axis = s.first});
        return p.make<tosa::reduce_sum>({.input = once, .axis = s.second});
    });
}

}  // namespace

TEST_CASE("the pixels of each channel") {
    for (unsigned seed = 0; seed != 6; ++seed) {
        random_numbers any(seed);
        const npu_builder build = sum({.image = {any(1, 2), any(1, 9), any(1, 9), any(1, 20)},
            .first = 1 + seed % 2,
            .second = 2 - seed % 2,
            .widening = {.input_zero = any(-128, 127)}});
        CHECK_THAT(build, computes_the_same<convolve_sums>().within(0));
        CHECK(count_after<tosa::reduce_sum, convolve_sums>(build) == 0);
    }
}

TEST_CASE("the pixels at one place of each patch") {
    // [patches down, 2, patches across, 2 x channels], which the widened image is seen as, or has as its shape.
    const auto of_patches = [](const int_list& image, const int_list& split, std::int64_t first) {
        return for_target(u85_npu, [=](program& p) {
            value v = rescaled_by(p, p.input(dtype::int8, image), {.input_zero = -9});
            if (image != split) v = p.make<tosa::reshape>({v, p.make<tosa::const_shape>({.values = split})});
            v = p.make<tosa::reduce_sum>({.input = v, .axis = first});
            return p.make<tosa::reduce_sum>({.input = v, .axis = 2 - first});
        });
    };
    for (const std::int64_t first : {0, 2}) {
        for (const npu_builder& build :
            {of_patches({1, 6, 8, 5}, {3, 2, 4, 10}, first), of_patches({1, 6, 4, 5}, {6, 1, 4, 5}, first),
                of_patches({3, 2, 4, 10}, {3, 2, 4, 10}, first),
                of_patches({2, 3, 8, 5}, {3, 2, 4, 10}, first)}) {
            CHECK_THAT(build, computes_the_same<convolve_sums>().within(0));
            CHECK(count_after<tosa::reduce_sum, convolve_sums>(build) == 0);
        }
    }
    for (const npu_builder& build : {of_patches({1, 9, 4, 5}, {3, 3, 4, 5}, 0),
             of_patches({1, 132, 4, 5}, {66, 2, 4, 5}, 0), of_patches({1, 2, 65, 5}, {1, 2, 65, 5}, 0)}) {
        CHECK_THAT(build, is_left_alone_by<convolve_sums>());
    }
}

TEST_CASE("sums over channels, of what was scaled, of other types and of large images stay") {
    for (const npu_builder& build : {sum({.second = 3}), sum({.first = 0}), sum({.widening = {.shift = 29}}),
             sum({.type = dtype::int16}), sum({.image = {1, 65, 1, 1}}), sum({.image = {3, 4, 5}})}) {
        CHECK_THAT(build, is_left_alone_by<convolve_sums>());
    }
}

TEST_CASE("a sum over one axis that has another reader stays") {
    const npu_builder build = for_target(u85_npu, [](program& p) {
        const value wide = rescaled_by(p, p.input(dtype::int8, {1, 3, 4, 5}), {});
        const value once = p.make<tosa::reduce_sum>({.input = wide, .axis = 1});
        p.output(once);
        return p.make<tosa::reduce_sum>({.input = once, .axis = 2});
    });
    CHECK_THAT(build, is_left_alone_by<convolve_sums>());
}

TEST_CASE("it is for targets that sum up by convolutions") {
    CHECK(runs_for<convolve_sums>(u85_npu));
    CHECK_FALSE(runs_for<convolve_sums>(u55_npu));
    CHECK_FALSE(runs_for<convolve_sums>(integer_target));
}
