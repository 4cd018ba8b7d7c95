// SPDX-License-Identifier: MIT
// Tests that convolutions after pixel_unshuffle read the blocks themselves, bit for bit.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/strided_convolutions.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<read_blocks>::sound);

struct unshuffling {
    std::int64_t batch = 1, channels = 3, rows = 2, columns = 4, height = 2, width = 2;
    int_list perms{0, 1, 3, 5, 2, 4};
    int_list stride{1, 1}, pad{0, 0, 0, 0};
    std::int64_t window = 1, results = 5, input_zero = 5, weight_zero = -3;
};
npu_builder convolved_blocks(const unshuffling& s) {
    return for_target(u85_npu, [=](program& p) {
        const auto shape = [&](const int_list& sizes) {
            return p.make<tosa::const_shape>({.values = sizes});
        };
        const value image =
            p.input(dtype::int8, {s.batch, s.channels, s.rows * s.height, s.columns * s.width});
        const value split = p.make<tosa::reshape>(
            {.input1 = image, .shape = shape({s.batch, s.channels, s.rows, s.height, s.columns, s.width})});
        const value moved = p.make<tosa::transpose>({.input1 = split, .perms = s.perms});
        const std::int64_t all = s.channels * s.height * s.width;
        const value blocks =
            p.make<tosa::reshape>({.input1 = moved, .shape = shape({s.batch, all, s.rows, s.columns})});
        const value last = p.make<tosa::transpose>({.input1 = blocks, .perms = {0, 2, 3, 1}});
        return convolved_by(p, last,
            {.image = {s.batch, s.rows, s.columns, all},
                .weight = {s.results, s.window, s.window, all},
                .pad = s.pad,
                .stride = s.stride,
                .input_zero = s.input_zero,
                .weight_zero = s.weight_zero});
    });
}

bool reads_them(const npu_builder& build) {
    program p;
    const graph& g = lowered<read_blocks>(p, build);
    for (const node& n : g.nodes_of(info_of<tosa::conv2d>)) {
        if (args_of<tosa::conv2d>(n).stride[0] == 1) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("blocks of any size") {
    for (unsigned seed = 0; seed != 10; ++seed) {
        random_numbers any(seed);
        const npu_builder build = convolved_blocks({.batch = any(1, 2),
            .channels = any(1, 5),
            .rows = any(1, 4),
            .columns = any(1, 4),
            .height = any(2, 3),
            .width = any(2, 3),
            .results = any(1, 6),
            .input_zero = any(-128, 127),
            .weight_zero = any(-9, 9)});
        INFO(seed);
        CHECK_THAT(build, computes_the_same<read_blocks>().within(0));
        CHECK(reads_them(build));
    }
}

TEST_CASE("other permutations, larger windows, strides, padding and large blocks stay") {
    for (const npu_builder& build : {convolved_blocks({.rows = 2, .columns = 2, .perms = {0, 1, 5, 3, 2, 4}}),
             convolved_blocks({.window = 2}), convolved_blocks({.columns = 3, .stride = {1, 2}}),
             convolved_blocks({.pad = {1, 1, 1, 1}}), convolved_blocks({.height = 4})}) {
        CHECK_THAT(build, is_left_alone_by<read_blocks>());
    }
}

TEST_CASE("it is for targets that read blocks") {
    CHECK(runs_for<read_blocks>(u55_npu));
    CHECK_FALSE(runs_for<read_blocks>(integer_target));
}
