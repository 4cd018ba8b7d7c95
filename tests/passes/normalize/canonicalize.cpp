// SPDX-License-Identifier: MIT
// Tests the passes that reduce the variety of ATen ops: variants, casts, fills, numbers, no-ops, and
// narrow_int64.
#include <catch2/catch.hpp>

#include <functional>

#include <headrace/infer/verify.hpp>
#include <headrace/passes/decompose/arithmetic.hpp>
#include <headrace/passes/normalize/casts_and_copies.hpp>
#include <headrace/passes/normalize/narrow_types.hpp>
#include <headrace/passes/normalize/regions.hpp>
#include <headrace/passes/normalize/variants.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

template <class... Passes>
constexpr bool remove_their_targets =
    ((effects_of<Passes>::removed_set == effects_of<Passes>::target_set) && ...);
static_assert(remove_their_targets<canonicalize_arithmetic, canonicalize_fills, canonicalize_variants,
    scalars_to_tensors>);
// A reduction without a dtype argument stays.
static_assert(effects_of<canonicalize_casts>::removed_set.contains<aten::to_dtype>());
static_assert(!effects_of<canonicalize_casts>::removed_set.contains<aten::cumsum>());
static_assert(!effects_of<remove_noop>::removed_set.contains<aten::expand>());
static_assert(effects_of<remove_noop>::removed_set.contains<aten::clone>());
static_assert(graph_pass<narrow_int64> && effects_of<narrow_int64>::always_runs);

constexpr dtype fp32 = dtype::float32;

/// A graph that negates its single input, of two numbers.
graph& negating_region(program& p) {
    graph& inner = p.g.create_region();
    const value y = inner.create<builtin::placeholder>({}).result();
    inner.set_meta(y, {fp32, {2}, {}});
    node& negated = inner.create<aten::neg>({y});
    inner.set_meta(negated.result(), {fp32, {2}, {}});
    inner.set_name(negated.result(), "negated");
    inner.create<builtin::output>({.values = {negated.result()}});
    return inner;
}

}  // namespace

TEST_CASE("synonyms, casts, fills and numbers") {
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(fp32, {2, 3});
            const value n = p.input(dtype::int32, {2, 3});
            p.output(p.make<aten::clip>({.self = x, .min = -0.5}));
            p.output(p.make<aten::max_other>({x, x}));
            p.output(p.make<aten::rsub_scalar>({.self = n, .other = 2, .alpha = 3}));
            p.output(p.make<aten::add_tensor>({.self = x, .other = n, .alpha = 2}));
            p.output(p.make<aten::square>({x}));
            p.output(p.make<aten::remainder_scalar_tensor>({5.0, x}));
            p.output(p.make<aten::to_dtype>({.self = x, .dtype = dtype::int32}));
            p.output(p.make<aten::type_as>({n, x}));
            p.output(p.make<aten::ones_like>({.self = n}));
            p.output(p.make<aten::where_scalarother>({p.make<aten::gt_scalar>({x, 0}), x, 2.0}));
            p.output(p.make<aten::alias_copy>({p.make<aten::clone>({.self = x})}));
        },
        (computes_the_same<canonicalize_variants, canonicalize_arithmetic, canonicalize_casts,
            canonicalize_fills, scalars_to_tensors, decompose_add_sub_alpha, remove_noop>()));
}

TEST_CASE("no-ops go, and random dropout is refused") {
    program p;
    const value x = p.input(fp32, {2, 3});
    p.make_node<aten::_assert_tensor_metadata>({.a = x});
    p.output(p.make<aten::dropout>({p.make<aten::expand>({.self = x, .size = {2, -1}}), 0.5, false}));
    p.finish();
    pass_context context;
    REQUIRE(run_pass<remove_noop>(p.g, context) == "");
    CHECK(p.g.outputs()[0] == x);
    CHECK(p.g.size() == 2);
    CHECK_THAT(
        [](program& q) {
            q.output(q.make<aten::dropout>({q.input(fp32, {2}), 0.5, true}));
        },
        is_refused_by<remove_noop>("eval mode"));
}

TEST_CASE("constants of float64 become float32, with their views") {
    const auto build = [](program& p) {
        const value k = p.constant<double>(dtype::float64, {1, 2}, {0.5, -3});
        const value turned = p.make<aten::permute>({.self = k, .dims = {1, 0}});
        const value last = p.make<aten::select_int>({.self = turned, .dim = 0, .index = 1});
        const value number = p.make<aten::view>({.self = last, .size = int_list{}});
        p.output(p.make<aten::mul_tensor>({p.input(fp32, {3}), number}));
    };
    CHECK_THAT(build, computes_the_same<narrow_int64>());
    program p;
    build(p);
    p.finish();
    pass_context context;
    REQUIRE(narrow_int64{}(p.g, context));
    for (const node& n : p.g.nodes()) {
        if (n.result_count != 0) CHECK(n.results[0].meta->dtype == fp32);
    }
}

