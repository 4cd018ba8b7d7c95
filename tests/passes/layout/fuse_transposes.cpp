// SPDX-License-Identifier: MIT
// Tests the passes over layout: transposes and reshapes are fused, operators without effect are removed,
// outputs become distinct.
#include <catch2/catch.hpp>

#include <array>
#include <string_view>
#include <vector>

#include <headrace/infer/verify.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/passes/finish/finish.hpp>
#include <headrace/passes/layout/choose_layouts.hpp>
#include <headrace/passes/layout/layout.hpp>
#include <headrace/passes/layout/moving_ops.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
static_assert(effects_of<fuse_transposes>::sound && !effects_of<fuse_transposes>::always_runs);
static_assert(effects_of<fuse_reshapes>::sound && effects_of<remove_noop_layout>::sound);
static_assert(graph_pass<choose_layouts> && graph_pass<ensure_distinct_outputs>);

value shape_of(program& p, std::initializer_list<std::int64_t> values) {
    return p.make<tosa::const_shape>({.values = values});
}
value transposed(program& p, value v, std::initializer_list<std::int64_t> perms) {
    return p.make<tosa::transpose>({.input1 = v, .perms = perms});
}

template <class... Passes, class Build>
std::size_t transposes_after(const Build& build) {
    program p;
    build(p);
    p.finish();
    pass_context context;
    (static_cast<void>(run_pass<Passes>(p.g, context)), ...);
    return count_of<tosa::transpose>(p.g);
}

}  // namespace

TEST_CASE("transposes of transposes") {
    const auto build = [](program& p) {
        const value x = p.input(fp32, {2, 3, 4, 5});
        p.output(transposed(p, transposed(p, x, {0, 2, 3, 1}), {0, 3, 1, 2}));
        p.output(transposed(p, transposed(p, transposed(p, x, {1, 0, 2, 3}), {0, 2, 3, 1}), {3, 2, 1, 0}));
        p.output(transposed(p, p.input(fp32, {1, 3, 1, 4}), {1, 0, 3, 2}));
    };
    CHECK_THAT(build, computes_the_same<fuse_transposes>());
    CHECK(transposes_after<fuse_transposes>(build) == 1);
}

TEST_CASE("reshapes of reshapes") {
    const auto build = [](program& p) {
        const value x = p.input(fp32, {2, 6});
        const value y = p.make<tosa::reshape>({.input1 = x, .shape = shape_of(p, {3, 4})});
        p.output(p.make<tosa::reshape>({.input1 = y, .shape = shape_of(p, {2, 6})}));
        p.output(p.make<tosa::reshape>({.input1 = y, .shape = shape_of(p, {12})}));
    };
    CHECK_THAT(build, computes_the_same<fuse_reshapes>());
}

TEST_CASE("operators that do nothing go") {
    const auto build = [](program& p) {
        const value x = p.input(fp32, {2, 1});
        value v =
            p.make<tosa::slice>({.input1 = x, .start = shape_of(p, {0, 0}), .size = shape_of(p, {2, 1})});
        v = p.make<tosa::tile>({.input1 = v, .multiples = shape_of(p, {1, 1})});
        v = p.make<tosa::pad>({.input1 = v,
            .padding = shape_of(p, {0, 0, 0, 0}),
            .pad_const = p.constant<float>(fp32, {1}, {0})});
        v = p.make<tosa::concat>({.input1 = {v}, .axis = 0});
        v = p.make<tosa::reverse>({.input1 = v, .axis = 1});
        p.output(p.make<tosa::exp>({.input1 = v}));
        p.output(p.make<tosa::reverse>({.input1 = x, .axis = 0}));
    };
    CHECK_THAT(build, computes_the_same<remove_noop_layout>());
    program p;
    build(p);
    p.finish();
    pass_context context;
    const auto counts = in_place_driver<remove_noop_layout>::run({}, p.g, context);
    REQUIRE(counts);
    CHECK(counts.value().rewritten == 5);
    CHECK(count_of<tosa::reverse>(p.g) == 1);
}

TEST_CASE("each output has a tensor of its own") {
    const auto build = [](program& p) {
        const value x = p.input(fp32, {2});
        const value y = p.make<tosa::exp>({.input1 = x});
        const value c = p.constant<float>(fp32, {1}, {7});
        for (const value v : {x, y, y, c}) p.output(v);
    };
    CHECK_THAT(build, computes_the_same<ensure_distinct_outputs>());
    program p;
    build(p);
    p.finish();
    pass_context context;
    const auto added = ensure_distinct_outputs{}(p.g, context);
    REQUIRE(added);
    CHECK(added.value() == 3);
}

TEST_CASE("an output that is listed twice gets a name of its own") {
    program p;
    const value x = p.input(fp32, {2});
    const value y = p.make<tosa::exp>({.input1 = x});
    for (const value v : {y, y, x, y}) p.output(v);
    p.finish();
    const std::array<std::string_view, 4> names{"y", "y", "y_1", "y"};
    p.g.annotate(*p.g.output(), output_names{p.g.own(list<std::string_view>(names))});
    pass_context context;
    REQUIRE(ensure_distinct_outputs{}(p.g, context));
    const auto* now = p.g.output()->find_annotation<output_names>();
    REQUIRE(now != nullptr);
    const std::vector<std::string_view> found(now->names.begin(), now->names.end());
    CHECK(found == std::vector<std::string_view>{"y", "y_2", "y_1", "y_3"});
    CHECK(verify(p.g));
}
