// SPDX-License-Identifier: MIT
// Tests the two drivers: each case runs through both, and both must give the same graph.

#include <catch2/catch.hpp>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/rewrite/emit.hpp>

#include <headrace/pass/pipeline.hpp>

#include "../support/same_graph.hpp"
#include "../support/toy.hpp"

using namespace headrace;

namespace {

result<void> infer_toy(const node& n, inference& out) {
    const inference_rule rule = find_rule<toy::dialect>(*n.op);
    if (rule == nullptr) return invalid("no rule");
    return rule(n.arguments, out);
}

template <class Build>
void fill(graph& g, Build& build) {
    node& x = g.create<builtin::placeholder>({});
    g.set_meta(x.result(), {dtype::float32, {2, 3}});
    g.set_name(x.result(), "x");
    const auto values = build(g, x.result());
    g.create<builtin::output>({.values = list<value>(values.data(), values.size())});
}

template <op_tag Op>
value add_node(graph& g, const args<Op>& a, std::size_t results = 1) {
    node& n = [&]() -> node& {
        if constexpr (Op::results == variadic_results)
            return g.create<Op>(a, results);
        else
            return g.create<Op>(a);
    }();
    inference out(g.arena());
    if constexpr (inferable<Op>) {
        REQUIRE(infer_op<Op>(a, out));
        for (std::uint32_t i = 0; i != n.result_count; ++i) g.set_meta(n.result(i), out.results()[i]);
    }
    return n.result();
}

struct outcome {
    node_counts in_place, retracing;
    std::size_t size = 0;
    std::size_t refusals = 0;
};

// Runs a pass over two copies of a graph, and compares.
template <class P, class Build>
outcome run_both(Build build, graph& a) {
    graph b;
    fill(a, build);
    fill(b, build);
    REQUIRE(difference(a, b) == "");
    pass_context ca(&infer_toy), cb(&infer_toy);
    auto ra = apply_pass(P{}, a, ca, driver_kind::in_place);
    auto rb = apply_pass(P{}, b, cb, driver_kind::retracing);
    REQUIRE(ra);
    REQUIRE(rb);
    CHECK(difference(a, b) == "");
    CHECK(ca.diagnostics().size() == cb.diagnostics().size());
    return {ra.value(), rb.value(), a.size(), ca.diagnostics().size()};
}

struct one_to_one : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const { return e.make<toy::clamp>(a.self); }
};
struct one_to_many : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::neg, toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const {
        return e.make<toy::neg>({.self = e.make<toy::clamp>({.self = e.make<toy::neg>({.self = a.self})})});
    }
};
struct removal : pass {
    using targets = ops<toy::identity>;
    value operator()(const args<toy::identity>& a, emit<ops<>>&) const { return a.self; }
};
// Declines after it has made nodes, which must be removed.
struct decline : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::neg>;
    std::optional<value> operator()(const args<toy::relu>& a, emit<produces>& e) const {
        static_cast<void>(e.make<toy::neg>({.self = e.make<toy::neg>({.self = a.self})}));
        return std::nullopt;
    }
};
struct refuse : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::neg>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const {
        static_cast<void>(e.make<toy::neg>({.self = a.self}));
        return e.unsupported("relu is refused");
    }
};
struct wasteful : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::neg, toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const {
        static_cast<void>(e.make<toy::neg>({.self = a.self}));
        return e.make<toy::clamp>({.self = a.self});
    }
};
struct tuple_result : pass {
    using targets = ops<toy::min_max>;
    using produces = ops<toy::neg, toy::relu>;
    std::tuple<value, value> operator()(const args<toy::min_max>& a, emit<produces>& e) const {
        return {e.make<toy::neg>({.self = a.self}), e.make<toy::relu>({.self = a.self})};
    }
};
struct first_result_alone : pass {
    using targeted_ops = ops<toy::min_max>;
    using produces = ops<toy::neg>;
    std::tuple<value, value> operator()(const args<toy::min_max>& a, emit<produces>& e) const {
        return {e.make<toy::neg>(a.self), {}};
    }
};
struct list_result : pass {
    using targets = ops<toy::split>;
    using produces = ops<toy::neg>;
    value_list operator()(const args<toy::split>& a, emit<produces>& e) const {
        value_list parts;
        for (std::int64_t i = 0; i != a.count; ++i) parts.push_back(e.make<toy::neg>({.self = a.self}));
        return parts;
    }
};
struct drop_second_operand : pass {
    using targets = ops<toy::add>;
    value operator()(const args<toy::add>& a, emit<ops<>>&) const { return a.self; }
};
struct reshaping : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::sum>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const {
        return e.make<toy::sum>({.self = a.self});
    }
};
// Emits ops that it targets itself: the new nodes are not visited again.
struct relu_to_relus : pass {
    using targets = ops<toy::relu, toy::relu6>;
    using produces = ops<toy::relu, toy::relu6>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const {
        return e.make<toy::relu6>({.self = a.self});
    }
    value operator()(const args<toy::relu6>& a, emit<produces>& e) const {
        return e.make<toy::relu>({.self = a.self});
    }
};

