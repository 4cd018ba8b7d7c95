// SPDX-License-Identifier: MIT
// Tests rewrites of patterns as passes of static pipelines.

#include <catch2/catch.hpp>

#include <headrace/fx/pattern_pass.hpp>

#include <headrace/pass/pipeline.hpp>

#include "../support/same_graph.hpp"
#include "../support/toy.hpp"

using namespace headrace;

namespace {

// The document's examples, with the ops of the toy dialect.
struct relu_of_sum {
    static constexpr std::string_view name = "relu of a sum";
    constexpr auto operator()(auto x, auto y) const { return call<toy::relu>(call<toy::add>(x, y)); }
};
struct clamped_sum {
    constexpr auto operator()(auto x, auto y) const { return call<toy::clamp>(call<toy::add>(x, y)); }
};
struct fuse : pattern_pass<relu_of_sum, clamped_sum> {};

struct any_relu6 {
    constexpr auto operator()(auto x) const { return call<toy::relu6>(x); }
};
struct as_clamp {
    constexpr auto operator()(auto x) const { return call<toy::clamp>(x, 0, 6); }
};
struct lower_relu6 : pattern_pass<any_relu6, as_clamp> {};

struct emits_clamp {
    value operator()(const subgraph_match& m, emit<ops<toy::clamp>>& e) const {
        return e.make<toy::clamp>({.self = m.placeholder_values[0], .max = 6});
    }
};
struct lower_by_emitting : pattern_pass<any_relu6, emits_clamp> {};
struct emits_perhaps {
    std::optional<value> operator()(const subgraph_match& m, emit<ops<toy::clamp>>& e) const {
        return e.make<toy::clamp>({.self = m.placeholder_values[0]});
    }
};
struct lower_perhaps : pattern_pass<any_relu6, emits_perhaps> {};

struct never {
    bool operator()(const subgraph_match&, const graph&, const graph&) const { return false; }
};
struct lower_never : pattern_pass<any_relu6, as_clamp, never> {};

// Facts that are known at compile time.
static_assert(graph_pass<fuse>);
static_assert(std::is_same_v<targets_of<fuse>, ops<toy::relu>>);
static_assert(std::is_same_v<produces_of<fuse>, ops<toy::clamp, toy::add>>);
static_assert(removes_of<fuse>::size == 0);  // a relu of another operand stays
static_assert(effects_of<lower_relu6>::removed_set == ops_in<toy::relu6>);
static_assert(effects_of<lower_by_emitting>::removed_set == ops_in<toy::relu6>);
static_assert(removes_of<lower_perhaps>::size == 0);
static_assert(removes_of<lower_never>::size == 0);

template <class F>
constexpr bool matches_all = detail::matches_every_node<typename detail::pattern_facts<F>::expression>;
template <class F>
constexpr bool always(F) {
    return matches_all<F>;
}
static_assert(always([](auto x, auto y) { return call<toy::add>(x, y); }));
static_assert(!always([](auto x) { return call<toy::add>(x, x); }));
static_assert(!always([](auto x) { return call<toy::add>(x, call<toy::neg>(x)); }));
static_assert(!always([](auto x) { return call<toy::clamp>(x); }));
static_assert(always([](auto x) { return any_literals(call<toy::clamp>(x)); }));
static_assert(always([](auto x, auto min) { return call<toy::clamp>(x, min, any_literal); }));
static_assert(!always([](auto x, auto min) { return call<toy::clamp>(x, min, min); }));
static_assert(
    !always([](auto x, auto w) { return any_literals(call<toy::conv2d>(x, w)); }));  // the bias is optional
static_assert(!always([](auto x, auto y) { return any_literals(call<toy::cat>(tensors(x, y))); }));
static_assert(!always([](auto x) { return call<toy::min_max>(x); }));

struct lowering : pipeline<from<toy::relu, toy::relu6, toy::add, toy::call>,
                      to<toy::relu, toy::clamp, toy::add, toy::call>, fuse, lower_relu6> {};
static_assert(lowering::supported.contains<toy::relu6>());
static_assert(lowering::dead_pass_count == 0);

struct double_neg {
    static constexpr std::string_view name = "double negation";
    constexpr auto operator()(auto x) const { return call<toy::neg>(call<toy::neg>(x)); }
};
struct itself {
    constexpr auto operator()(auto x) const { return x; }
};
struct drop_double_neg : pattern_pass<double_neg, itself> {};
struct relu_of_neg {
    constexpr auto operator()(auto x) const { return call<toy::relu>(call<toy::neg>(x)); }
};
struct just_neg {
    constexpr auto operator()(auto x) const { return call<toy::neg>(x); }
};
struct drop_relu : pattern_pass<relu_of_neg, just_neg> {};
struct simplify : to_fixed_point<drop_double_neg, drop_relu> {};
static_assert(std::is_same_v<targets_of<simplify>, ops<toy::neg, toy::relu>>);

struct to_relu {
    constexpr auto operator()(auto x) const { return call<toy::relu>(x); }
};
struct relu_again : pattern_pass<to_relu, to_relu> {};
struct endless : to_fixed_point<relu_again> {};

void fill(graph& g) {
    const auto meta = [&](node& n) {
        g.set_meta(n.result(), {dtype::float32, {2, 3}});
        return n.result();
    };
    const value x = meta(g.create<builtin::placeholder>({}));
    const value sum = meta(g.create<toy::add>({.self = x, .other = x}));
    const value r = meta(g.create<toy::relu>({.self = sum}));
    graph& body = g.create_region();
    const value inner = body.create<builtin::placeholder>({}).result();
    body.set_meta(inner, {dtype::float32, {2, 3}});
    const value six = body.create<toy::relu6>({.self = inner}).result();
    body.set_meta(six, {dtype::float32, {2, 3}});
    body.create<builtin::output>({.values = {six}});
    const value called = meta(g.create<toy::call>({.body = &body, .operands = {r}}, 1));
    const value last = meta(g.create<toy::relu>({.self = called}));
    g.create<builtin::output>({.values = {last}});
}

}  // namespace

