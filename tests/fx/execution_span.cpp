// SPDX-License-Identifier: MIT
// Tests execution_span: the positions of nodes in the execution order, and the nodes in between.

#include <catch2/catch.hpp>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/fx/execution_span.hpp>
#include <headrace/ir/graph.hpp>

#include "../support/toy.hpp"

using namespace headrace;
using detail::execution_span;

namespace {

// x -> a -> b -> c, and a -> side, which c does not use.
struct chain : graph {
    chain() {
        x = &create<builtin::placeholder>({});
        a = &create<toy::relu>({x->result()});
        b = &create<toy::neg>({a->result()});
        side = &create<toy::relu6>({a->result()});
        c = &create<toy::add>({b->result(), a->result()});
        create<builtin::output>({.values = {c->result(), side->result()}});
    }
    node *x, *a, *b, *side, *c;
};
using nodes = pmr_vector<node*>;

}  // namespace

TEST_CASE("a span reaches from the first to the last of its nodes", "[execution_span]") {
    const chain g;
    for (const nodes& order : {nodes{g.a, g.b, g.c}, nodes{g.c, g.b, g.a}, nodes{g.b, g.c, g.a, g.b}}) {
        const execution_span s(order);
        CHECK(s.first() == g.a);
        CHECK(s.last() == g.c);
    }
    CHECK(execution_span(nodes{g.b}).first() == execution_span(nodes{g.b}).last());
    CHECK(execution_span({}).first() == nullptr);
}

TEST_CASE("nodes that a path leaves and enters again are not convex", "[execution_span]") {
    const chain g;
    CHECK(execution_span(nodes{g.a, g.b, g.c}).convex());
    CHECK(execution_span(nodes{g.a, g.side}).convex());
    CHECK_FALSE(execution_span(nodes{g.a, g.c}).convex());
    CHECK(execution_span(nodes{}).convex());
}

TEST_CASE("users between the nodes are those that depend on them", "[execution_span]") {
    chain g;
    CHECK(execution_span(nodes{g.a, g.b, g.c}).users_between() == nodes{g.side});
    // A node in between that does not depend on them is not a user.
    node& other = g.create<toy::neg>({g.x->result()}, g.c);
    CHECK(execution_span(nodes{g.b, g.c}).users_between().empty());
    CHECK(execution_span(nodes{g.a, g.b, g.c, &other}).users_between() == nodes{g.side});
}

TEST_CASE("constants do not count, wherever they lie", "[execution_span]") {
    chain g;
    const value late = create_constant(g, {dtype::float32, {1}, {}}, nullptr, [](std::span<std::byte>) {});
    const execution_span s(nodes{g.a, late.producer, g.b});
    CHECK(s.first() == g.a);
    CHECK(s.last() == g.b);
    CHECK(execution_span(nodes{late.producer}).first() == nullptr);
}

TEST_CASE("nodes of two graphs have an end all the same", "[execution_span]") {
    const chain g, h;
    const execution_span s(nodes{g.a, h.c});
    CHECK(s.first() != nullptr);
    CHECK(s.convex());
}
