// SPDX-License-Identifier: MIT
// Tests the rewriter: what replaces a match, what the replacement inherits, and how rewrites chain.

#include <memory>

#include <catch2/catch.hpp>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/fx/rewriter.hpp>

#include <headrace/ir/listing.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace {

result<void> infer_toy(const node& n, inference& out) {
    const inference_rule rule = find_rule<toy::dialect>(*n.op);
    if (rule == nullptr) return invalid("no rule");
    return rule(n.arguments, out);
}

struct builder : graph {
    value input(std::initializer_list<std::int64_t> shape = {2, 3}) {
        const value v = create<builtin::placeholder>({}).result();
        set_meta(v, {dtype::float32, int_list(shape)});
        return v;
    }
    template <op_tag Op>
    value make(const args<Op>& a) {
        const value v = create<Op>(a).result();
        inference out(arena());
        if constexpr (inferable<Op>) {
            REQUIRE(infer_op<Op>(a, out));
            for (std::uint32_t i = 0; i != v.producer->result_count; ++i)
                set_meta({v.producer, i}, out.results()[i]);
        }
        return v;
    }
    value relu(value x) { return make<toy::relu>({.self = x}); }
    value neg(value x) { return make<toy::neg>({.self = x}); }
    value add(value x, value y) { return make<toy::add>({.self = x, .other = y}); }
    void output(std::initializer_list<value> values) { create<builtin::output>({.values = values}); }
};

// Returns the nodes after the inputs, by op and operands.
std::pmr::string ops_of(const graph& g) {
    std::pmr::string text;
    const printed_names names(g);
    for (const node& n : g.nodes()) {
        if (is<builtin::placeholder>(n)) continue;
        if (!is<builtin::output>(n)) text += names[const_cast<node&>(n).result()];
        text += is<builtin::output>(n) ? "->" : "=";
        for (const edge& e : n.operand_edges()) (text += ' ') += names[*e.slot];
        text += is<builtin::output>(n) ? "" : "; ";
    }
    return text;
}

constexpr auto relu_of_neg = [](auto x) { return call<toy::relu>(call<toy::neg>(x)); };
constexpr auto just_clamp = [](auto x) { return call<toy::clamp>(x); };

struct outcome {
    pmr_vector<replaced_pattern> replaced;
    pmr_vector<diagnostic> diagnostics;
};
template <class Pattern>
outcome replace(graph& g, const Pattern& p, const replacement& with, pmr_vector<match_filter> filters = {},
    const rewrite_options& options = {}) {
    pass_context context(&infer_toy);
    auto replaced = replace_pattern_with_filters(g, p, with, filters, context, options);
    REQUIRE(replaced);
    return {replaced.value(), context.diagnostics()};
}

bool in_order(const graph& g) {
    pmr_vector<bool> seen(g.id_bound());
    for (const node& n : g.nodes()) {
        for (const edge& e : n.operand_edges()) {
            if (!seen[e.source->id]) return false;
        }
        seen[n.id] = true;
    }
    return true;
}

}  // namespace

TEST_CASE("each match is replaced", "[rewriter]") {
    builder g;
    const value x = g.input();
    const value first = g.relu(g.neg(x));
    g.output({g.add(first, g.relu(g.neg(first)))});
    const outcome o = replace(g, relu_of_neg, just_clamp);
    CHECK(ops_of(g) == "clamp= placeholder; clamp_1= clamp; add= clamp clamp_1; -> add");
    REQUIRE(o.replaced.size() == 2);
    CHECK(o.replaced[0].anchor == first.producer);
    CHECK(o.replaced[0].nodes_map.size() == 3);
    REQUIRE(o.replaced[0].pattern != nullptr);
    CHECK(o.replaced[0].nodes_map.find(*o.replaced[0].pattern->outputs()[0].producer) == first.producer);
    REQUIRE(o.replaced[1].replacements.size() == 1);
    CHECK(is<toy::clamp>(*o.replaced[1].replacements[0]));
    // The second match's input is the replacement of the first.
    CHECK(o.replaced[1].replacements[0]->operand(0) == o.replaced[0].replacements[0]->result());
    bool follows = false;
    for (const auto& [from, to] : o.replaced[1].nodes_map) follows |= to == o.replaced[0].replacements[0];
    CHECK(follows);
    CHECK(meta_of(g.outputs()[0])->shape == int_list{2, 3});
    CHECK(in_order(g));
}

