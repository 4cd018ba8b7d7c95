// SPDX-License-Identifier: MIT
// Tests that tables which follow each other are one, and that those which clamp or change nothing go.
#include <algorithm>
#include <functional>

#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/tables_merging.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<merge_tables>::sound);

const int_list shape{2, 128};

using function = std::function<std::int64_t(std::int64_t)>;

value tabulated(program& p, value v, const function& f) {
    std::vector<std::int64_t> table;
    for (std::int64_t i = -128; i != 128; ++i) table.push_back(std::clamp<std::int64_t>(f(i), -128, 127));
    return p.make<cortex_m::quantized_activation>(
        {.input = v, .lut = integer_constant(p, dtype::int8, {256}, table)});
}
value shown(program& p, value v, const int_list& as) { return p.make<aten::view>({.self = v, .size = as}); }
value input(program& p) { return p.input(dtype::int8, shape); }
/// The sum of two inputs, with bounds.
value sum(program& p, std::int64_t lowest, std::int64_t highest) {
    constexpr std::int64_t half = 1 << 30;
    return p.make<cortex_m::quantized_add>({.self = input(p),
        .self_zero_point = 0,
        .self_multiplier = half,
        .self_shift = 0,
        .other = input(p),
        .other_zero_point = 0,
        .other_multiplier = half,
        .other_shift = 0,
        .output_zero_point = 0,
        .output_multiplier = half,
        .output_shift = -18,
        .activation_min = lowest,
        .activation_max = highest});
}

std::int64_t same(std::int64_t i) { return i; }
std::int64_t tripled(std::int64_t i) { return 3 * i - 7; }
std::int64_t folded(std::int64_t i) { return i < 0 ? -i / 2 : 50 - i; }
std::int64_t positive(std::int64_t i) { return std::max<std::int64_t>(i, 0); }

void check(const npu_builder& build, std::size_t left) {
    CHECK_THAT(build, computes_the_same<merge_tables>().within(0));
    CHECK(count_after<cortex_m::quantized_activation, merge_tables>(build) == left);
}

}  // namespace

TEST_CASE("a table of a table, also of its view, is one table") {
    check(for_target(integer_target,
              [](program& p) { return tabulated(p, tabulated(p, input(p), tripled), folded); }),
        1);
    check(for_target(integer_target,
              [](program& p) {
                  const value v = shown(p, tabulated(p, input(p), folded), {4, 64});
                  return tabulated(p, shown(p, tabulated(p, v, tripled), {256}), folded);
              }),
        1);
}

TEST_CASE("a table that changes nothing goes") {
    check(for_target(integer_target, [](program& p) { return tabulated(p, input(p), same); }), 0);
    check(for_target(integer_target, [](program& p) { return tabulated(p, sum(p, 0, 127), positive); }), 0);
}

TEST_CASE("a table that clamps is the bounds of the kernel before it") {
    const npu_builder build = for_target(integer_target, [](program& p) {
        return tabulated(p, shown(p, sum(p, -20, 90), {256}),
            [](std::int64_t i) { return i < -20 ? 5 : std::clamp<std::int64_t>(i, -3, 40); });
    });
    check(build, 0);
    program p;
    for (const node& n : lowered<merge_tables>(p, build).nodes_of(info_of<cortex_m::quantized_add>)) {
        CHECK(args_if<cortex_m::quantized_add>(n)->activation_min == -3);
        CHECK(args_if<cortex_m::quantized_add>(n)->activation_max == 40);
    }
}

TEST_CASE("other tables, and those of values with other readers, stay") {
    for (const function& f : {function(tripled), function(positive)}) {
        CHECK_THAT(for_target(integer_target, [&](program& p) { return tabulated(p, input(p), f); }),
            is_left_alone_by<merge_tables>());
        CHECK_THAT(for_target(integer_target,
                       [&](program& p) {
                           const value v = tabulated(p, input(p), folded);
                           p.output(v);
                           return tabulated(p, v, f);
                       }),
            is_left_alone_by<merge_tables>());
    }
    CHECK_THAT(for_target(integer_target, [](program& p) { return tabulated(p, sum(p, -9, 127), tripled); }),
        is_left_alone_by<merge_tables>());
    CHECK_THAT(for_target(integer_target,
                   [](program& p) {
                       const value v = sum(p, -128, 127);
                       p.output(v);
                       return tabulated(p, v, positive);
                   }),
        is_left_alone_by<merge_tables>());
}
