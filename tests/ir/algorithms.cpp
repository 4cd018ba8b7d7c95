// SPDX-License-Identifier: MIT
// Tests topological order and dead code elimination.

#include <catch2/catch.hpp>

#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/algorithms.hpp>
#include <headrace/ir/purity.hpp>

using namespace headrace;

namespace {

pmr_vector<node*> order_of(const graph& g) {
    pmr_vector<node*> order;
    for (node& n : g.nodes()) order.push_back(&n);
    return order;
}

// x -> a -> b -> sum -> output, and x -> c -> sum.
struct diamond {
    graph g;
    node& x = named(g.create<builtin::placeholder>({}), "x");
    node& a = named(g.create<aten::relu>({.self = x.result()}), "a");
    node& b = named(g.create<aten::relu>({.self = a.result()}), "b");
    node& c = named(g.create<aten::relu>({.self = x.result()}), "c");
    node& sum = named(g.create<aten::add_tensor>({.self = b.result(), .other = c.result()}), "sum");
    node& out = g.create<builtin::output>({.values = {sum.result()}});

    node& named(node& n, std::string_view name) {
        g.set_name(n.result(), name);
        return n;
    }
    void tie_knot() { g.set_operand(a.operands[0], sum.result()); }
};

TEST_CASE("move_before changes the order alone") {
    diamond d;
    d.g.move_before(d.c, &d.a);
    CHECK(order_of(d.g) == pmr_vector<node*>{&d.x, &d.c, &d.a, &d.b, &d.sum, &d.out});
    d.g.move_before(d.x, nullptr);
    d.g.move_before(d.x, &d.x);
    CHECK(d.g.last() == &d.x);
    CHECK(d.g.first() == &d.c);
    CHECK(d.g.size() == 6);
    CHECK(d.g.census().count(info_of<aten::relu>) == 3);
    CHECK(use_count(d.x.result()) == 2);
}

TEST_CASE("a sound order is its own topological order") {
    diamond d;
    CHECK(is_ordered(d.g));
    CHECK(topological_order(d.g).value() == order_of(d.g));
    REQUIRE(restore_order(d.g));
    CHECK(order_of(d.g) == pmr_vector<node*>{&d.x, &d.a, &d.b, &d.c, &d.sum, &d.out});
    CHECK(find_cycle(d.g).empty());
}

TEST_CASE("restore_order moves what lies wrong, and the output node last") {
    diamond d;
    d.g.move_before(d.a, nullptr);
    CHECK_FALSE(is_ordered(d.g));
    REQUIRE(restore_order(d.g));
    CHECK(is_ordered(d.g));
    CHECK(order_of(d.g) == pmr_vector<node*>{&d.x, &d.a, &d.b, &d.c, &d.sum, &d.out});

    node& late = d.g.create<aten::relu>({.self = d.x.result()});
    CHECK(is_ordered(d.g));
    REQUIRE(restore_order(d.g));
    CHECK(d.g.last() == &d.out);
    CHECK(d.out.previous == &late);
}

TEST_CASE("dead code goes, placeholders and effects stay") {
    diamond d;
    node& unused = d.g.create<builtin::placeholder>({}, &d.x);
    node& dead = d.g.create<aten::relu>({.self = d.b.result()}, &d.out);
    d.g.create<aten::relu>({.self = dead.result()}, &d.out);
    node& in_place = d.g.create<aten::relu_inplace>({.self = d.c.result()}, &d.out);
    node& written = d.g.create<aten::relu>({.self = d.c.result()}, &d.out);
    node& write =
        d.g.create<tosa::variable_write>({.input1 = written.result(), .variable_name = "state"}, &d.out);
    CHECK(eliminate_dead_code(d.g) == 2);
    CHECK(order_of(d.g) ==
        pmr_vector<node*>{&unused, &d.x, &d.a, &d.b, &d.c, &d.sum, &in_place, &written, &write, &d.out});
    CHECK(eliminate_dead_code(d.g) == 0);
}

TEST_CASE("a chain of dead nodes goes at once, and so does what another graph alone held") {
    graph g;
    node& p = g.create<builtin::placeholder>({});
    value last = p.result();
    for (int i = 0; i != 1000; ++i) last = g.create<aten::relu>({.self = last}).result();
    node& out = g.create<builtin::output>({.values = {p.result()}});
    CHECK(eliminate_dead_code(g) == 1000);
    CHECK(order_of(g) == pmr_vector<node*>{&p, &out});
    CHECK(p.uses().begin() != p.uses().end());
}

TEST_CASE("only ops that change something have effects") {
    STATIC_REQUIRE(has_effects(info_of<builtin::output>));
    STATIC_REQUIRE(has_effects(info_of<aten::relu_inplace>));
    STATIC_REQUIRE(has_effects(info_of<tosa::variable_write>));
    STATIC_REQUIRE_FALSE(has_effects(info_of<aten::relu>));
    STATIC_REQUIRE_FALSE(has_effects(info_of<builtin::constant>));
}

TEST_CASE("dead code goes from regions too, and from those that nothing holds all of it") {
    graph g;
    node& p = g.create<builtin::placeholder>({});
    graph& first = g.create_region();
    graph& second = g.create_region();
    for (graph* region : {&first, &second}) {
        node& x = region->create<builtin::placeholder>({});
        region->create<aten::relu>({.self = x.result()});
        region->create<builtin::output>({.values = {x.result()}});
    }
    using branch = higher_order::cond;
    node& held = g.create<branch>({p.result(), &first, &second, {p.result()}}, 1);
    g.create<builtin::output>({.values = {held.result()}});
    CHECK(eliminate_dead_code(g) == 2);
    CHECK(first.size() == 2);

    g.replace_all_uses(held.result(), p.result());
    CHECK(eliminate_dead_code(g) == 1 + 2 + 2);
    CHECK(first.size() == 0);
    CHECK(g.census().present(info_of_dialect<aten::dialect>)[0] == 0);
}

TEST_CASE("an op has the effects of its regions") {
    graph g;
    node& p = g.create<builtin::placeholder>({});
    graph& region = g.create_region();
    node& x = region.create<builtin::placeholder>({});
    region.create<tosa::variable_write>({.input1 = x.result(), .variable_name = "state"});
    region.create<builtin::output>({.values = {x.result()}});
    using wrapped = higher_order::wrap_with_set_grad_enabled;
    g.create<wrapped>({false, &region, {p.result()}}, 1);
    g.create<builtin::output>({.values = {p.result()}});
    CHECK(eliminate_dead_code(g) == 0);
    CHECK(region.size() == 3);
}

}  // namespace
