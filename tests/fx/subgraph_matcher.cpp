// SPDX-License-Identifier: MIT
// Tests the subgraph matcher. The numbers of matches in the first case are those of FX's SubgraphMatcher for
// the same graphs and patterns.

#include <catch2/catch.hpp>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/fx/subgraph_matcher.hpp>

#include <memory>
#include <vector>

#include "../support/toy.hpp"

using namespace headrace;

namespace {

struct builder : graph {
    value input() {
        const value v = create<builtin::placeholder>({}).result();
        set_meta(v, {dtype::float32, {2, 3}});
        set_name(v, "x" + number_text(v.producer->id));
        return v;
    }
    template <op_tag Op>
    value make(const args<Op>& a) {
        const value v = create<Op>(a).result();
        for (std::uint32_t i = 0; i != v.producer->result_count; ++i)
            set_meta({v.producer, i}, {dtype::float32, {2, 3}});
        return v;
    }
    value relu(value x) { return make<toy::relu>({.self = x}); }
    value neg(value x) { return make<toy::neg>({.self = x}); }
    value sigmoid(value x) { return make<toy::relu6>({.self = x}); }
    value add(value x, value y) { return make<toy::add>({.self = x, .other = y}); }
    value constant(float number) {
        const tensor_meta meta{dtype::float32, {2}};
        return create_constant(*this, meta, nullptr, [&](std::span<std::byte> to) {
            for (std::size_t i = 0; i != to.size(); i += sizeof number)
                std::memcpy(&to[i], &number, sizeof number);
        });
    }
    void output(std::initializer_list<value> values) { create<builtin::output>({.values = values}); }
};

pmr_vector<subgraph_match> matches(
    const graph& pattern, const graph& g, const matcher_options& options = {}) {
    auto found = subgraph_matcher(pattern, options).match(g);
    REQUIRE(found);
    return found.value();
}
template <class Build>
std::unique_ptr<builder> built(Build build) {
    auto g = std::make_unique<builder>();
    build(*g);
    return g;
}

// The numbers of matches of a pattern are listed for each of match_output and match_placeholder, with and
// without overlapping matches. `together` makes such a list.
template <class... Items>
auto together(const Items&... items) {
    return pmr_vector<std::common_type_t<Items...>>{items...};
}
using counts = pmr_vector<std::size_t>;
template <class Build, class Pattern>
counts count(Build build, Pattern pattern) {
    const auto g = built(build);
    const auto p = built(pattern);
    counts found;
    for (const bool output : {false, true}) {
        for (const bool placeholder : {false, true}) {
            for (const bool remove : {false, true}) {
                found.push_back(matches(*p, *g,
                    {.match_output = output,
                        .match_placeholder = placeholder,
                        .remove_overlapping_matches = remove})
                                    .size());
            }
        }
    }
    return found;
}

}  // namespace

