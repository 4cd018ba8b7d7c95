// SPDX-License-Identifier: MIT
// Tests patterns that are written as expressions.

#include <catch2/catch.hpp>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/fx/pattern.hpp>

#include <headrace/ir/listing.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace {

struct relu_of_sum {
    constexpr auto operator()(auto x, auto y) const { return call<toy::relu>(call<toy::add>(x, y)); }
};
using checked = pattern<relu_of_sum>;
static_assert(checked::inputs == 2);
static_assert(checked::outputs == 1);
static_assert(std::is_same_v<checked::called, ops<toy::relu, toy::add>>);

// Has thirteen inputs, more than any other pattern here.
struct thirteen_tensors {
    constexpr auto operator()(auto a, auto b, auto c, auto d, auto e, auto f, auto g, auto h, auto i, auto j,
        auto k, auto l, auto m) const {
        return call<toy::cat>(tensors(a, b, c, d, e, f, g, h, i, j, k, l, m));
    }
};
static_assert(pattern<thirteen_tensors>::inputs == 13);

// The faults that the compiler finds in an expression; tests/compile_fail shows the messages.
template <class F>
using fault_of = typename detail::pattern_facts<F>::fault;
struct stranger {};
struct unlisted : op<toy::dialect, "toy.unlisted.default", "self"> {
    struct args {
        value self;
    };
};
template <class Expected, class F>
constexpr bool finds(F) {
    return std::is_same_v<fault_of<F>, Expected>;
}
static_assert(finds<no_fault>([](auto x) { return call<toy::relu>(x); }));
static_assert(finds<unknown_op<stranger>>([](auto x) { return call<toy::relu>(call<stranger>(x)); }));
static_assert(finds<unknown_op<unlisted>>([](auto x) { return call<unlisted>(x); }));
static_assert(finds<wrong_arity<toy::relu, 2, 1>>([](auto x, auto y) { return call<toy::relu>(x, y); }));
static_assert(finds<wrong_arity<toy::add, 1, 2>>([](auto x) { return call<toy::add>(x); }));
static_assert(
    finds<wrong_argument<toy::add, "other", int, value>>([](auto x) { return call<toy::add>(x, 2); }));
using relu_of_first = decltype(call<toy::relu>(wildcard<0>{}));
static_assert(finds<wrong_argument<toy::clamp, "min", relu_of_first, scalar>>(
    [](auto x) { return call<toy::clamp>(x, call<toy::relu>(x)); }));
static_assert(
    finds<no_such_field<toy::clamp, "top">>([](auto x) { return call<toy::clamp>(x, with<"top">(1)); }));
static_assert(finds<wrong_argument<toy::clamp, "min", std::nullopt_t, scalar>>(
    [](auto x) { return call<toy::clamp>(x, std::nullopt); }));
static_assert(finds<no_fault>([](auto x) { return call<toy::clamp>(x, 0, std::nullopt); }));
static_assert(finds<wrong_argument<toy::cat, "tensors", wildcard<0>, list<value>>>(
    [](auto x) { return call<toy::cat>(x); }));
static_assert(finds<no_fault>([](auto x) { return call<toy::cat>(tensors(x, x), 1); }));
static_assert(finds<unused_placeholder<1, toy::relu>>([](auto x, auto) { return call<toy::relu>(x); }));
static_assert(finds<mixed_placeholder<0, toy::clamp>>([](auto x) { return call<toy::clamp>(x, x); }));
static_assert(
    finds<no_such_result<toy::min_max, 2>>([](auto x) { return result_at<2>(call<toy::min_max>(x)); }));
static_assert(finds<no_call<wildcard<0>>>([](auto x) { return x; }));
static_assert(finds<no_call<wildcard<0>>>([](auto x) { return returns(call<toy::relu>(x), x); }));

template <class F>
std::pmr::string text_of(const F& f) {
    return listing(*make_pattern(f));
}

graph& filled(graph& g) {
    const auto meta = [&](node& n) {
        for (std::uint32_t i = 0; i != n.result_count; ++i) g.set_meta(n.result(i), {dtype::float32, {2}});
        return n.result();
    };
    const value x = meta(g.create<builtin::placeholder>({}));
    const value y = meta(g.create<builtin::placeholder>({}));
    const value sum = meta(g.create<toy::add>({.self = x, .other = y}));
    const value clamped =
        meta(g.create<toy::clamp>({.self = meta(g.create<toy::relu>({.self = sum})), .max = 6}));
    g.create<builtin::output>({.values = {clamped}});
    return g;
}
template <class F>
pmr_vector<subgraph_match> matches(const F& f, const graph& g, const matcher_options& options = {}) {
    const auto p = make_pattern(f);
    auto found = subgraph_matcher(*p, options).match(g);
    REQUIRE(found);
    return found.value();
}

}  // namespace

