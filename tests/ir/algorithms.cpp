// SPDX-License-Identifier: MIT
// Tests of order and dead code.

#include <catch2/catch.hpp>

#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/algorithms.hpp>

using namespace headrace;

namespace {

std::pmr::vector<node*> order_of(const graph& g) {
    std::pmr::vector<node*> order;
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
    CHECK(order_of(d.g) == std::pmr::vector<node*>{&d.x, &d.c, &d.a, &d.b, &d.sum, &d.out});
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
    CHECK(order_of(d.g) == std::pmr::vector<node*>{&d.x, &d.a, &d.b, &d.c, &d.sum, &d.out});
    CHECK(find_cycle(d.g).empty());
}

TEST_CASE("restore_order moves what lies wrong, and the output node last") {
    diamond d;
    d.g.move_before(d.a, nullptr);
    CHECK_FALSE(is_ordered(d.g));
    REQUIRE(restore_order(d.g));
    CHECK(is_ordered(d.g));
    CHECK(order_of(d.g) == std::pmr::vector<node*>{&d.x, &d.a, &d.b, &d.c, &d.sum, &d.out});

    node& late = d.g.create<aten::relu>({.self = d.x.result()});
    CHECK(is_ordered(d.g));
    REQUIRE(restore_order(d.g));
    CHECK(d.g.last() == &d.out);
    CHECK(d.out.previous == &late);
}

TEST_CASE("a cycle is reported with its nodes") {
    diamond d;
    d.tie_knot();
    const auto order = topological_order(d.g);
    REQUIRE_FALSE(order);
    CHECK(order.error().kind == error_kind::invalid);
    CHECK(order.error().message == "the graph has a cycle: a -> b -> sum -> a");
    CHECK(find_cycle(d.g) == std::pmr::vector<node*>{&d.a, &d.b, &d.sum});
    CHECK_FALSE(restore_order(d.g));
    CHECK_FALSE(is_acyclic(d.g));
}

TEST_CASE("an empty graph is ordered") {
    graph g;
    CHECK(topological_order(g).value().empty());
    CHECK(is_acyclic(g));
    CHECK(eliminate_dead_code(g) == 0);
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
    CHECK(order_of(d.g) == std::pmr::vector<node*>{&unused, &d.x, &d.a, &d.b, &d.c, &d.sum, &in_place,
                                                   &written, &write, &d.out});
    CHECK(eliminate_dead_code(d.g) == 0);
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

TEST_CASE("a group that a path leaves and enters again would form a cycle") {
    diamond d;
    const auto cyclic = [&](std::pmr::vector<node*> group) {
        const bool answer = would_form_cycle(d.g, group);
        CHECK(answer != is_acyclic(d.g, std::pmr::vector<node_group>{group}));
        return answer;
    };
    CHECK_FALSE(cyclic({}));
    CHECK_FALSE(cyclic({&d.a}));
    CHECK_FALSE(cyclic({&d.a, &d.b}));
    CHECK_FALSE(cyclic({&d.a, &d.c}));
    CHECK_FALSE(cyclic({&d.x, &d.a, &d.b, &d.c, &d.sum}));
    CHECK(cyclic({&d.x, &d.b}));
    CHECK(cyclic({&d.a, &d.sum}));
    CHECK(cyclic({&d.x, &d.a, &d.b, &d.sum}));
}

TEST_CASE("groups that are one node already count as one") {
    // Two chains: x -> a -> b and x -> c -> e. {a, e} as one node leads from c's side back to b.
    graph g;
    node& x = g.create<builtin::placeholder>({});
    node& a = g.create<aten::relu>({.self = x.result()});
    node& b = g.create<aten::relu>({.self = a.result()});
    node& c = g.create<aten::relu>({.self = x.result()});
    node& e = g.create<aten::relu>({.self = c.result()});
    g.create<builtin::output>({.values = {b.result(), e.result()}});
    const std::pmr::vector<node_group> others{{&a, &e}};
    const std::pmr::vector<node*> ends{&c, &b};
    CHECK_FALSE(would_form_cycle(g, ends));
    CHECK(would_form_cycle(g, ends, others));
    CHECK(is_acyclic(g, others));
    CHECK_FALSE(is_acyclic(g, std::pmr::vector<node_group>{{&a, &e}, {&c, &b}}));
}

TEST_CASE("components join nodes along operands, either way") {
    diamond d;
    const std::pmr::vector<node*> all{&d.x, &d.a, &d.b, &d.c, &d.sum};
    CHECK(connected_components(d.g, all) == std::pmr::vector<node_group>{all});
    const std::pmr::vector<node*> apart{&d.c, &d.a, &d.b};
    CHECK(connected_components(d.g, apart) == std::pmr::vector<node_group>{{&d.c}, {&d.a, &d.b}});
    const std::pmr::vector<node*> joined{&d.b, &d.c, &d.sum};
    CHECK(connected_components(d.g, joined) == std::pmr::vector<node_group>{joined});
    CHECK(connected_components(d.g, {}).empty());
}

TEST_CASE("the searches do not recurse") {
    graph g;
    node* last = &g.create<builtin::placeholder>({});
    for (int i = 0; i != 200000; ++i) last = &g.create<aten::relu>({.self = last->result()});
    g.create<builtin::output>({.values = {last->result()}});
    CHECK(topological_order(g).value().size() == g.size());
    CHECK(is_acyclic(g));
    CHECK(eliminate_dead_code(g) == 0);
}

}  // namespace
