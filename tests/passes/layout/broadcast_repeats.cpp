// SPDX-License-Identifier: MIT
// Tests that operators broadcast what TILEs repeat.
#include <catch2/catch.hpp>

#include <headrace/passes/layout/repeating.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<broadcast_repeats>::sound);

constexpr dtype fp32 = dtype::float32;

value repeated(program& p, value v, const int_list& multiples) {
    return p.make<tosa::tile>({.input1 = v, .multiples = p.make<tosa::const_shape>({.values = multiples})});
}
/// Empty if the program computes the same, and has the given number of TILEs left.
template <class Build>
std::pmr::string compare_tiles(const Build& build, std::size_t left) {
    const std::size_t count = count_after<tosa::tile, broadcast_repeats>(build);
    if (count != left) return number_text(count) + " TILEs are left";
    return compare_runs<broadcast_repeats>(build, random_inputs(build), 0);
}

}  // namespace

TEST_CASE("operands of arithmetic, on either side, after functions") {
    const auto product = [](program& p) {
        const value row = p.make<tosa::tanh>({.input = repeated(p, p.input(fp32, {1, 1, 5}), {1, 4, 1})});
        p.output(p.make<tosa::sub>({.input1 = row, .input2 = p.input(fp32, {3, 4, 5})}));
    };
    CHECK(compare_tiles(product, 0) == "");
    const auto choice = [](program& p) {
        const value mask = repeated(p, p.input(dtype::boolean, {1, 1, 5}), {3, 4, 1});
        p.output(p.make<tosa::select>(
            {.input1 = mask, .input2 = p.input(fp32, {3, 4, 1}), .input3 = p.input(fp32, {3, 4, 5})}));
    };
    CHECK(compare_tiles(choice, 0) == "");
    const auto quantized = [](program& p) {
        const value sum = repeated(p, p.input(dtype::int8, {1, 1, 3}), {1, 4, 1});
        const value wide = rescaled_by(p, sum, {.multipliers = {1 << 30, 1 << 29, 1 << 28}, .input_zero = 7});
        const value other = rescaled_by(p, p.input(dtype::int8, {1, 4, 3}), {});
        p.output(p.make<tosa::add>({.input1 = wide, .input2 = other}));
    };
    CHECK(compare_tiles(quantized, 0) == "");
}

TEST_CASE("functions are computed on fewer elements") {
    const auto rows = [](program& p) {
        p.output(p.make<tosa::exp>({.input1 = repeated(p, p.input(fp32, {1, 3}), {5, 1})}));
    };
    CHECK(compare_tiles(rows, 1) == "");
    CHECK_THAT(rows, computes_the_same<broadcast_repeats>());
}

TEST_CASE("both operands: one of them keeps each axis") {
    const auto outer = [](program& p) {
        const value column = repeated(p, p.input(fp32, {4, 1}), {1, 5});
        p.output(p.make<tosa::add>({.input1 = column, .input2 = repeated(p, p.input(fp32, {1, 5}), {4, 1})}));
    };
    CHECK(compare_tiles(outer, 0) == "");
    const auto same = [](program& p) {
        const value column = repeated(p, p.input(fp32, {4, 1}), {1, 5});
        p.output(p.make<tosa::add>({.input1 = column, .input2 = repeated(p, p.input(fp32, {4, 1}), {1, 5})}));
    };
    CHECK(compare_tiles(same, 1) == "");
}

TEST_CASE("TILEs of longer axes, of channels that differ, and of what others read or is widened stay") {
    const auto copies = [](program& p) {
        p.output(p.make<tosa::exp>({.input1 = repeated(p, p.input(fp32, {2, 3}), {2, 1})}));
    };
    CHECK_THAT(copies, is_left_alone_by<broadcast_repeats>());
    const auto indices = [](program& p) {  // a target with floats alone has no TILE of integers
        const value rows = repeated(p, p.input(fp32, {1, 3}), {2, 1});
        p.output(p.make<tosa::cast>({.input = rows, .output_type = dtype::int32}));
    };
    CHECK_THAT(indices, is_left_alone_by<broadcast_repeats>());
    const auto channels = [](program& p) {
        const value v = repeated(p, p.input(dtype::int8, {2, 1}), {1, 3});
        p.output(rescaled_by(p, v, {.multipliers = {1 << 30, 1 << 29, 1 << 28}}));
    };
    CHECK_THAT(channels, is_left_alone_by<broadcast_repeats>());
    const auto widened = [](program& p) {
        p.output(rescaled_by(p, repeated(p, p.input(dtype::int8, {1, 3}), {5, 1}), {}));
    };
    CHECK_THAT(widened, is_left_alone_by<broadcast_repeats>());
    const auto read = [](program& p) {
        const value v = repeated(p, p.input(fp32, {1, 3}), {2, 1});
        p.output(v);
        p.output(p.make<tosa::exp>({.input1 = v}));
    };
    CHECK_THAT(read, is_left_alone_by<broadcast_repeats>());
}