using values = pmr_vector<value>;

}  // namespace

TEST_CASE("one node becomes one, or several", "[driver]") {
    const auto two_relus = [](graph& g, value x) {
        return values{add_node<toy::relu>(g, {.self = add_node<toy::relu>(g, {.self = x})})};
    };
    graph g;
    const outcome o = run_both<one_to_one>(two_relus, g);
    CHECK(o.in_place.rewritten == 2);
    CHECK(o.retracing.rewritten == 2);
    CHECK(o.retracing.copied == 2);
    CHECK(g.census().count(info_of<toy::clamp>) == 2);
    CHECK(g.census().count(info_of<toy::relu>) == 0);
    CHECK(meta_of(g.outputs()[0])->shape == int_list{2, 3});

    graph h;
    CHECK(run_both<one_to_many>(two_relus, h).size == 8);
    graph k;
    run_both<relu_to_relus>(two_relus, k);
    CHECK(k.census().count(info_of<toy::relu6>) == 2);
}

TEST_CASE("a node is removed, and its users use its operand", "[driver]") {
    graph g;
    const outcome o = run_both<removal>(
        [](graph& to, value x) { return values{add_node<toy::identity>(to, {.self = x})}; }, g);
    CHECK(o.size == 2);
    CHECK(is<builtin::placeholder>(*g.outputs()[0].producer));
    CHECK(g.outputs()[0].producer->name() == "x");
}

TEST_CASE("what a handler makes in vain does not stay", "[driver]") {
    const auto relu = [](graph& g, value x) { return values{add_node<toy::relu>(g, {.self = x})}; };
    graph a, b, c;
    const outcome declined = run_both<decline>(relu, a);
    CHECK(declined.size == 3);
    CHECK(declined.in_place.declined == 1);
    CHECK(declined.retracing.declined == 1);
    const outcome refused = run_both<refuse>(relu, b);
    CHECK(refused.size == 3);
    CHECK(refused.refusals == 1);
    CHECK(run_both<wasteful>(relu, c).size == 3);
    CHECK(a.census().count(info_of<toy::neg>) == 0);
}

TEST_CASE("several results: a tuple, or a list", "[driver]") {
    graph g;
    run_both<tuple_result>(
        [](graph& to, value x) {
            node& n = *add_node<toy::min_max>(to, {.self = x}).producer;
            return values{n.result(1), n.result(0)};
        },
        g);
    CHECK(is<toy::relu>(*g.outputs()[0].producer));
    CHECK(is<toy::neg>(*g.outputs()[1].producer));
    graph h;
    const outcome o = run_both<list_result>(
        [](graph& to, value x) {
            node& n = *add_node<toy::split>(to, {.self = x, .count = 3}, 3).producer;
            return values{n.result(2), n.result(0)};
        },
        h);
    CHECK(o.size == 4);  // nothing uses the second part
}

TEST_CASE("a result that a pass gives no value for may not be used", "[driver]") {
    const auto results = [](bool second) {
        return [second](graph& to, value x) {
            node& n = *add_node<toy::min_max>(to, {.self = x}).producer;
            return second ? values{n.result(0), n.result(1)} : values{n.result(0)};
        };
    };
    graph g, h;
    CHECK(run_both<first_result_alone>(results(false), g).refusals == 0);
    CHECK(g.census().count(info_of<toy::neg>) == 1);
    const outcome refused = run_both<first_result_alone>(results(true), h);
    CHECK(refused.refusals == 1);
    CHECK(refused.size == 3);  // the nodes that the pass made are gone
}

