// SPDX-License-Identifier: MIT
// Tests that constants of equal numbers are part of tables.
#include <algorithm>

#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/arithmetic.hpp>
#include <headrace/passes/cortex_m/fold_rescaled_constants.hpp>
#include <headrace/passes/cortex_m/tables.hpp>
#include <headrace/passes/fold/redundancies.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<tabulate_integers>::sound);

const int_list shape{2, 4, 32};

value widened(program& p, value v, std::int64_t zero) { return rescaled_by(p, v, {.input_zero = zero}); }
value narrowed(program& p, value v, std::int64_t zero) {
    return rescaled_by(p, v, {.shift = 35, .output_zero = zero, .to = dtype::int8});
}
value row_of(program& p, const std::vector<std::int64_t>& numbers) {
    return integer_constant(p, dtype::int8, {1, 1, static_cast<std::int64_t>(numbers.size())}, numbers);
}
/// The product of an input and a constant row.
value product(program& p, const std::vector<std::int64_t>& row) {
    return narrowed(p,
        p.make<tosa::mul>({.input1 = widened(p, p.input(dtype::int8, shape), 3),
            .input2 = widened(p, row_of(p, row), -128),
            .shift = integer_constant(p, dtype::int8, {1}, {0})}),
        -7);
}
tensor numbers_of(const int_list& of) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0; i != element_count(of); ++i) numbers.push_back(i % 256 - 128);
    return tensor::of(dtype::int8, extents(of.begin(), of.end()), numbers);
}

}  // namespace

TEST_CASE("a product with equal numbers is a table, whatever their shape") {
    for (const std::vector<std::int64_t>& row : {std::vector<std::int64_t>(32, 77), {-100}}) {
        const npu_builder build = for_target(integer_target, [&](program& p) { return product(p, row); });
        CHECK_THAT(build, is_left_alone_by<select_arithmetic>());
        CHECK_THAT(build,
            (computes_the_same<tabulate_integers, fold_rescaled_constants>()
                    .for_inputs({numbers_of(shape)})
                    .within(0)));
        program p;
        const graph& g = lowered<tabulate_integers, fold_rescaled_constants, remove_dead_code>(p, build);
        CHECK(count_of<cortex_m::quantized_activation>(g) == 1);
        CHECK(count_of<tosa::rescale>(g) == 0);
    }
}

TEST_CASE("a product with different numbers is not") {
    std::vector<std::int64_t> row(32, 77);
    row[5] = 78;
    const npu_builder build = for_target(integer_target, [&](program& p) { return product(p, row); });
    CHECK_THAT(build, is_left_alone_by<tabulate_integers>());
    CHECK(count_after<cortex_m::quantized_mul, select_arithmetic>(build) == 1);
}

TEST_CASE("a function with several steps, and of other axes than its constants have") {
    const npu_builder build = for_target(integer_target, [](program& p) {
        const value x = widened(p, p.input(dtype::int8, {8, 32}), 1);
        const value row =
            widened(p, integer_constant(p, dtype::int8, {1, 32}, std::vector<std::int64_t>(32, -5)), 4);
        const value sum = p.make<tosa::sub>({.input1 = row, .input2 = x});
        const value square = p.make<tosa::mul>(
            {.input1 = sum, .input2 = x, .shift = integer_constant(p, dtype::int8, {1}, {0})});
        return narrowed(p, p.make<tosa::abs>({.input1 = square}), -128);
    });
    CHECK_THAT(build,
        (computes_the_same<tabulate_integers, fold_rescaled_constants>()
                .for_inputs({numbers_of({8, 32})})
                .within(0)));
    CHECK(
        count_after<tosa::rescale, tabulate_integers, fold_rescaled_constants, remove_dead_code>(build) == 0);
}