TEST_CASE("64-bit integers become 32-bit ones, and what does not fit is refused") {
    CHECK_THAT(
        [](program& p) {
            const value n = p.make<aten::_to_copy>({.self = p.input(fp32, {3}), .dtype = dtype::int64});
            const value k = p.constant<std::int64_t>(dtype::int64, {3}, {1, -2, 2147483647});
            p.output(p.make<aten::maximum>({n, k}));
        },
        computes_the_same<narrow_int64>());
    program p;
    p.output(p.make<aten::neg>({p.input(dtype::int64, {2})}));
    p.finish();
    pass_context context;
    REQUIRE(narrow_int64{}(p.g, context));
    for (const node& n : p.g.nodes()) {
        if (n.result_count != 0) CHECK(n.results[0].meta->dtype == dtype::int32);
    }
    const auto with_large = [](auto op) {
        return refusal<narrow_int64>([](program& q) {
            const value k = q.constant<std::int64_t>(dtype::int64, {1}, {std::int64_t{1} << 40});
            args<decltype(op)> a{};
            a.self = q.input(dtype::int64, {1});
            a.other = k;
            q.output(q.make<decltype(op)>(a));
        });
    };
    CHECK(with_large(aten::add_tensor{}).find("32 bits") != std::pmr::string::npos);
    CHECK(with_large(aten::minimum{}) == "");
}

TEST_CASE("a region called without gradients is inlined") {
    program p;
    const value x = p.input(fp32, {2});
    graph& inner = negating_region(p);
    node& call = p.g.create<higher_order::wrap_with_set_grad_enabled>(
        {.enabled = false, .wrapped_graph = &inner, .operands = {x}}, 1);
    p.g.set_meta(call.result(), {fp32, {2}, {}});
    p.output(call.result());
    p.finish();
    pass_context context;
    REQUIRE(inline_regions{}(p.g, context));
    const value out = p.g.outputs()[0];
    REQUIRE(is<aten::neg>(*out.producer));
    CHECK(out.producer->operand(0) == x);
    CHECK(out.producer->name() == "negated");
    CHECK(count_of<higher_order::wrap_with_set_grad_enabled>(p.g) == 0);
}

TEST_CASE("a region called without autocast is inlined") {
    program p;
    const value x = p.input(fp32, {2});
    graph& inner = negating_region(p);
    node& call = p.g.create<higher_order::wrap_with_autocast>({.device_type = "cpu",
                                                                  .dtype = dtype::bfloat16,
                                                                  .enabled = false,
                                                                  .cache_enabled = false,
                                                                  .wrapped_body = &inner,
                                                                  .operands = {x}},
        1);
    p.g.set_meta(call.result(), {fp32, {2}, {}});
    p.output(call.result());
    p.finish();
    pass_context context;
    REQUIRE(inline_regions{}(p.g, context));
    CHECK(is<aten::neg>(*p.g.outputs()[0].producer));
    CHECK(count_of<higher_order::wrap_with_autocast>(p.g) == 0);
}

TEST_CASE("inline_regions: calls within calls, and beside each other") {
    program p;
    const value x = p.input(fp32, {2});
    // A graph that negates its input through two calls of graphs like it, one level less deep.
    const std::function<graph&(graph&, int)> nested = [&](graph& parent, int depth) -> graph& {
        graph& made = parent.create_region();
        node& input = made.create<builtin::placeholder>({});
        made.set_meta(input.result(), {fp32, {2}, {}});
        value v = input.result();
        for (int call = 0; depth != 0 && call != 2; ++call) {
            const value operands[] = {v};
            node& inner = made.create<higher_order::wrap_with_set_grad_enabled>(
                {.enabled = false,
                    .wrapped_graph = &nested(made, depth - 1),
                    .operands = list<value>(operands)},
                1);
            made.set_meta(inner.result(), {fp32, {2}, {}});
            v = inner.result();
        }
        node& negated = made.create<aten::neg>({v});
        made.set_meta(negated.result(), {fp32, {2}, {}});
        const value results[] = {negated.result()};
        made.create<builtin::output>({.values = list<value>(results)});
        return made;
    };
    node& call = p.g.create<higher_order::wrap_with_set_grad_enabled>(
        {.enabled = false, .wrapped_graph = &nested(p.g, 3), .operands = {x}}, 1);
    p.g.set_meta(call.result(), {fp32, {2}, {}});
    p.output(call.result());
    p.finish();
    pass_context context;
    const result<std::size_t> inlined = inline_regions{}(p.g, context);
    REQUIRE(inlined);
    CHECK(inlined.value() == 15);
    CHECK(count_of<higher_order::wrap_with_set_grad_enabled>(p.g) == 0);
    CHECK(count_of<aten::neg>(p.g) == 15);
    CHECK(verify(p.g, {.metadata_required = true}));
}