TEST_CASE("an expression becomes a graph", "[pattern]") {
    CHECK(listing(checked::as_graph()) ==
        "%input_0: ? = input\n%input_1: ? = input\n"
        "%add: ? = toy.add.default(%input_0, %input_1)\n%relu: ? = toy.relu.default(%add)\noutput %relu\n");
    CHECK(&checked::as_graph() == &checked::as_graph());
    CHECK(text_of([](auto x, auto y) { return call<toy::cat>(tensors(call<toy::neg>(x), y), 1); }) ==
        "%input_0: ? = input\n%input_1: ? = input\n%neg: ? = toy.neg.default(%input_0)\n"
        "%cat: ? = toy.cat.default([%neg, %input_1], dim=1)\noutput %cat\n");
    CHECK(text_of([](auto x) {
        const auto m = call<toy::min_max>(x);
        return returns(result_at<1>(m), call<toy::relu>(m));
    }) ==
        "%input_0: ? = input\n%min_max: ?, %min_max_1: ? = toy.min_max.default(%input_0)\n"
        "%relu: ? = toy.relu.default(%min_max)\noutput %min_max_1, %relu\n");
}

TEST_CASE("calls that are the same are one node, unless they are named differently", "[pattern]") {
    const auto same =
        make_pattern([](auto x) { return call<toy::add>(call<toy::neg>(x), call<toy::neg>(x)); });
    CHECK(same->census().count(info_of<toy::neg>) == 1);
    const auto named_apart = make_pattern([](auto x) {
        return call<toy::add>(named<"left">(call<toy::neg>(x)), named<"right">(call<toy::neg>(x)));
    });
    CHECK(named_apart->census().count(info_of<toy::neg>) == 2);
    const auto other_literals =
        make_pattern([](auto x) { return call<toy::add>(call<toy::clamp>(x, 0), call<toy::clamp>(x, 1)); });
    CHECK(other_literals->census().count(info_of<toy::clamp>) == 2);
}

TEST_CASE("literals of every kind go where the schema has them", "[pattern]") {
    const auto p = make_pattern([](auto x) {
        return call<toy::attributes>(x, int_list{1, 2}, list<double>(), "mean", std::nullopt, dtype::int8,
            false, 2, 7, tensors(x, std::nullopt));
    });
    const auto& a = args_of<toy::attributes>(*p->outputs()[0].producer);
    CHECK(a.axes == int_list{1, 2});
    CHECK(a.mode == "mean");
    CHECK_FALSE(a.maybe_axes);
    CHECK(a.type == dtype::int8);
    CHECK_FALSE(a.keep);
    CHECK(a.ratio == 2.0);
    CHECK(a.maybe == 7);
    CHECK(a.indices.size() == 2);
    CHECK_FALSE(a.indices[1]);
    // A literal may be known only at run time.
    for (const int max : {3, 6}) {
        const auto q = make_pattern([max](auto x) { return call<toy::clamp>(x, with<"max">(max)); });
        CHECK(args_of<toy::clamp>(*q->outputs()[0].producer).max == scalar(max));
    }
}

TEST_CASE("expressions match", "[pattern]") {
    graph g;
    filled(g);
    CHECK(checked::matcher().match(g).value().size() == 1);
    const auto sum = make_pattern([](auto x, auto y) { return named<"sum">(call<toy::add>(x, y)); });
    const auto found = subgraph_matcher(*sum).match(g);
    REQUIRE(found.value().size() == 1);
    CHECK(is<toy::add>(*found.value()[0]["sum"]));

    CHECK(matches([](auto x) { return call<toy::clamp>(x, 0, 6); }, g).size() == 1);
    CHECK(matches([](auto x) { return call<toy::clamp>(x); }, g).empty());  // the default has no maximum
    CHECK(matches([](auto x) { return call<toy::clamp>(x, 0, any_literal); }, g).size() == 1);
    CHECK(matches([](auto x) { return call<toy::clamp>(x, 1, any_literal); }, g).empty());
    CHECK(matches([](auto x) { return any_literals(call<toy::clamp>(x)); }, g).size() == 1);
    CHECK(matches([](auto x) { return any_literals(call<toy::clamp>(x, 1)); }, g).empty());
    const auto bound = matches([](auto x, auto max) { return call<toy::clamp>(x, with<"max">(max)); }, g);
    REQUIRE(bound.size() == 1);
    CHECK(bound[0].literals[1].as<std::optional<scalar>>() == scalar(6));
}

TEST_CASE("commutative calls and constants", "[pattern]") {
    graph g;
    const value x = g.create<builtin::placeholder>({}).result();
    const value half = create_constant(g, {dtype::float32, {1}}, nullptr, [](std::span<std::byte> to) {
        const float number = 0.5F;
        std::memcpy(to.data(), &number, sizeof number);
    });
    g.create<builtin::output>({.values = {g.create<toy::add>({.self = half, .other = x}).result()}});
    CHECK(matches([](auto a) { return call<toy::add>(a, any_constant); }, g).empty());
    CHECK(matches([](auto a) { return commutative(call<toy::add>(a, any_constant)); }, g).size() == 1);
    CHECK(matches([](auto a) { return commutative(call<toy::add>(a, filled_with(0.5))); }, g).size() == 1);
    CHECK(matches([](auto a) { return commutative(call<toy::add>(a, filled_with(1))); }, g).empty());
    CHECK(matches([](auto a) { return call<toy::add>(filled_with(0.5), a); }, g).size() == 1);
}
