// SPDX-License-Identifier: MIT
// The examples of ExecuTorch's text on custom passes with aten ops, except those in export_pass.cpp,
// subgraph_matcher.cpp, pass_manager.cpp and tests/partition/: each runs in both drivers, and the graph is
// executed before and after.

#include <algorithm>

#include <catch2/catch.hpp>

#include <headrace/eval/evaluator.hpp>
#include <headrace/fx/export_pass.hpp>
#include <headrace/fx/pass_manager.hpp>
#include <headrace/fx/pattern_pass.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/verify.hpp>

#include "../support/pass_test.hpp"
#include "../support/same_graph.hpp"

using namespace headrace;

namespace {

result<void> infer(const node& n, inference& out) {
    const inference_rule rule = find_rule<aten::dialect>(*n.op);
    return rule == nullptr ? result<void>(invalid("no rule")) : rule(n.arguments, out);
}

// --- many to one: add and mul of the same operand become sub
// ------------------------------------------------

struct add_then_mul {
    static constexpr std::string_view name = "add, mul";
    constexpr auto operator()(auto x, auto y) const {
        return call<aten::mul_tensor>(call<aten::add_tensor>(x, y), y);
    }
};
struct just_sub {
    constexpr auto operator()(auto x, auto y) const { return call<aten::sub_tensor>(x, y); }
};
struct replace_patterns : pattern_pass<add_then_mul, just_sub> {};

void build_sums(program& p) {
    const value x = p.input(dtype::float32, {2, 3});
    const value y = p.input(dtype::float32, {2, 3});
    const auto pair = [&](value a, value b) {
        return p.make<aten::mul_tensor>({p.make<aten::add_tensor>({a, b}), b});
    };
    const value kept = p.make<aten::add_tensor>({x, y});  // no product follows
    p.output(p.make<aten::relu>({pair(pair(x, y), kept)}));
    p.finish();
}

// --- the whole graph: a pass whose ops are data, and a manager of two
// ----------------------------------------

// From a division to a product and back, as handlers.
template <class From, class To>
struct becomes : pass {
    using targets = ops<From>;
    using produces = ops<To>;
    value operator()(const args<From>& a, emit<produces>& e) const {
        return e.template make<To>(args<To>{a.self, a.other});
    }
};
struct replace_add_with_div : becomes<aten::add_tensor, aten::div_tensor> {
    result<void> require(const graph& g) const {
        if (g.census().count(info_of<aten::add_tensor>) == 0) return invalid("no torch.add ops!");
        return {};
    }
};
struct replace_div_with_mul : becomes<aten::div_tensor, aten::mul_tensor> {};

result<void> check_div_target(const graph& g) {
    for (const node& n : g.nodes()) {
        if (is_of_dialect<aten::dialect>(n) && !is<aten::div_tensor>(n))
            return invalid("Target should be div!");
    }
    return {};
}
void build_sum(program& p) {
    const value x = p.input(dtype::float32, {2, 3});
    const value y = p.input(dtype::float32, {2, 3});
    p.output(p.make<aten::add_tensor>({x, y}));
    p.finish();
}

// --- metadata: what changes a type, as handlers and as an interpreter
// ----------------------------------------

struct compute_in_float16 : pass {
    using targets = ops<aten::add_tensor>;
    using produces = ops<aten::add_tensor, aten::to_dtype>;
    value operator()(const args<aten::add_tensor>& a, emit<produces>& e) const {
        const auto narrow = [&](value v) {
            return e.make<aten::to_dtype>({.self = v, .dtype = dtype::float16});
        };
        const value sum = e.make<aten::add_tensor>({narrow(a.self), narrow(a.other), a.alpha});
        return e.make<aten::to_dtype>({.self = sum, .dtype = e.result_meta().dtype});
    }
};
struct interpret_in_float16 : export_pass<interpret_in_float16> {
    using targets = ops<aten::add_tensor>;
    value call_operator(const args<aten::add_tensor>& a, const node_metadata& meta) {
        const auto to = [&](value v, dtype type) {
            return super().call_operator<aten::to_dtype>({.self = v, .dtype = type}, meta);
        };
        const value sum = super().call_operator<aten::add_tensor>(
            {to(a.self, dtype::float16), to(a.other, dtype::float16), a.alpha}, meta);
        return to(sum, super().result_meta().dtype);
    }
};

std::vector<tensor> random_inputs(const graph& g) {
    std::mt19937 random(5);
    std::vector<tensor> inputs;
    for (const node& n : g.inputs()) inputs.push_back(random_tensor(random, *n.results[0].meta));
    return inputs;
}

}  // namespace

