// SPDX-License-Identifier: MIT
// Tests that CLAMPs without effect are removed, unless they are a hint.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/quantized_arithmetic.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<remove_whole_clamps>::sound);

npu_builder clamped(dtype type, scalar lowest, scalar highest) {
    return for_target(u85_npu, [=](program& p) {
        const value v =
            p.make<tosa::clamp>({.input = p.input(type, {3, 5}), .min_val = lowest, .max_val = highest});
        return p.make<tosa::reduce_max>({.input = v, .axis = 1});
    });
}

}  // namespace

TEST_CASE("the whole range of a type is none") {
    for (const npu_builder& build : {clamped(dtype::int8, -128, 127), clamped(dtype::int16, -32768, 32767)}) {
        CHECK_THAT(build, computes_the_same<remove_whole_clamps>().within(0));
        CHECK(count_after<tosa::clamp, remove_whole_clamps>(build) == 0);
    }
}

TEST_CASE("parts of a range and floats stay") {
    for (const npu_builder& build : {clamped(dtype::int8, -127, 127), clamped(dtype::int8, -128, 126),
             clamped(dtype::float32, -1e38, 1e38)}) {
        CHECK_THAT(build, is_left_alone_by<remove_whole_clamps>());
    }
}

TEST_CASE("only the target for which they are hints keeps them") {
    CHECK(runs_for<remove_whole_clamps>(u85_npu));
    CHECK(runs_for<remove_whole_clamps>(integer_target));
    CHECK_FALSE(runs_for<remove_whole_clamps>(u55_npu));
}