TEST_CASE("pattern and replacement can be graphs", "[rewriter]") {
    builder p, r, g;
    p.output({p.relu(p.neg(p.input()))});
    const tensor_meta meta{dtype::float32, {2, 3}};
    const value c = create_constant(r, meta, nullptr, [](std::span<std::byte> to) { to[0] = std::byte{7}; });
    r.output({r.add(r.input(), c)});
    g.output({g.relu(g.neg(g.input()))});
    const outcome o = replace(g, p, r);
    REQUIRE(o.replaced.size() == 1);
    CHECK(o.replaced[0].replacements.size() == 2);
    CHECK(ops_of(g) == "constant=; add= placeholder constant; -> add");
    const auto& data = args_of<builtin::constant>(*o.replaced[0].replacements[0]).data;
    CHECK(data.bytes != args_of<builtin::constant>(*c.producer).data.bytes);
    CHECK(data.bytes[0] == std::byte{7});
}

TEST_CASE("a replacement may be an input of the pattern", "[rewriter]") {
    builder g;
    const value x = g.input();
    g.output({g.neg(g.neg(g.neg(g.neg(g.neg(x)))))});
    const auto two = [](auto a) { return call<toy::neg>(call<toy::neg>(a)); };
    const outcome o = replace(g, two, [](auto a) { return a; });
    CHECK(o.replaced.size() == 2);
    CHECK(o.replaced[0].replacements.empty());
    CHECK(ops_of(g) == "neg= placeholder; -> neg");
}

TEST_CASE("metadata of what is replaced goes to the replacements", "[rewriter]") {
    builder g;
    const value n = g.neg(g.input()), r = g.relu(n);
    g.set_name(r, "activation");
    g.annotate(*r.producer, provenance{"act", "aten.relu.default"});
    g.annotate(*n.producer, provenance{"negated", "aten.neg.default"});
    g.annotate(*n.producer, module_stack{"L['self'].act"});
    g.output({r});
    const outcome o =
        replace(g, relu_of_neg, [](auto x) { return call<toy::clamp>(call<toy::relu6>(x), 0, 1); });
    REQUIRE(o.replaced.size() == 1);
    REQUIRE(o.replaced[0].replacements.size() == 2);
    for (const node* made : o.replaced[0].replacements) {
        CHECK(origin_name(*made) == "act");
        REQUIRE(made->find_annotation<module_stack>() != nullptr);
        CHECK(made->results[0].meta->shape == int_list{2, 3});
    }
    CHECK(g.outputs()[0].producer->name() == "activation");
}

TEST_CASE("filters see the match, the graph and the pattern", "[rewriter]") {
    const auto build = [](builder& g) {
        g.output({g.relu(g.neg(g.input({4}))), g.relu(g.neg(g.input({5})))});
    };
    builder g;
    build(g);
    const match_filter wide = [&](const subgraph_match& m, const graph& original, const graph& pattern) {
        CHECK(&original == &g);
        CHECK(m.nodes_map.find(*pattern.outputs()[0].producer) == m.anchors[0]);
        return meta_of(m.placeholder_values[0])->shape == int_list{5};
    };
    const outcome o = replace(g, relu_of_neg, just_clamp, {wide});
    CHECK(o.replaced.size() == 1);
    CHECK(ops_of(g) == "neg= placeholder; relu= neg; clamp= placeholder_1; -> relu clamp");
    builder h;
    build(h);
    const match_filter never = [](const subgraph_match&, const graph&, const graph&) { return false; };
    CHECK(replace(h, relu_of_neg, just_clamp, {never}).replaced.empty());
}

