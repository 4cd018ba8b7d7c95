// SPDX-License-Identifier: MIT
// Tests the dispatch cache: which inferences it considers equal, and what its scopes add.
#include <catch2/catch.hpp>

#include <headrace/fx/dispatch_cache.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/cortex_m.hpp>
#include <headrace/infer/dim_order_ops.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/rewrite/pass_context.hpp>

using namespace headrace;

namespace {

std::size_t asked = 0;  // how often a rule ran

result<void> infer(const node& n, inference& out) {
    ++asked;
    const inference_rule rule = find_rule<aten::dialect, quantized_decomposed::dialect,
        dim_order_ops::dialect, cortex_m::dialect, tosa::dialect>(*n.op);
    if (rule == nullptr) return invalid("no rule");
    return rule(n.arguments, out);
}

value input(graph& g, const tensor_meta& meta) {
    const value v = g.create<builtin::placeholder>({}).result();
    g.set_meta(v, meta);
    return v;
}
value floats(graph& g, const int_list& shape) { return input(g, {dtype::float32, shape, {}}); }

// Returns the cache's result, which must be that of the rule.
tensor_meta ask(dispatch_cache& cache, const node& n) {
    inference cached(n.owner->arena()), plain(n.owner->arena());
    const result<void> done = cache.infer(n, cached, &infer);
    const std::size_t before = asked;
    const result<void> expected = infer(n, plain);
    asked = before;
    REQUIRE(done.has_value() == expected.has_value());
    REQUIRE(cached.results().size() == plain.results().size());
    for (std::size_t i = 0; i != plain.results().size(); ++i)
        CHECK(cached.results()[i] == plain.results()[i]);
    return plain.results().empty() ? tensor_meta{} : plain.results()[0];
}

}  // namespace

TEST_CASE("a node with the same op, arguments and input metadata is a hit") {
    dispatch_cache cache({&info_of_dialect<aten::dialect>});
    asked = 0;
    // In two graphs, and with other values: only what a rule sees counts.
    for (int i = 0; i != 2; ++i) {
        graph g;
        const value x = floats(g, {2, 3});
        ask(cache, g.create<aten::add_tensor>({x, floats(g, {3})}));
    }
    CHECK(cache.hits() == 1);
    CHECK(cache.misses() == 1);
    CHECK(cache.size() == 1);
    CHECK(asked == 1);
}

TEST_CASE("whatever a rule can see tells nodes apart") {
    dispatch_cache cache({&info_of_dialect<aten::dialect>});
    graph g;
    const value x = floats(g, {2, 3, 4});
    const value codes = input(g, {dtype::int8, {2, 3, 4}, {}});
    const value pairs[] = {x, x};
    const value pair_and_one[] = {x, x, x};
    const std::vector<node*> different = {
        &g.create<aten::relu>({x}),
        &g.create<aten::neg>({x}),
        &g.create<aten::relu>({codes}),
        &g.create<aten::relu>({floats(g, {2, 3})}),
        &g.create<aten::add_scalar>({x, scalar(1)}),
        &g.create<aten::add_scalar>({x, scalar(1.0)}),
        &g.create<aten::permute>({x, {0, 2, 1}}),
        &g.create<aten::permute>({x, {2, 1, 0}}),
        &g.create<aten::cat>({{pairs, 2}, 0}),
        &g.create<aten::cat>({{pair_and_one, 3}, 0}),
        &g.create<aten::cat>({{pairs, 2}, 1}),
        &g.create<aten::mean_dim>({.self = x, .dim = int_list{1}}),
        &g.create<aten::mean_dim>({.self = x, .dim = int_list{1}, .keepdim = true}),
        &g.create<aten::sum_dim_intlist>({.self = x, .dim = int_list{1}}),
        &g.create<aten::sum_dim_intlist>({.self = x, .dim = std::nullopt}),
        &g.create<aten::split_tensor>({x, 1, 1}, 3),
    };
    for (int round = 0; round != 2; ++round) {
        for (const node* n : different) ask(cache, *n);
    }
    CHECK(cache.misses() == different.size());
    CHECK(cache.hits() == different.size());
}

TEST_CASE("many entries, and shapes that do not fit in a list, are found again") {
    dispatch_cache cache({&info_of_dialect<aten::dialect>});
    graph g;
    for (int round = 0; round != 2; ++round) {
        for (std::int64_t i = 1; i != 200; ++i)
            ask(cache, g.create<aten::relu>({floats(g, {1, 1, 1, 1, 1, 1, 1, i})}));
    }
    CHECK(cache.size() == 199);
    CHECK(cache.hits() == 199);
}

TEST_CASE("a scope adds dialects for as long as it lives") {
    dispatch_cache cache({&info_of_dialect<aten::dialect>});
    graph g;
    const value x = floats(g, {4});
    const node& quantize = g.create<quantized_decomposed::quantize_per_tensor>({.input = x,
        .scale = 0.1,
        .zero_point = 0,
        .quant_min = -128,
        .quant_max = 127,
        .dtype = dtype::int8});
    const node& tosa_add = g.create<tosa::add>({x, x});
    const node& copy = g.create<dim_order_ops::_to_dim_order_copy>({.self = x});
    const value codes = input(g, {dtype::int8, {4}, {}});
    const node& maximum = g.create<cortex_m::maximum>({codes, codes});
    const auto ask_all = [&] {
        for (const node* n : {&quantize, &tosa_add, &copy, &maximum}) ask(cache, *n);
    };
    ask_all();
    CHECK(cache.bypassed() == 4);
    CHECK(cache.size() == 0);
    {
        const auto all = cache.extend<quantized_decomposed::dialect, tosa::dialect, dim_order_ops::dialect,
            cortex_m::dialect>();
        ask_all();
        ask_all();
        CHECK(cache.misses() == 4);
        CHECK(cache.hits() == 4);
        {
            const auto again = cache.extend<tosa::dialect>();
            ask(cache, tosa_add);
        }
        ask(cache, tosa_add);  // the outer scope still exists
        CHECK(cache.hits() == 6);
    }
    ask_all();
    CHECK(cache.bypassed() == 8);
    CHECK(cache.hits() == 6);
    const auto later = cache.extend<tosa::dialect>();
    ask(cache, tosa_add);
    CHECK(cache.hits() == 7);
}

TEST_CASE("regions, lost metadata and refusals are not remembered") {
    dispatch_cache cache({&info_of_dialect<aten::dialect>});
    graph g;
    const node& refused = g.create<aten::mm>({floats(g, {2, 3}), floats(g, {2, 3})});
    ask(cache, refused);
    ask(cache, refused);
    CHECK(cache.misses() == 2);
    CHECK(cache.size() == 0);
    cache.reset_counts();
    CHECK(cache.misses() == 0);
}

TEST_CASE("a context asks its cache first") {
    dispatch_cache cache({&info_of_dialect<aten::dialect>});
    graph g;
    const node& relu = g.create<aten::relu>({floats(g, {4})});
    pass_context context(&infer);
    inference out(g.arena());
    REQUIRE(context.infer(relu, out));
    CHECK(cache.misses() == 0);
    context.use_cache(&cache);
    REQUIRE(context.infer(relu, out));
    REQUIRE(context.infer(relu, out));
    CHECK(cache.hits() == 1);
    CHECK(out.results().size() == 3);
    context.use_cache(nullptr);
    REQUIRE(context.infer(relu, out));
    CHECK(cache.hits() == 1);
}
