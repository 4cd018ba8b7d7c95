// SPDX-License-Identifier: MIT
// Tests that the larger or the smaller of two int8 tensors is found after both have the result's scale.
#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/narrow_moves.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

template <class Op>
npu_builder extremum(bool is_of_number = false) {
    return for_target(integer_target, [=](program& p) {
        const int_list shape{3, 40};
        const value x = p.input(dtype::int8, shape);
        const value y =
            is_of_number ? integer_constant(p, dtype::int8, {1, 1}, {4}) : p.input(dtype::int8, shape);
        const value wide = p.make<Op>({.input1 = rescaled_by(p, x, {.shift = 12, .input_zero = 3}),
            .input2 = rescaled_by(p, y, {.multipliers = {1'600'000'001}, .shift = 12, .input_zero = -5})});
        return rescaled_by(
            p, wide, {.multipliers = {1'234'567'891}, .shift = 49, .output_zero = -2, .to = dtype::int8});
    });
}

}  // namespace

TEST_CASE("extrema of two tensors are those of int8") {
    CHECK_THAT(extremum<tosa::maximum>(), computes_the_same<narrow_moves>().within(0));
    CHECK_THAT(extremum<tosa::minimum>(), computes_the_same<narrow_moves>().within(0));
}

TEST_CASE("extrema of a tensor and a number stay, as functions") {
    CHECK_THAT(extremum<tosa::maximum>(true), is_left_alone_by<narrow_moves>());
}