TEST_CASE("a match that a filter drops hides no other", "[rewriter]") {
    builder g;
    const value x = g.input(), one = g.neg(x), two = g.neg(one);
    g.output({g.neg(two)});
    const auto two_negs = [](auto a) { return call<toy::neg>(call<toy::neg>(a)); };
    const match_filter not_the_first = [&](const subgraph_match& m, const graph&, const graph&) {
        return m.anchors[0] != two.producer;
    };
    CHECK(replace(g, two_negs, [](auto a) { return a; }, {not_the_first}).replaced.size() == 1);
    CHECK(ops_of(g) == "neg= placeholder; -> neg");
}

TEST_CASE("a callable makes a graph for each match", "[rewriter]") {
    builder g;
    g.output({g.make<toy::clamp>({.self = g.input(), .max = 1}),
        g.make<toy::clamp>({.self = g.input(), .max = 2})});
    const auto build = [](const subgraph_match& m, const graph&,
                           const graph&) -> result<std::shared_ptr<const graph>> {
        const scalar max = *args_of<toy::clamp>(*m.anchors[0]).max;
        if (max == scalar(1))
            return std::shared_ptr<const graph>(make_pattern([](auto x) { return call<toy::neg>(x); }));
        auto made = std::make_shared<builder>();
        const value x = made->input();
        made->output({made->make<toy::clamp>({.self = made->relu(x), .max = max})});
        return std::shared_ptr<const graph>(made);
    };
    const auto any_clamp = [](auto x) { return any_literals(call<toy::clamp>(x)); };
    SECTION("and says when it cannot") {
        const auto fails = [](const subgraph_match&, const graph&,
                               const graph&) -> result<std::shared_ptr<const graph>> {
            return unsupported("not here");
        };
        const outcome o = replace(g, any_clamp, fails);
        CHECK(o.replaced.empty());
        REQUIRE(o.diagnostics.size() == 1);
        CHECK(o.diagnostics[0].reason == "not here");
        CHECK(o.diagnostics[0].kind == error_kind::unsupported);
    }
    SECTION("which is then copied") {
        const auto second_only = [&](const subgraph_match& m, const graph& original,
                                     const graph& pattern) -> result<std::shared_ptr<const graph>> {
            if (*args_of<toy::clamp>(*m.anchors[0]).max == scalar(1)) return std::shared_ptr<const graph>();
            return build(m, original, pattern);
        };
        CHECK(replace(g, any_clamp, second_only).replaced.size() == 1);
        CHECK(ops_of(g) == "clamp= placeholder; relu= placeholder_1; clamp_1= relu; -> clamp clamp_1");
        CHECK(args_of<toy::clamp>(*g.outputs()[1].producer).max == scalar(2));
    }
}

TEST_CASE("a callable may make the nodes itself", "[rewriter]") {
    builder g;
    const value x = g.input(), y = g.input();
    g.output({g.relu(g.add(x, y)), g.relu(g.add(y, y))});
    const auto emits = [](const subgraph_match& m,
                           emit<ops<toy::neg, toy::clamp>>& e) -> std::optional<value> {
        const value n = e.make<toy::neg>({.self = m.placeholder_values[0]});  // unused if it declines
        if (m.placeholder_values[0] == m.placeholder_values[1]) return std::nullopt;
        return e.make<toy::clamp>({.self = n});
    };
    static_assert(emitting_function<decltype(emits)>);
    const outcome o = replace(g, [](auto a, auto b) { return call<toy::relu>(call<toy::add>(a, b)); }, emits,
        {}, {.matching = {.distinct_placeholders = false}});
    CHECK(o.replaced.size() == 1);
    CHECK(ops_of(g) ==
        "neg= placeholder; clamp= neg; add= placeholder_1 placeholder_1; relu= add; -> clamp relu");
}

