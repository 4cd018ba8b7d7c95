// SPDX-License-Identifier: MIT
// Tests that weights which many operators read are copied to the chip.
#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <headrace/passes/npu/weights_on_chip.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

struct cells {
    std::int64_t rows = 64, columns = 64, pixels = 1;
    std::size_t steps = 16;
};
// Steps with one weight, each of which reads an input of its own; their sum is the result.
npu_builder steps(const cells& c, const target_spec& target = u85_npu) {
    return for_target(target, [=](program& p) {
        const value weight = constant_codes(p, weight_codes(1), {c.rows, 1, 1, c.columns});
        const std::vector<std::int64_t> biases(static_cast<std::size_t>(c.rows), 1000);
        const value bias = integer_constant(p, dtype::int32, {c.rows}, biases);
        value sum{};
        for (std::size_t i = 0; i != c.steps; ++i) {
            const value product =
                p.make<tosa::conv2d>({.input = p.input(dtype::int8, {1, 1, c.pixels, c.columns}),
                    .weight = weight,
                    .bias = bias,
                    .input_zp = integer_constant(p, dtype::int8, {1}, {static_cast<std::int64_t>(i)}),
                    .weight_zp = integer_constant(p, dtype::int8, {1}, {0}),
                    .pad = {0, 0, 0, 0},
                    .stride = {1, 1},
                    .dilation = {1, 1},
                    .acc_type = dtype::int32});
            sum = sum ? p.make<tosa::add>({.input1 = sum, .input2 = product}) : product;
        }
        return sum;
    });
}

}  // namespace

TEST_CASE("the weight of many steps is copied once, and multiplied") {
    CHECK_THAT(steps({}), computes_the_same<keep_weights_on_chip>().within(0));
    CHECK_THAT(
        steps({.rows = 96, .columns = 40, .steps = 20}), computes_the_same<keep_weights_on_chip>().within(0));
    CHECK(count_after<tosa::max_pool2d, keep_weights_on_chip>(steps({})) == 1);
    CHECK(count_after<tosa::matmul, keep_weights_on_chip>(steps({})) == 16);
    CHECK(count_after<tosa::conv2d, keep_weights_on_chip>(steps({})) == 0);
}
TEST_CASE("few steps, small or huge weights and several pixels read the weight each time") {
    for (const npu_builder& build : {steps({.steps = 2}), steps({.rows = 16, .columns = 16}),
             steps({.rows = 512, .columns = 512}), steps({.pixels = 2})})
        CHECK_THAT(build, is_left_alone_by<keep_weights_on_chip>());
}
TEST_CASE("only where memory off the chip is slow") {
    CHECK(runs_for<keep_weights_on_chip>(u85_npu));
    CHECK_FALSE(runs_for<keep_weights_on_chip>(u55_npu));
    CHECK_FALSE(runs_for<keep_weights_on_chip>(*parse_target("TOSA-1.0+INT")));
}