TEST_CASE("the options of the matcher mean what FX's mean", "[subgraph_matcher]") {
    const auto two_negs = [](builder& g) { g.output({g.neg(g.neg(g.input()))}); };
    CHECK(count([](builder& g) { g.output({g.neg(g.neg(g.neg(g.neg(g.input()))))}); }, two_negs) ==
        counts{3, 2, 1, 1, 1, 1, 0, 0});

    const auto full = [](builder& g) {
        const value a = g.neg(g.input());
        g.output({g.add(a, a)});
    };
    CHECK(count(full, full) == counts(8, 1));
    CHECK(count(full, [](builder& g) { g.output({g.neg(g.input())}); }) == counts{1, 1, 1, 1, 0, 0, 0, 0});

    const auto diamond = [](builder& g, value x) {
        const value a = g.relu(x);
        g.output({g.add(g.sigmoid(a), g.relu(a))});
    };
    CHECK(count([&](builder& g) { diamond(g, g.neg(g.input())); },
              [&](builder& g) { diamond(g, g.input()); }) == counts{1, 1, 0, 0, 1, 1, 0, 0});

    // A value that is used outside of the match.
    const auto leaking = [](builder& g) {
        const value x = g.input(), y = g.input(), a = g.relu(x);
        g.output({g.add(a, y), g.add(a, x)});
    };
    CHECK(count(leaking, [](builder& g) {
        const value x = g.input();
        g.output({g.add(g.relu(x), g.input())});
    }) == counts(8, 0));

    // Two sinks, each with two candidates.
    const auto overlapping = [](builder& g) {
        const value x = g.relu(g.neg(g.input()));
        const value z = g.sigmoid(x), z1 = g.sigmoid(x), y = g.neg(x), y1 = g.neg(x);
        g.output({g.add(g.add(g.add(z, z1), y), y1)});
    };
    CHECK(count(overlapping, [](builder& g) {
        const value a = g.relu(g.input());
        const value b = g.neg(a);
        g.output({a, b, g.sigmoid(a)});
    }) == counts{4, 1, 0, 0, 0, 0, 0, 0});

    // One output depends on the other, and they are returned in the opposite order.
    const auto dependent = [](builder& g) {
        const value y = g.relu(g.input());
        g.output({g.neg(y), y});
    };
    CHECK(count(dependent, [](builder& g) {
        const value b = g.relu(g.input());
        g.output({b, g.neg(b)});
    }) == counts{1, 1, 1, 1, 0, 0, 0, 0});

    const auto twins = [](builder& g, value x) {
        const value a = g.relu(x);
        const value b = g.neg(a);
        g.output({b, g.neg(a)});
    };
    CHECK(count([&](builder& g) { twins(g, g.neg(g.input())); }, [&](builder& g) { twins(g, g.input()); }) ==
        counts{2, 1, 0, 0, 1, 1, 0, 0});

    // Two sinks that share only an input.
    const auto horizontal = [](builder& g) {
        const value x = g.neg(g.input());
        g.output({g.sigmoid(g.relu(x)), g.sigmoid(g.neg(x))});
    };
    CHECK(count(horizontal, [](builder& g) {
        const value a = g.input(), r = g.relu(a);
        g.output({r, g.neg(a)});
    }) == counts{1, 1, 0, 0, 0, 0, 0, 0});

    // Two placeholders are two values, and neither is part of the match.
    const auto sum = [](builder& g) {
        const value x = g.input();
        g.output({g.add(x, g.input())});
    };
    CHECK(count(
              [](builder& g) {
                  const value a = g.input();
                  g.output({g.add(a, a)});
              },
              sum) == counts(8, 0));
    CHECK(count(
              [](builder& g) {
                  const value a = g.input(), b = g.input(), c = g.input();
                  g.output({g.make<toy::cat>({.tensors = {a, b, c}})});
              },
              [](builder& g) {
                  const value a = g.input(), b = g.input();
                  g.output({g.make<toy::cat>({.tensors = {a, b}})});
              }) == counts(8, 0));
}

TEST_CASE("a match says what each part of the pattern stands for", "[subgraph_matcher]") {
    builder p;
    const value px = p.input(), py = p.input();
    const value pr = p.relu(px);
    const value ps = p.add(pr, py);
    p.set_name(pr, "activation");
    p.output({ps, pr});

    builder g;
    const value a = g.input(), b = g.neg(a), r = g.relu(b), s = g.add(r, a);
    g.output({s, r});

    const auto found = matches(p, g);
    REQUIRE(found.size() == 1);
    const subgraph_match& m = found[0];
    CHECK(m.anchors == together(s.producer));
    CHECK(m.nodes_map.size() == 4);
    CHECK(m.nodes_map.find(*pr.producer) == r.producer);
    CHECK(m.nodes_map.find(*py.producer) == a.producer);
    CHECK(m.placeholder_nodes == together(b.producer, a.producer));
    CHECK(m.placeholder_values == together(b, a));
    CHECK(m.returning_nodes == together(s.producer, r.producer));
    CHECK(m.nodes() == together(r.producer, s.producer));
    CHECK(m["activation"] == r.producer);
    CHECK(m["nothing"] == nullptr);

    CHECK(subgraph_matcher(p).match_at(*s.producer)->anchors == m.anchors);
    CHECK_FALSE(subgraph_matcher(p).match_at(*r.producer));
    CHECK(subgraph_matcher(p).pattern_anchors() == pmr_vector<const node*>{ps.producer});
}