TEST_CASE("a replacement may use what it replaces", "[rewriter]") {
    builder g;
    g.output({g.relu(g.neg(g.input()))});
    const auto wrap = [](const subgraph_match& m, emit<ops<toy::clamp>>& e) {
        return e.make<toy::clamp>({.self = m.returning_values[0]});
    };
    CHECK(replace(g, relu_of_neg, wrap).replaced.size() == 1);
    CHECK(ops_of(g) == "neg= placeholder; relu= neg; clamp= relu; -> clamp");
}

TEST_CASE("literals go from the match into the replacement", "[rewriter]") {
    builder g;
    g.output({g.make<toy::clamp>({.self = g.input(), .min = -1, .max = 6})});
    replace(
        g, [](auto x, auto min, auto max) { return call<toy::clamp>(x, min, max); },
        [](auto x, auto min, auto) { return call<toy::clamp>(x, 9, with<"max">(min)); });
    CHECK(
        args_of<toy::clamp>(*g.outputs()[0].producer).max == scalar(-1));  // a required one fits an optional
    builder h;
    h.output({h.relu(h.input())});
    replace(
        h, [](auto x) { return call<toy::relu>(x); },
        [](auto x) { return call<toy::add>(x, filled_with(2)); });
    const node& c = *h.outputs()[0].producer->operand(1).producer;
    CHECK(c.results[0].meta->shape == int_list{1, 1});
    CHECK(detail::is_filled_with(c, 2));
}

TEST_CASE("several outputs are replaced, and their users come behind", "[rewriter]") {
    // The user of the first output comes before the second input.
    builder g;
    const value x = g.input();
    const value r = g.relu(x);
    const value early = g.neg(r);
    const value y = g.make<toy::relu6>({.self = x});
    const value s = g.add(r, y);
    g.output({early, s});
    const auto pattern = [](auto a, auto b) {
        const auto first = call<toy::relu>(a);
        return returns(call<toy::add>(first, b), first);
    };
    const auto with = [](auto a, auto b) {
        const auto sum = call<toy::add>(a, b);
        return returns(call<toy::clamp>(sum), sum);
    };
    const outcome o = replace(g, pattern, with);
    REQUIRE(o.replaced.size() == 1);
    CHECK(ops_of(g) == "relu6= placeholder; add= placeholder relu6; clamp= add; neg= add; -> neg clamp");
    CHECK(in_order(g));
}

TEST_CASE("matches that need each other's results are not both replaced", "[rewriter]") {
    // Each pair alone can be one node; the two as one node each would form a cycle.
    builder g;
    const value x = g.input(), y = g.input();
    const value a = g.relu(x), b = g.neg(y);
    const value b2 = g.neg(a), a2 = g.relu(b);
    static_cast<void>(b2);
    g.output({g.make<toy::clamp>({.self = a2}), g.make<toy::clamp>({.self = b2})});
    // relu(x), relu(neg(y)) as one; neg(y), neg(relu(x)) as another.
    const auto relus = [](auto p, auto q) {
        return returns(named<"one">(call<toy::relu>(p)), named<"two">(call<toy::relu>(q)));
    };
    const auto fused = [](auto p, auto q) {
        const auto both = call<toy::min_max>(call<toy::add>(p, q));
        return returns(both, result_at<1>(both));
    };
    pass_context context(&infer_toy);
    CHECK(replace_pattern(g, relus, fused, context).value().size() == 1);
    CHECK(in_order(g));
    const auto negs = [](auto p, auto q) {
        return returns(named<"one">(call<toy::neg>(p)), named<"two">(call<toy::neg>(q)));
    };
    CHECK(replace_pattern(g, negs, fused, context).value().empty());  // neg(y) -> fused -> neg
    CHECK(in_order(g));
}

