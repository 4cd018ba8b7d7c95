// SPDX-License-Identifier: MIT
// Tests that parts of shuffled channels are selected by convolutions.
#include <algorithm>

#include <catch2/catch.hpp>

#include <headrace/passes/npu/channel_selections.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<select_by_convolution>::sound);

struct shuffling {
    int_list image{1, 6, 2, 3};
    std::int64_t groups = 2;
    int_list perms{0, 2, 1, 3, 4};
    int_list start{0, 3, 0, 0}, size{1, 3, 2, 3};
    dtype type = dtype::int8;
};
npu_builder part_of_shuffled(const shuffling& s) {
    return for_target(u85_npu, [=](program& p) {
        const auto shape = [&](const int_list& sizes) {
            return p.make<tosa::const_shape>({.values = sizes});
        };
        const int_list split{s.image[0], s.groups, s.image[1] / s.groups, s.image[2], s.image[3]};
        const value apart =
            p.make<tosa::reshape>({.input1 = p.input(s.type, s.image), .shape = shape(split)});
        const value moved = p.make<tosa::transpose>({.input1 = apart, .perms = s.perms});
        const value shuffled = p.make<tosa::reshape>({.input1 = moved, .shape = shape(s.image)});
        return p.make<tosa::slice>({.input1 = shuffled, .start = shape(s.start), .size = shape(s.size)});
    });
}

}  // namespace

TEST_CASE("parts of shuffles of any size") {
    for (unsigned seed = 0; seed != 6; ++seed) {
        random_numbers any(seed);
        const std::int64_t groups = any(2, 4), channels = groups * any(1, 5);
        const std::int64_t first = any(0, channels - 1);
        const shuffling s{.image = {any(1, 2), channels, any(1, 4), any(1, 4)},
            .groups = groups,
            .start = {0, first, 0, 0},
            .size = {}};
        shuffling part = s;
        part.size = {s.image[0], any(1, std::min(channels - 1, channels - first)), s.image[2], s.image[3]};
        const npu_builder build = part_of_shuffled(part);
        INFO(seed);
        CHECK_THAT(build, computes_the_same<select_by_convolution>().within(0));
        CHECK(count_after<tosa::slice, select_by_convolution>(build) == 0);
    }
}

TEST_CASE("other permutations, parts of an image, other types and many channels stay") {
    for (const npu_builder& build : {part_of_shuffled({.perms = {0, 1, 2, 4, 3}}),
             part_of_shuffled({.size = {1, 3, 1, 3}}), part_of_shuffled({.type = dtype::int16}),
             part_of_shuffled({.image = {1, 514, 2, 3}, .size = {1, 2, 2, 3}})}) {
        CHECK_THAT(build, is_left_alone_by<select_by_convolution>());
    }
}

TEST_CASE("it is for targets that select by convolutions") {
    CHECK(runs_for<select_by_convolution>(u55_npu));
    CHECK_FALSE(runs_for<select_by_convolution>(integer_target));
}