TEST_CASE("weights are wildcards, whatever their shape", "[subgraph_matcher]") {
    // The document's example: addmm of a bias, an input and a weight.
    const auto model = [](std::int64_t size) {
        return built([&](builder& g) {
            const value bias = g.input(), weight = g.input(), x = g.input();
            g.set_meta(weight, {dtype::float32, {size, size}});
            g.output({g.make<toy::conv2d>({.input = x, .weight = weight, .bias = bias})});
        });
    };
    const auto large = model(3), pattern = model(5);
    const auto found = matches(*pattern, *large);
    REQUIRE(found.size() == 1);
    CHECK(found[0].placeholder_nodes.size() == 3);
    // Without a bias the pattern differs.
    const auto plain = built([](builder& g) {
        const value x = g.input();
        g.output({g.make<toy::conv2d>({.input = x, .weight = g.input()})});
    });
    CHECK(matches(*plain, *large).empty());
    CHECK(matches(*pattern, *plain).empty());
    CHECK(matches(*plain, *large, {.ignore_literals = true}).size() == 1);
}

TEST_CASE("literals are compared, unless they are ignored or free", "[subgraph_matcher]") {
    const auto clamp = [](scalar max) {
        return built([&](builder& g) { g.output({g.make<toy::clamp>({.self = g.input(), .max = max})}); });
    };
    const auto g = clamp(6);
    CHECK(matches(*clamp(6), *g).size() == 1);
    CHECK(matches(*clamp(5), *g).empty());
    CHECK(matches(*clamp(6.0), *g).empty());  // 6.0 is not 6
    CHECK(matches(*clamp(5), *g, {.ignore_literals = true}).size() == 1);
    const auto free = clamp(5);
    free->annotate(*free->outputs()[0].producer, matching_rule{.free_fields = 1U << 2});
    CHECK(matches(*free, *g).size() == 1);
    free->annotate(*free->outputs()[0].producer, matching_rule{.free_fields = 1U << 1});
    CHECK(matches(*free, *g).empty());
}

TEST_CASE("a placeholder stands for a literal where a binding says so", "[subgraph_matcher]") {
    const auto pattern = [](std::initializer_list<literal_binding> bindings) {
        return built([&](builder& p) {
            const value x = p.input();
            p.input();
            const value c = p.make<toy::clamp>({.self = x, .max = 0});
            const list<literal_binding> items(bindings);
            p.annotate(*c.producer, matching_rule{.literals = p.own(items)});
            p.output({c});
        });
    };
    builder g;
    const value c = g.make<toy::clamp>({.self = g.input(), .min = 0, .max = 6});
    g.output({c});
    const auto p = pattern({{.field = 2, .placeholder = 1}});
    const auto found = matches(*p, g);
    REQUIRE(found.size() == 1);
    CHECK(found[0].placeholder_nodes[1] == nullptr);
    REQUIRE(found[0].literals[1]);
    CHECK(found[0].literals[1].as<std::optional<scalar>>() == scalar(6));
    // A placeholder that is used twice must have equal arguments, and a required literal differs from an
    // optional one.
    CHECK(matches(*pattern({{.field = 1, .placeholder = 1}, {.field = 2, .placeholder = 1}}), g).empty());
    CHECK(matches(*p, g, {.match_placeholder = true}).empty());
    CHECK(subgraph_matcher(*pattern({{.field = 1, .placeholder = 7}})).fault() ==
        "a literal is bound to no placeholder");
}