TEST_CASE("pattern passes run in a pipeline, the same under both drivers", "[pattern_pass]") {
    graph a, b;
    for (graph* g : {&a, &b}) {
        fill(*g);
        pass_context context;
        const auto done =
            lowering::run(*g, context, {.driver = g == &a ? driver_kind::in_place : driver_kind::retracing});
        REQUIRE(done);
        CHECK(done.value()[0].nodes.rewritten == 1);
        CHECK(done.value()[1].nodes.rewritten == 1);
        CHECK(g->census().count(info_of<toy::clamp>) == 1);
        CHECK(g->census().count(info_of<toy::relu>) == 1);
        for (graph& region : g->regions()) CHECK(region.census().count(info_of<toy::clamp>) == 1);
    }
    CHECK(difference(a, b) == "");
}

TEST_CASE("a pattern pass is skipped where its op is missing", "[pattern_pass]") {
    graph g;
    const value x = g.create<builtin::placeholder>({}).result();
    g.create<builtin::output>({.values = {x}});
    pass_context context;
    const auto done = lowering::run(g, context);
    REQUIRE(done);
    CHECK(done.value()[0].status == pass_status::no_target);
    CHECK(done.value()[1].status == pass_status::no_target);
}

TEST_CASE("filters and emitting replacements of pattern passes", "[pattern_pass]") {
    const auto rewritten = [](auto pass) {
        graph g;
        fill(g);
        pass_context context;
        return apply_pass(pass, g, context).value().rewritten;
    };
    CHECK(rewritten(lower_never{}) == 0);
    CHECK(rewritten(lower_by_emitting{}) == 1);
    CHECK(rewritten(lower_perhaps{}) == 1);
}

TEST_CASE("pattern passes repeat to a fixed point, or are named", "[pattern_pass]") {
    graph g;
    value v = g.create<builtin::placeholder>({}).result();
    g.set_meta(v, {dtype::float32, {2}});
    const value x = v;
    for (int i = 0; i != 6; ++i) {
        v = i % 2 == 0 ? g.create<toy::neg>({.self = v}).result() : g.create<toy::relu>({.self = v}).result();
        g.set_meta(v, {dtype::float32, {2}});
    }
    g.create<builtin::output>({.values = {v}});
    pass_context context;
    const auto done = apply_pass(simplify{}, g, context);  // neg relu neg relu neg relu
    REQUIRE(done);
    CHECK(g.size() == 3);
    CHECK(g.outputs()[0].producer->operand(0) == x);

    graph h;
    fill(h);
    const auto failed = apply_pass(endless{}, h, context);
    REQUIRE_FALSE(failed);
    CHECK(failed.error().message.find("to_relu") != std::pmr::string::npos);
}