TEST_CASE("faults of a replacement are errors that name the pattern", "[rewriter]") {
    const auto error_of = [](const auto& with) {
        builder g;
        g.output({g.relu(g.neg(g.input()))});
        pass_context context(&infer_toy);
        const auto replaced = replace_pattern(g, relu_of_neg, with, context, {.name = "relu of neg"});
        REQUIRE_FALSE(replaced);
        return replaced.error().message;
    };
    CHECK(error_of([](auto x) { return call<toy::sum>(x); }) ==
        "relu of neg:  (toy.relu.default): the replacement changes the shape of result 0");
    CHECK(error_of([](auto x) { return returns(call<toy::neg>(x), x); }) ==
        "relu of neg:  (toy.relu.default): the replacement gives 2 values for 1");
    builder p, g;
    g.output({g.relu(g.input())});
    pass_context context;
    const auto faulty =
        replace_pattern(g, static_cast<const graph&>(p), just_clamp, context, {.name = "mine"});
    REQUIRE_FALSE(faulty);
    CHECK(faulty.error().message == "mine: pattern: it has no output");
}

TEST_CASE("what cannot be inferred stays as it was", "[rewriter]") {
    builder r, g;
    r.output({r.neg(r.input())});
    g.output({g.relu(g.neg(g.input()))});
    pass_context without;  // no rules: a graph's ops are known at run time only
    CHECK(replace_pattern(g, relu_of_neg, r, without).value().empty());
    CHECK(without.diagnostics().size() == 1);
    CHECK(ops_of(g) == "neg= placeholder; relu= neg; -> relu");
    // An expression has its own rules.
    CHECK(replace_pattern(g, relu_of_neg, just_clamp, without).value().size() == 1);

    builder h;
    const value n = h.neg(h.input());
    h.clear_meta(n.producer->operand(0));
    h.output({h.relu(n)});
    CHECK(replace(h, relu_of_neg, just_clamp).diagnostics.size() == 1);
}

TEST_CASE("rules chain to a fixed point", "[rewriter]") {
    builder g;
    value v = g.input();
    for (int i = 0; i != 9; ++i) v = g.neg(v);
    g.output({g.relu(v)});
    const pmr_vector<rewrite_rule> rules{
        make_rule(
            "double negation", [](auto x) { return call<toy::neg>(call<toy::neg>(x)); },
            [](auto x) { return x; }),
        make_rule("relu of neg", relu_of_neg, just_clamp)};
    pass_context context;
    const auto rewritten = rewrite_to_fixed_point(g, rules, context);
    REQUIRE(rewritten);
    CHECK(rewritten.value() == 5);
    CHECK(ops_of(g) == "clamp= placeholder; -> clamp");
    CHECK(rewrite_to_fixed_point(g, rules, context).value() == 0);
}

TEST_CASE("rules without a fixed point stop, and are named", "[rewriter]") {
    builder g;
    g.output({g.relu(g.input())});
    pass_context context;
    const auto relu = [](auto x) { return call<toy::relu>(x); };
    const auto relu6 = [](auto x) { return call<toy::relu6>(x); };
    const pmr_vector<rewrite_rule> swap{make_rule("there", relu, relu6), make_rule("back", relu6, relu)};
    auto endless = rewrite_to_fixed_point(g, swap, context, 10);
    REQUIRE_FALSE(endless);
    CHECK(endless.error().kind == error_kind::invalid);
    CHECK(endless.error().message ==
        "there: no fixed point after 11 rewrites; the patterns match what they made");

    builder h;
    h.output({h.relu(h.input())});
    const pmr_vector<rewrite_rule> growing{make_rule("grow", relu,
        [](auto x) { return call<toy::add>(named<"a">(call<toy::relu>(x)), call<toy::relu>(x)); })};
    endless = rewrite_to_fixed_point(h, growing, context);
    REQUIRE_FALSE(endless);
    CHECK(endless.error().message.starts_with("grow: no fixed point"));
    CHECK(h.size() < 3000);
}