TEST_CASE("operands of commutative ops match in either order", "[subgraph_matcher]") {
    builder p;
    {
        const value x = p.input(), y = p.input();
        p.output({p.add(p.relu(x), p.add(y, p.neg(x)))});
    }
    const auto graph_with = [](bool outer, bool inner) {
        return built([&](builder& g) {
            const value x = g.input(), y = g.input();
            const value n = g.neg(x);
            const value in = inner ? g.add(n, y) : g.add(y, n);
            const value r = g.relu(x);
            g.output({outer ? g.add(in, r) : g.add(r, in)});
        });
    };
    const matcher_options either{.commutative_ops = {&info_of<toy::add>}};
    for (const bool outer : {false, true}) {
        for (const bool inner : {false, true}) {
            const auto g = graph_with(outer, inner);
            CHECK(matches(p, *g).size() == (outer || inner ? 0U : 1U));
            const auto found = matches(p, *g, either);
            REQUIRE(found.size() == 1);
            CHECK(found[0].placeholder_values[1] == (++g->inputs().begin())->result());
        }
    }
    // Only the annotated node is commutative.
    p.annotate(*p.outputs()[0].producer, matching_rule{.commutative = true});
    CHECK(matches(p, *graph_with(true, false)).size() == 1);
    CHECK(matches(p, *graph_with(true, true)).empty());
}

TEST_CASE("a choice that fails later is taken back", "[subgraph_matcher]") {
    // The first order of the inner add fits by itself, but not with the nodes after it.
    builder p;
    const value x = p.input(), y = p.input();
    p.output({p.add(p.add(x, y), p.neg(y))});
    builder g;
    const value a = g.input(), b = g.input();
    g.output({g.add(g.add(a, b), g.neg(a))});
    const auto found = matches(p, g, {.commutative_ops = {&info_of<toy::add>}});
    REQUIRE(found.size() == 1);
    CHECK(found[0].placeholder_values == together(b, a));
}

TEST_CASE("constants match by kind, by elements or by one number", "[subgraph_matcher]") {
    const auto scaled = [](float number) {
        return built([&](builder& g) { g.output({g.add(g.input(), g.constant(number))}); });
    };
    const auto g = scaled(0.5F);
    CHECK(matches(*scaled(2), *g).size() == 1);  // any constant, as in FX
    CHECK(matches(*scaled(2), *g, {.match_constants = true}).empty());
    CHECK(matches(*scaled(0.5F), *g, {.match_constants = true}).size() == 1);

    const auto filled = [](scalar number) {
        return built([&](builder& p) {
            const value c = p.create<builtin::constant>({}).result();
            p.annotate(*c.producer, matching_rule{.filled_with = number});
            p.output({p.add(p.input(), c)});
        });
    };
    CHECK(matches(*filled(0.5), *g).size() == 1);
    CHECK(matches(*filled(1), *g).empty());
    CHECK(matches(*filled(0.5), *built([](builder& to) {
        const value v = to.input();
        to.output({to.add(v, to.input())});
    })).empty());
}

TEST_CASE("a constant may have other users", "[subgraph_matcher]") {
    builder p, g;
    p.output({p.relu(p.add(p.input(), p.constant(1)))});
    const value c = g.constant(1), a = g.input();
    g.output({g.relu(g.add(g.relu(g.add(a, c)), c)), c});
    CHECK(matches(p, g).size() == 2);
}

