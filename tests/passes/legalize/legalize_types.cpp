// SPDX-License-Identifier: MIT
// Tests the casts that lowerings make for operands of every dtype, with and without the integer profile.
#include <catch2/catch.hpp>

#include <headrace/passes/legalize/elementwise.hpp>
#include <headrace/passes/legalize/reduction.hpp>
#include <headrace/passes/legalize/slicing.hpp>
#include <headrace/passes/normalize/casts_and_copies.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr target_spec float_only = *parse_target("TOSA-1.0+FP");
constexpr target_spec everything = *parse_target("TOSA-1.0+FP+INT");

/// Generates a dtype of operands; INFO prints it.
dtype any_type() {
    return GENERATE(dtype::boolean, dtype::int8, dtype::int16, dtype::int32, dtype::float16, dtype::float32);
}

/// The program with the results of `make(program&, x)` for an input of that dtype.
template <class Make>
auto program_of(bool with_integers, dtype type, const Make& make) {
    return [=](program& p) {
        p.g.set_target(with_integers ? everything : float_only);
        make(p, p.input(type, {3, 2}));
    };
}
constexpr double tolerance = 2e-2;  // for halves

/// A lowering of reductions, after the passes that turn their dtype argument into a cast of the operand.
template <class Pass>
auto after_casts() {
    return computes_the_same<may_rewrite<canonicalize_casts>, may_rewrite<legalize_cast>, Pass>().within(
        tolerance);
}

}  // namespace

TEST_CASE("sums and products in a type that is asked for") {
    const dtype from = any_type();
    const dtype to = GENERATE(dtype::int32, dtype::float16, dtype::float32);
    const bool with_integers = GENERATE(false, true);
    CAPTURE(from, to, with_integers);
    CHECK_THAT(program_of(with_integers, from,
                   [=](program& p, value x) {
                       p.output(p.make<aten::sum_dim_intlist>({.self = x, .dim = int_list{1}, .dtype = to}));
                   }),
        after_casts<legalize_sums>());
    CHECK_THAT(program_of(with_integers, from,
                   [=](program& p, value x) {
                       p.output(p.make<aten::prod_dim_int>({.self = x, .dim = 1, .dtype = to}));
                   }),
        after_casts<legalize_products>());
    CHECK_THAT(
        program_of(with_integers, from,
            [=](program& p, value x) { p.output(p.make<aten::cumsum>({.self = x, .dim = 0, .dtype = to})); }),
        after_casts<legalize_cumsum>());
}

TEST_CASE("operands of two types become one") {
    const dtype from = any_type();
    const dtype other = GENERATE(dtype::boolean, dtype::int8, dtype::int32, dtype::float16, dtype::float32);
    const bool with_integers = GENERATE(false, true);
    CAPTURE(from, other, with_integers);
    CHECK_THAT(program_of(with_integers, from,
                   [=](program& p, value x) {
                       const value parts[] = {x, p.input(other, {1, 2})};
                       p.output(p.make<aten::cat>({.tensors = list<value>(parts, 2), .dim = 0}));
                   }),
        computes_the_same<legalize_concat>().within(tolerance));
    CHECK_THAT(program_of(with_integers, from,
                   [=](program& p, value x) {
                       const value mask = p.input(dtype::boolean, {2});
                       p.output(p.make<aten::where_self>({mask, x, p.input(other, {})}));
                   }),
        computes_the_same<legalize_where>().within(tolerance));
}

TEST_CASE("numbers of every type as truth values") {
    const dtype from = any_type();
    const bool with_integers = GENERATE(false, true);
    CAPTURE(from, with_integers);
    CHECK_THAT(program_of(with_integers, from,
                   [](program& p, value x) {
                       p.output(p.make<aten::any>({x}));
                       p.output(p.make<aten::all_dim>({.self = x, .dim = 1}));
                   }),
        computes_the_same<legalize_any_all>());
    CHECK_THAT(program_of(with_integers, from,
                   [=](program& p, value x) {
                       p.output(p.make<aten::logical_not>({x}));
                       p.output(p.make<aten::logical_and>({x, p.input(from, {2})}));
                   }),
        computes_the_same<legalize_logical>());
}
