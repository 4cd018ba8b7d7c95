// SPDX-License-Identifier: MIT
// Tests that maxima of rows become poolings.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/quantized_arithmetic.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<pool_maxima>::sound);

npu_builder largest(dtype type, int_list shape, std::int64_t axis) {
    return for_target(u85_npu,
        [=](program& p) { return p.make<tosa::reduce_max>({.input = p.input(type, shape), .axis = axis}); });
}

}  // namespace

TEST_CASE("the largest of each row, whatever the rank") {
    for (unsigned seed = 0; seed != 8; ++seed) {
        random_numbers any(seed);
        const std::int64_t row = any(1, 256);
        const int_list shapes[] = {{any(1, 3), any(1, 5), any(2, 5), row}, {any(1, 5), any(2, 5), row},
            {any(2, 9), row}, {any(1, 2), any(1, 3), any(1, 3), any(2, 3), row}};
        const int_list& shape = shapes[seed % 4];
        const npu_builder build = largest(dtype::int8, shape, static_cast<std::int64_t>(shape.size()) - 1);
        CHECK_THAT(build, computes_the_same<pool_maxima>().within(0));
        CHECK(count_after<tosa::reduce_max, pool_maxima>(build) == 0);
    }
}

TEST_CASE("other axes, types and long rows stay") {
    for (const npu_builder& build :
        {largest(dtype::int8, {1, 1, 1, 7}, 3), largest(dtype::int8, {1, 2, 3, 4}, 2),
            largest(dtype::int8, {4}, 0), largest(dtype::int32, {1, 2, 3, 4}, 3),
            largest(dtype::int8, {1, 1, 2, 257}, 3), largest(dtype::int8, {65537, 1, 2}, 2)}) {
        CHECK_THAT(build, is_left_alone_by<pool_maxima>());
    }
}

TEST_CASE("it is for targets that pool maxima") {
    CHECK(runs_for<pool_maxima>(u55_npu));
    CHECK_FALSE(runs_for<pool_maxima>(integer_target));
}
