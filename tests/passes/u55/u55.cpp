// SPDX-License-Identifier: MIT
// Tests that what Ethos-U55 lacks of TOSA is built from what it has, with the same results.
#include <catch2/catch.hpp>

#include <headrace/passes/u55/u55.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

constexpr target_spec u55_target = *parse_target("TOSA-1.0+INT+u55");

/// Empty if the passes make something else of one operator, with the same results.
template <op_tag Op, class... Passes, class Build>
std::string replaced(const Build& build) {
    const auto for_u55 = [&](program& p) {
        p.g.set_target(u55_target);
        p.output(build(p));
    };
    if (count_after<Op, Passes...>(for_u55) != 0) return std::string(Op::name) + " is left";
    return compare_runs<Passes...>(for_u55, random_inputs(for_u55), 0);
}

}  // namespace

TEST_CASE("bits are tables and shifts") {
    CHECK(
        replaced<tosa::bitwise_xor, expand_bits>([](program& p) {
            return p.make<tosa::bitwise_xor>({p.input(dtype::int8, {2, 30}), p.input(dtype::int8, {2, 30})});
        }) == "");
    CHECK(replaced<tosa::bitwise_not, expand_bits>([](program& p) {
              return p.make<tosa::bitwise_not>({p.input(dtype::int8, {2, 30})});
          }) == "");
}

TEST_CASE("extrema of 32 bits are compared in halves") {
    CHECK(replaced<tosa::reduce_max, expand_extrema>([](program& p) {
              return p.make<tosa::reduce_max>({p.input(dtype::int32, {2, 7, 3}), 1});
          }) == "");
}

TEST_CASE("rows are gathered without GATHER") {
    CHECK(replaced<tosa::gather, expand_gather>([](program& p) {
              const value indices = integer_constant(p, dtype::int32, {1, 3}, {4, 0, 2});
              return p.make<tosa::gather>({p.input(dtype::int8, {1, 5, 4}), indices});
          }) == "");
}

TEST_CASE("axes are reversed as widths of images") {
    CHECK(replaced<tosa::reverse, expand_moves>([](program& p) {
              return p.make<tosa::reverse>({p.input(dtype::int32, {3, 4}), 0});
          }) == "");
}

TEST_CASE("the depth of a window is stacked onto the channels") {
    CHECK(replaced<tosa::conv3d, expand_windows>([](program& p) {
              return p.make<tosa::conv3d>({.input = p.input(dtype::int8, {1, 3, 5, 4, 2}),
                                           .weight = constant_codes(p, weight_codes(1), {3, 2, 3, 3, 2}),
                                           .bias = integer_constant(p, dtype::int32, {3}, {1, -2, 3}),
                                           .input_zp = integer_constant(p, dtype::int8, {1}, {5}),
                                           .weight_zp = integer_constant(p, dtype::int8, {1}, {0}),
                                           .pad = {0, 0, 1, 1, 1, 1},
                                           .stride = {1, 1, 1},
                                           .dilation = {1, 1, 1},
                                           .acc_type = dtype::int32});
          }) == "");
}

TEST_CASE("comparisons and choices are arithmetic") {
    CHECK(replaced<tosa::select, number_booleans>([](program& p) {
              const value x = p.input(dtype::int32, {2, 9});
              const value y = p.input(dtype::int32, {2, 9});
              return p.make<tosa::select>({p.make<tosa::greater>({x, y}), x, y});
          }) == "");
}

TEST_CASE("accumulators are rescaled before they are moved") {
    const auto build = [](program& p) {
        p.g.set_target(u55_target);
        const value moved =
            p.make<tosa::transpose>({.input1 = p.input(dtype::int32, {2, 3, 4}), .perms = {1, 0, 2}});
        p.output(p.make<tosa::rescale>({.input = moved,
                                        .multiplier = integer_constant(p, dtype::int32, {1}, {1 << 30}),
                                        .shift = integer_constant(p, dtype::int8, {1}, {48}),
                                        .input_zp = integer_constant(p, dtype::int32, {1}, {0}),
                                        .output_zp = integer_constant(p, dtype::int8, {1}, {3})}));
    };
    CHECK(compare_runs<rescale_before_moving>(build, random_inputs(build), 0) == "");
    program p;
    const graph& g = lowered<rescale_before_moving>(p, build);
    CHECK(is<tosa::transpose>(*g.outputs()[0].producer));
}

TEST_CASE("both branches of a condition run") {
    CHECK(replaced<tosa::cond_if, blend_conditions>([](program& p) {
              const value condition = p.input(dtype::boolean, {1});
              const value x = p.input(dtype::int32, {4});
              graph* branches[2];
              for (graph*& branch : branches) {
                  branch = &p.g.create_region();
                  const value taken = branch->create<builtin::placeholder>({}).result();
                  branch->set_meta(taken, {dtype::int32, {4}, {}});
                  const value given = branch->create<tosa::add>({taken, taken}).result();
                  branch->set_meta(given, {dtype::int32, {4}, {}});
                  const value outputs[] = {&branch == &branches[0] ? given : taken};
                  branch->create<builtin::output>({.values = list<value>(outputs, 1)});
              }
              return p
                  .make_node<tosa::cond_if>({.condition = condition,
                                             .inputs = list<value>(&x, 1),
                                             .then_graph = branches[0],
                                             .else_graph = branches[1]})
                  .result();
          }) == "");
}
