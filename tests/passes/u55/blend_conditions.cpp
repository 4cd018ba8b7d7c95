// SPDX-License-Identifier: MIT
// Tests that both branches of a condition run, and that their results are selected.
#include <catch2/catch.hpp>

#include <headrace/passes/u55/blend_conditions.hpp>
#include <headrace/passes/u55/number_booleans.hpp>

#include "../../support/u55_test.hpp"

using namespace headrace;

namespace {

const int_list shape{2, 3};

/// A region of one input; `build(region, input)` returns its outputs.
template <class Build>
graph* branch(graph& g, const Build& build) {
    graph& region = g.create_region();
    const value x = region.create<builtin::placeholder>({}).result();
    region.set_meta(x, {dtype::int32, shape, {}});
    const std::vector<value> outputs = build(region, x);
    region.create<builtin::output>({.values = list<value>(outputs)});
    return &region;
}
template <op_tag Op>
value make(graph& region, const args<Op>& a) {
    node& n = region.create(info_of<Op>, &a, 1);
    region.set_meta(n.result(), {dtype::int32, shape, {}});
    return n.result();
}
value condition(program& p, graph* on_true, graph* on_false, std::size_t results) {
    const value is_set = p.input(dtype::boolean, {1});
    const value x = p.input(dtype::int32, shape);
    const args<tosa::cond_if> a{is_set, list<value>(&x, 1), on_true, on_false};
    node& n = p.g.create(info_of<tosa::cond_if>, &a, results);
    for (std::uint32_t i = 0; i != results; ++i) {
        p.g.set_meta(n.result(i), {dtype::int32, shape, {}});
        if (i != 0) p.output(n.result(i));
    }
    return n.result();
}
std::vector<tensor> inputs(bool is_set) {
    return {tensor::of(dtype::boolean, {1}, std::vector<std::int64_t>{is_set ? 1 : 0}),
        any_integers(dtype::int32, shape, 5)};
}
void check(const result_builder& build) {
    for (const bool is_set : {false, true}) {
        CHECK(count_after<tosa::cond_if, blend_conditions>(for_u55_target(build)) == 0);
        CHECK_THAT(for_u55_target(build),
            computes_the_same<blend_conditions>().for_inputs(inputs(is_set)).within(0));
    }
}

}  // namespace

TEST_CASE("results are chosen from both branches") {
    check([](program& p) {
        graph* doubled = branch(p.g, [](graph& g, value x) {
            return std::vector{make<tosa::add>(g, {x, x}), x};
        });
        graph* absolute = branch(p.g, [](graph& g, value x) {
            return std::vector{x, make<tosa::abs>(g, {x})};
        });
        return condition(p, doubled, absolute, 2);
    });
}

TEST_CASE("branches may hold conditions") {
    check([](program& p) {
        graph* outer = branch(p.g, [](graph& g, value x) {
            const value zero = create_constant(g, {dtype::boolean, {1}, {}}, nullptr,
                [](std::span<std::byte> data) { data[0] = std::byte{1}; });
            graph* inner =
                branch(g, [](graph& region, value y) { return std::vector{make<tosa::abs>(region, {y})}; });
            graph* other = branch(g, [](graph&, value y) { return std::vector{y}; });
            return std::vector{make<tosa::cond_if>(g,
                {.condition = zero, .inputs = list<value>(&x, 1), .then_graph = inner, .else_graph = other})};
        });
        graph* doubled = branch(p.g, [](graph& g, value x) {
            return std::vector{make<tosa::add>(g, {x, x})};
        });
        return condition(p, outer, doubled, 1);
    });
}

TEST_CASE("branches that write variables stay") {
    const auto writes = [](program& p) {
        graph* writing = branch(p.g, [](graph& g, value x) {
            g.create<tosa::variable_write>({.input1 = x, .variable_name = "state"});
            return std::vector{x};
        });
        graph* idle = branch(p.g, [](graph&, value x) { return std::vector{x}; });
        return condition(p, writing, idle, 1);
    };
    CHECK(count_after<tosa::cond_if, blend_conditions>(for_u55_target(writes)) == 1);
}
