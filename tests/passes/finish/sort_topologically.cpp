// SPDX-License-Identifier: MIT
// Tests sort_topologically: the order of nodes depends only on the graph, not on the order of creation.
#include <string>

#include <catch2/catch.hpp>

#include <headrace/passes/finish/finish.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
static_assert(graph_pass<sort_topologically> && effects_of<sort_topologically>::always_runs);

/// exp(tanh(a) + abs(b)), with the two operands made in either order.
template <bool Swapped>
void sum(program& p) {
    const value a = p.input(fp32, {2});
    const value b = p.input(fp32, {2});
    value x, y;
    if (Swapped) y = p.make<tosa::abs>({.input1 = b});
    x = p.make<tosa::tanh>({.input = a});
    if (!Swapped) y = p.make<tosa::abs>({.input1 = b});
    const value z = p.make<tosa::exp>({.input1 = p.make<tosa::add>({.input1 = x, .input2 = y})});
    p.output(z);
    p.output(x);
}
std::pmr::string order_of(const graph& g) {
    std::pmr::string names;
    for (const node& n : g.nodes()) names += std::pmr::string(n.op->name) + "; ";
    return names;
}
template <class Build>
std::pmr::string sorted(const Build& build) {
    program p;
    build(p);
    p.finish();
    pass_context context;
    CHECK(sort_topologically{}(p.g, context));
    const std::pmr::string once = order_of(p.g);
    CHECK(sort_topologically{}(p.g, context));
    CHECK(order_of(p.g) == once);
    return once;
}

}  // namespace

TEST_CASE("the order does not depend on that of creation") {
    CHECK_THAT(sum<false>, is_left_alone_by<sort_topologically>());
    CHECK_THAT(sum<true>, computes_the_same<sort_topologically>().within(0));
    CHECK(sorted(sum<false>) == sorted(sum<true>));
}

TEST_CASE("inputs keep their order, also those that nothing reads") {
    const auto build = [](program& p) {
        const value a = p.input(fp32, {2});
        p.input(fp32, {3});
        const value c = p.input(fp32, {4});
        p.output(p.make<tosa::exp>({.input1 = c}));
        p.output(p.make<tosa::abs>({.input1 = a}));
    };
    CHECK_THAT(build, is_left_alone_by<sort_topologically>());
    program p;
    build(p);
    p.finish();
    pass_context context;
    REQUIRE(sort_topologically{}(p.g, context));
    std::int64_t size = 2;
    for (const node& n : p.g.inputs()) CHECK(n.results[0].meta->shape[0] == size++);
    CHECK(size == 5);
}

TEST_CASE("what no output needs stays, in its order") {
    const auto build = [](program& p) {
        const value x = p.input(fp32, {2});
        p.make<tosa::tanh>({.input = p.make<tosa::abs>({.input1 = x})});
        p.output(p.make<tosa::exp>({.input1 = x}));
    };
    const std::pmr::string order = sorted(build);
    CHECK(order.find("ABS") < order.find("TANH"));
    CHECK(order.find("TANH") != std::pmr::string::npos);
}

TEST_CASE("regions are sorted, too") {
    const auto order_in_region = [](bool swapped) {
        program p;
        graph& region = p.g.create_region();
        const value in = region.create<builtin::placeholder>({}).result();
        region.set_meta(in, {fp32, {2}, {}});
        const auto typed = [&](node& n) {
            region.set_meta(n.result(), {fp32, {2}, {}});
            return n.result();
        };
        value x, y;
        if (swapped) y = typed(region.create<tosa::abs>({.input1 = in}));
        x = typed(region.create<tosa::tanh>({.input = in}));
        if (!swapped) y = typed(region.create<tosa::abs>({.input1 = in}));
        region.create<builtin::output>({.values = {typed(region.create<tosa::add>({x, y}))}});
        const value condition = p.input(dtype::boolean, {});
        const value v = p.input(fp32, {2});
        p.output(p.make<tosa::cond_if>({condition, {v}, &region, &region}));
        p.finish();
        pass_context context;
        CHECK(sort_topologically{}(p.g, context));
        return order_of(region);
    };
    CHECK(order_in_region(false) == order_in_region(true));
}
