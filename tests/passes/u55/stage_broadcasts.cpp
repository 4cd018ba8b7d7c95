// SPDX-License-Identifier: MIT
// Tests that constants which operators broadcast are copied to the chip.
#include <catch2/catch.hpp>

#include <headrace/passes/u55/stage_broadcasts.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<stage_broadcasts>::sound);

struct factors {
    int_list image{1, 32, 32, 6}, shape{1, 1, 1, 6};
    dtype type = dtype::int8;
};
npu_builder scaled(const factors& f) {
    return for_target(u55_npu, [=](program& p) {
        std::vector<std::int64_t> codes;
        for (std::int64_t i = 0; i != element_count(f.shape); ++i) codes.push_back(i * 37 % 200 - 100);
        const value factor = rescaled_by(p, integer_constant(p, f.type, f.shape, codes), {.input_zero = -5});
        const value image = rescaled_by(p, p.input(dtype::int8, f.image), {.input_zero = 3});
        return p.make<tosa::mul>(
            {.input1 = image, .input2 = factor, .shift = integer_constant(p, dtype::int8, {1}, {0})});
    });
}

}  // namespace

TEST_CASE("factors of channels, rows and batches") {
    for (const npu_builder& build : {scaled({}), scaled({.image = {32, 32, 6}, .shape = {1, 1, 6}}),
             scaled({.shape = {1, 32, 1, 1}}), scaled({.image = {3, 32, 16, 6}, .shape = {3, 1, 1, 6}})}) {
        CHECK_THAT(build, computes_the_same<stage_broadcasts>().within(0));
        CHECK(count_after<tosa::max_pool2d, stage_broadcasts>(build) == 1);
    }
}

TEST_CASE("what is read once, large constants, small results, single numbers and other types stay") {
    for (const npu_builder& build : {scaled({.image = {1, 16, 16, 16}, .shape = {1, 16, 16, 16}}),
             scaled({.shape = {1, 1, 1, 1}}), scaled({.image = {1, 8, 2, 5000}, .shape = {1, 1, 1, 5000}}),
             scaled({.type = dtype::int16}), scaled({.image = {1, 4, 4, 6}})}) {
        CHECK_THAT(build, is_left_alone_by<stage_broadcasts>());
    }
}

TEST_CASE("it is for Ethos-U55") {
    CHECK(runs_for<stage_broadcasts>(u55_npu));
    CHECK_FALSE(runs_for<stage_broadcasts>(u85_npu));
    CHECK_FALSE(runs_for<stage_broadcasts>(integer_target));
}
