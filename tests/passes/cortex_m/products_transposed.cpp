// SPDX-License-Identifier: MIT
// Tests that a matrix product on a Cortex-M transposes its second factor once, or not at all.
#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/moves.hpp>
#include <headrace/passes/cortex_m/products.hpp>
#include <headrace/passes/fold/redundancies.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<select_products>::sound);

/// The product of (6, 3, 5) and an input that a TRANSPOSE and a RESHAPE make (6, 5, 4).
npu_builder product(const int_list& shape, const int_list& perms) {
    return for_target(integer_target, [=](program& p) {
        value factor = p.input(dtype::int8, shape);
        if (!perms.empty()) {
            const value moved = p.make<tosa::transpose>({.input1 = factor, .perms = perms});
            const value to = p.make<tosa::const_shape>({.values = {6, 5, 4}});
            factor = p.make<tosa::reshape>({.input1 = moved, .shape = to});
        }
        const value sum = p.make<tosa::matmul>({.a = p.input(dtype::int8, {6, 3, 5}),
            .b = factor,
            .a_zp = integer_constant(p, dtype::int8, {1}, {2}),
            .b_zp = integer_constant(p, dtype::int8, {1}, {-9}),
            .output_type = dtype::int32});
        return rescaled_by(
            p, sum, {.multipliers = {1234567891}, .shift = 31, .output_zero = 1, .to = dtype::int8});
    });
}

}  // namespace

TEST_CASE("the second factor of a product is transposed once, or not at all") {
    const std::pair<int_list, int_list> factors[] = {
        {{6, 5, 4}, {}}, {{2, 3, 4, 5}, {0, 1, 3, 2}}, {{2, 4, 3, 5}, {0, 2, 3, 1}}, {{5, 6, 4}, {1, 0, 2}}};
    const std::size_t left[] = {1, 0, 1, 1};
    for (std::size_t i = 0; i != 4; ++i) {
        const npu_builder build = product(factors[i].first, factors[i].second);
        CHECK_THAT(build, (computes_the_same<select_products, may_rewrite<select_moves>>().within(0)));
        CHECK(count_after<cortex_m::quantized_batch_matmul, select_products, remove_dead_code, select_moves>(
                  build) == 1);
        CHECK(count_after<cortex_m::transpose, select_products, remove_dead_code, select_moves>(build) ==
            left[i]);
    }
}