TEST_CASE("operands that nothing uses any more are cleaned, unused nodes of before are not", "[driver]") {
    graph g;
    const outcome o = run_both<drop_second_operand>(
        [](graph& to, value x) {
            add_node<toy::sum>(to, {.self = x});  // unused, and not the concern of this pass
            const value second = add_node<toy::neg>(to, {.self = add_node<toy::relu>(to, {.self = x})});
            return values{add_node<toy::add>(to, {.self = x, .other = second})};
        },
        g);
    CHECK(o.size == 3);
    CHECK(g.census().count(info_of<toy::sum>) == 1);
    CHECK(g.census().count(info_of<toy::relu>) == 0);
}

TEST_CASE("a target that nothing uses is replaced by nothing", "[driver]") {
    graph g;
    const outcome o = run_both<one_to_one>(
        [](graph& to, value x) {
            add_node<toy::relu>(to, {.self = x});
            return values{x};
        },
        g);
    CHECK(o.size == 2);
    graph h;
    CHECK(run_both<decline>(
              [](graph& to, value x) {
                  add_node<toy::relu>(to, {.self = x});
                  return values{x};
              },
              h)
              .size == 3);
}

TEST_CASE("retracing infers nodes without val, and handlers of targets see it", "[driver]") {
    graph g;
    auto build = [](graph& to, value x) {
        const value n = to.create<toy::neg>({.self = x}).result();
        return values{to.create<toy::relu>({.self = n}).result()};
    };
    fill(g, build);
    pass_context context(&infer_toy);
    const auto counts = apply_pass(one_to_one{}, g, context, driver_kind::retracing);
    REQUIRE(counts);
    CHECK(counts.value().inferred == 1);
    CHECK(counts.value().rewritten == 1);
    CHECK(meta_of(g.outputs()[0])->shape == int_list{2, 3});

    graph h;
    fill(h, build);
    pass_context without;
    CHECK_FALSE(apply_pass(one_to_one{}, h, without, driver_kind::retracing));
}

TEST_CASE("nested regions are rewritten, those of erased nodes are not", "[driver]") {
    graph g;
    const outcome o = run_both<one_to_one>(
        [](graph& to, value x) {
            graph& body = to.create_region();
            auto inner = [](graph& in, value y) { return values{add_node<toy::relu>(in, {.self = y})}; };
            fill(body, inner);
            graph& dead = to.create_region();
            fill(dead, inner);
            node& gone = to.create<toy::call>({.body = &dead, .operands = {x}}, 1);
            to.erase(gone);
            node& n = to.create<toy::call>({.body = &body, .operands = {x}}, 1);
            to.set_meta(n.result(), {dtype::float32, {2, 3}});
            return values{n.result()};
        },
        g);
    CHECK(o.in_place.rewritten == 1);
    CHECK(o.retracing.rewritten == 1);
    CHECK(o.size == 3);
}

TEST_CASE("a replacement of another shape, or for too few results, is a fault of the pass", "[driver]") {
    for (const driver_kind driver : {driver_kind::in_place, driver_kind::retracing}) {
        graph g;
        auto build = [](graph& to, value x) { return values{add_node<toy::relu>(to, {.self = x})}; };
        fill(g, build);
        pass_context context(&infer_toy);
        const auto counts = apply_pass(reshaping{}, g, context, driver);
        REQUIRE_FALSE(counts);
        CHECK(counts.error().message.find("changed the shape") != std::pmr::string::npos);
        CHECK(counts.error().message.find("reshaping") != std::pmr::string::npos);
    }
}

TEST_CASE("retracing keeps the order of inputs", "[driver]") {
    graph g;
    node& a = g.create<builtin::placeholder>({});
    node& b = g.create<builtin::placeholder>({}, &a);  // created later, executed earlier
    for (node* n : {&a, &b}) g.set_meta(n->result(), {dtype::float32, {1}});
    g.set_name(a.result(), "a");
    g.set_name(b.result(), "b");
    g.create<builtin::output>({.values = {a.result(), b.result()}});
    pass_context context;
    REQUIRE(apply_pass(one_to_one{}, g, context, driver_kind::retracing));
    CHECK(g.inputs().begin()->name() == "a");
}