TEST_CASE("the rewriter says what it replaced, as replace_pattern_with_filters does") {
    program p;
    build_sums(p);
    pass_context context(&infer);
    const auto replaced = replace_pattern(p.g, add_then_mul{}, just_sub{}, context);
    REQUIRE(replaced);
    REQUIRE(replaced.value().size() == 2);
    for (const replaced_pattern& r : replaced.value()) {
        CHECK(r.nodes_map.size() == 4);  // two operators and two inputs
        REQUIRE(r.replacements.size() == 1);
        CHECK(is<aten::sub_tensor>(*r.replacements[0]));
    }
    CHECK(count_of<aten::add_tensor>(p.g) == 1);
    CHECK(count_of<aten::mul_tensor>(p.g) == 0);
    CHECK(verify(p.g));
    // (x - y) - (x + y), then relu.
    const auto inputs = random_inputs(p.g);
    const auto got = run_graph(p.g, inputs);
    REQUIRE(got);
    for (std::int64_t i = 0; i != 6; ++i) {
        const double x = inputs[0].real(i);
        const double y = inputs[1].real(i);
        CHECK(got.value()[0].real(i) == Approx(std::max(0.0, (x - y) - (x + y))).margin(1e-5));
    }
}

TEST_CASE("the same pattern is a pass, in both drivers and beside the rewriter the same") {
    program by_function, others[2];
    build_sums(by_function);
    pass_context context(&infer);
    REQUIRE(replace_pattern(by_function.g, add_then_mul{}, just_sub{}, context));
    for (const driver_kind driver : {driver_kind::in_place, driver_kind::retracing}) {
        program& p = others[driver == driver_kind::in_place ? 0 : 1];
        build_sums(p);
        REQUIRE(apply_pass(replace_patterns{}, p.g, context, driver));
        CHECK(difference(by_function.g, p.g) == "");
    }
    CHECK(context.diagnostics().empty());
}

TEST_CASE("passes by name with a check after each: the check fails behind the second, in both drivers") {
    for (const driver_kind driver : {driver_kind::in_place, driver_kind::retracing}) {
        program p, q;
        build_sum(p);
        build_sum(q);
        pass_context context(&infer);
        pass_manager manager({replace_add_with_div{}, replace_div_with_mul{}},
            {.run_checks_after_each_pass = true, .run = {.driver = driver}});
        REQUIRE(manager(p.g, context));
        CHECK(count_of<aten::mul_tensor>(p.g) == 1);
        const auto again = manager(p.g, context);  // it now has no targets, and so is not called
        REQUIRE(again);
        CHECK(again.value()[0].status == pass_status::no_target);

        manager.add_checks(&check_div_target);
        const auto refused = manager(q.g, context);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().message == "check after replace_div_with_mul: Target should be div!");
        // A pass that is called directly states its requirements.
        const auto alone = apply_pass(replace_add_with_div{}, q.g, context, driver);
        REQUIRE_FALSE(alone);
        CHECK(alone.error().message == "replace_add_with_div: no torch.add ops!");
    }
}

TEST_CASE("a pass that changes types gives the same graph as handlers, in both drivers, and as interpreter") {
    program before, interpreted, others[2];
    build_sums(before);
    build_sums(interpreted);
    const auto inputs = random_inputs(before.g);
    pass_context context(&infer);
    interpret_in_float16 interpreter;
    REQUIRE(interpreter(interpreted.g, context));
    for (const driver_kind driver : {driver_kind::in_place, driver_kind::retracing}) {
        program& p = others[driver == driver_kind::in_place ? 0 : 1];
        build_sums(p);
        REQUIRE(apply_pass(compute_in_float16{}, p.g, context, driver));
        CHECK(difference(interpreted.g, p.g) == "");
        CHECK(verify(p.g));
    }
    CHECK(count_of<aten::to_dtype>(interpreted.g) == 9);
    const auto expected = run_graph(before.g, inputs);
    const auto got = run_graph(interpreted.g, inputs);
    REQUIRE((expected && got));
    CHECK(tensor_difference(expected.value()[0], got.value()[0], 0.02) == "");
}

namespace {

// A pass that edits the graph before it interprets the rest.
struct inserts_first : export_pass<inserts_first> {
    using targets = ops<aten::relu>;
    value call_operator(const args<aten::relu>& a, const node_metadata& meta) {
        return super().call_operator<aten::neg>({a.self}, meta);
    }
};

}  // namespace

TEST_CASE("what a pass inserts without `val` is dispatched in full, not copied") {
    for (const bool fast : {true, false}) {
        program p;
        build_sums(p);
        node& relu = *p.g.outputs()[0].producer;
        const value inserted = p.g.create<aten::neg>({relu.operand(0)}, &relu).result();
        p.g.set_operand(relu.operands[0], inserted);
        pass_context context(&infer);
        context.copy_fast(fast);
        const auto counts = inserts_first().run(p.g, context);
        REQUIRE(counts);
        CHECK(counts.value().inferred == (fast ? 1 : 6));
        CHECK(counts.value().rewritten == 1);
        REQUIRE(meta_of(inserted) != nullptr);
        CHECK(meta_of(inserted)->shape == int_list{2, 3});
        CHECK(verify(p.g));
        // Without rules nothing can be inferred: that is an error, never a node without a type.
        pass_context without;
        p.g.clear_meta(inserted);
        CHECK_FALSE(inserts_first().run(p.g, without));
    }
}