TEST_CASE("results of nodes count one by one", "[subgraph_matcher]") {
    const auto second = [](builder& g, std::uint32_t i, bool both = false) {
        const value m = g.make<toy::min_max>({.self = g.input()});
        const value r = g.relu({m.producer, i});
        if (both)
            g.output({r, {m.producer, 1 - i}});
        else
            g.output({r});
    };
    const auto p = built([&](builder& b) { second(b, 1); });
    CHECK(matches(*p, *built([&](builder& b) { second(b, 1); })).size() == 1);
    CHECK(matches(*p, *built([&](builder& b) { second(b, 0); })).empty());
    CHECK(matches(*p, *built([&](builder& b) { second(b, 1, true); })).empty());  // the other one leaks
    // A placeholder may be the second result of something.
    const auto found = matches(
        *built([](builder& b) { b.output({b.relu(b.input())}); }), *built([&](builder& b) { second(b, 1); }));
    REQUIRE(found.size() == 1);
    CHECK(found[0].placeholder_values[0].result == 1);
}

TEST_CASE("a match never needs its own results", "[subgraph_matcher]") {
    // relu -> neg -> relu6: if the ends were one node, neg would both use it and be used by it.
    builder p, g;
    const value x = p.input(), r = p.relu(x);
    p.output({r, p.sigmoid(p.input())});
    const value a = g.relu(g.input());
    g.output({a, g.sigmoid(g.neg(a))});
    CHECK(matches(p, g).empty());
    CHECK(matches(p, g, {.remove_overlapping_matches = false}).empty());
    builder h;
    const value b = h.input(), c = h.relu(b);
    h.output({h.neg(c), h.sigmoid(b)});
    CHECK(matches(p, h).empty());  // one value for two placeholders
    CHECK(matches(p, h, {.distinct_placeholders = false}).size() == 1);
}

TEST_CASE("placeholders may coincide if asked for, but not with what is matched", "[subgraph_matcher]") {
    builder p;
    const value x = p.input();
    p.output({p.add(p.relu(x), p.input())});
    const auto same = [](bool inner) {
        return built([&](builder& g) {
            const value a = g.input(), r = g.relu(a);
            g.output({g.add(r, inner ? r : a)});
        });
    };
    CHECK(matches(p, *same(false)).empty());
    CHECK(matches(p, *same(false), {.distinct_placeholders = false}).size() == 1);
    CHECK(matches(p, *same(true), {.distinct_placeholders = false}).empty());
}

TEST_CASE("matches come in execution order, whatever the order of creation", "[subgraph_matcher]") {
    builder p, g;
    p.output({p.neg(p.input())});
    const value a = g.input();
    const value late = g.neg(a);
    const value early = g.make<toy::neg>({.self = a});
    g.move_before(*early.producer, late.producer);
    g.output({late, early});
    const auto found = matches(p, g);
    REQUIRE(found.size() == 2);
    CHECK(found[0].anchors[0] == early.producer);
}

TEST_CASE("patterns that can stand for nothing are refused", "[subgraph_matcher]") {
    const auto fault = [](auto build) {
        const auto p = built(build);
        builder g;
        g.output({g.relu(g.input())});
        const auto found = subgraph_matcher(*p).match(g);
        REQUIRE_FALSE(found);
        return found.error().message;
    };
    CHECK(fault([](builder&) {}) == "pattern: it has no output");
    CHECK(fault([](builder& p) { p.output({p.input()}); }) == "pattern: it returns its placeholder x0");
    CHECK(fault([](builder& p) {
        p.input();
        p.output({p.relu(p.input())});
    }) == "pattern: its placeholder x0 is not used");
    CHECK(fault([](builder& p) {
        const value x = p.input();
        p.neg(x);
        p.output({p.relu(x)});
    }) == "pattern: its node #1 (toy.neg.default) leads to no output");
}

TEST_CASE("nested regions are graphs of their own", "[subgraph_matcher]") {
    builder p, g;
    p.output({p.neg(p.input())});
    graph& body = g.create_region();
    const value inner = body.create<builtin::placeholder>({}).result();
    const value n = body.create<toy::neg>({.self = inner}).result();
    body.create<builtin::output>({.values = {n}});
    const value a = g.input();
    g.create<toy::call>({.body = &body, .operands = {a}}, 1);
    g.output({a});
    CHECK(matches(p, g).empty());
    CHECK(matches(p, body).size() == 1);
}
