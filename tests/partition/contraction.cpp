// SPDX-License-Identifier: MIT
// Tests contraction: which nodes can become one.

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/algorithms.hpp>
#include <headrace/partition/contraction.hpp>

using namespace headrace;

namespace {

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

TEST_CASE("a cycle is reported with its nodes") {
    diamond d;
    d.tie_knot();
    const auto order = topological_order(d.g);
    REQUIRE_FALSE(order);
    CHECK(order.error().kind == error_kind::invalid);
    CHECK(order.error().message == "the graph has a cycle: a -> b -> sum -> a");
    CHECK(find_cycle(d.g) == pmr_vector<node*>{&d.a, &d.b, &d.sum});
    CHECK_FALSE(restore_order(d.g));
    CHECK_FALSE(is_acyclic(d.g));
}

TEST_CASE("an empty graph is ordered") {
    graph g;
    CHECK(topological_order(g).value().empty());
    CHECK(is_acyclic(g));
    CHECK(eliminate_dead_code(g) == 0);
}

TEST_CASE("a group that a path leaves and enters again would form a cycle") {
    diamond d;
    const auto cyclic = [&](pmr_vector<node*> group) {
        const bool answer = would_form_cycle(d.g, group);
        CHECK(answer != is_acyclic(d.g, pmr_vector<node_group>{group}));
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
    // Two chains: x -> a -> b and x -> c -> e. Joined, {a, e} leads from c back to b.
    graph g;
    node& x = g.create<builtin::placeholder>({});
    node& a = g.create<aten::relu>({.self = x.result()});
    node& b = g.create<aten::relu>({.self = a.result()});
    node& c = g.create<aten::relu>({.self = x.result()});
    node& e = g.create<aten::relu>({.self = c.result()});
    g.create<builtin::output>({.values = {b.result(), e.result()}});
    const pmr_vector<node_group> others{{&a, &e}};
    const pmr_vector<node*> ends{&c, &b};
    CHECK_FALSE(would_form_cycle(g, ends));
    CHECK(would_form_cycle(g, ends, others));
    CHECK(is_acyclic(g, others));
    CHECK_FALSE(is_acyclic(g, pmr_vector<node_group>{{&a, &e}, {&c, &b}}));
}

TEST_CASE("components join nodes along operands, either way") {
    diamond d;
    const pmr_vector<node*> all{&d.x, &d.a, &d.b, &d.c, &d.sum};
    CHECK(connected_components(d.g, all) == pmr_vector<node_group>{all});
    const pmr_vector<node*> apart{&d.c, &d.a, &d.b};
    CHECK(connected_components(d.g, apart) == pmr_vector<node_group>{{&d.c}, {&d.a, &d.b}});
    const pmr_vector<node*> joined{&d.b, &d.c, &d.sum};
    CHECK(connected_components(d.g, joined) == pmr_vector<node_group>{joined});
    CHECK(connected_components(d.g, {}).empty());
}

TEST_CASE("components join where the caller says so, which is asked once of each edge") {
    diamond d;
    const pmr_vector<node*> all{&d.x, &d.a, &d.b, &d.c, &d.sum};
    pmr_vector<const edge*> asked;
    const auto components = connected_components(d.g, all, [&](const edge& e) {
        asked.push_back(&e);
        return e.source != &d.x && e.target != &d.sum;
    });
    CHECK(components == pmr_vector<node_group>{{&d.x}, {&d.a, &d.b}, {&d.c}, {&d.sum}});
    CHECK(asked.size() == 5);
    std::sort(asked.begin(), asked.end());
    CHECK(std::adjacent_find(asked.begin(), asked.end()) == asked.end());
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
