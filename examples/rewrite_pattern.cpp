// SPDX-License-Identifier: MIT
// Patterns are functions over op tags, as are rewrites. The compiler checks the calls in them.
#include <cstdio>

//! [rewriter]
#include <headrace/fx/pattern_pass.hpp>
//! [pattern]
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pipeline.hpp>
//! [rewriter]
#include <headrace/match/node_pattern.hpp>
#include <headrace/rewrite/arithmetic.hpp>
//! [pattern]
#include <headrace/infer/graph_builder.hpp>
#include <headrace/ir/listing.hpp>

//! [rewriter]
//! [pattern]
using namespace headrace;

//! [rewriter]
// Among the rewrites of a pass, a pattern names its nodes; the rewrite reads their arguments by these names.
struct fuse_relu : pass {
    static auto rewrites() {
        return rules(on_match([](auto x) {
            return node_of<"limit", aten::clamp>(node_of<"relu", aten::relu>(x));
        }) = [](auto x, const auto& m) {
            const args<aten::clamp>& limit = get<"limit">(m);
            const auto both = [&] { return clamp(x, 0, limit.max); };
            return choose(!limit.min && is_sole_use<"relu">(m), both, unchanged);
        });
    }
};
static_assert(effects_of<fuse_relu>::target_set == ops_in<aten::clamp>);
//! [pattern]

//! [rewriter]
// The pattern language without names, for the matcher of whole subgraphs.
struct add_then_mul {
    auto operator()(auto x, auto y) const { return call<aten::mul_tensor>(call<aten::add_tensor>(x, y), y); }
};
struct just_sub {
    auto operator()(auto x, auto y) const { return call<aten::sub_tensor>(x, y); }
};
// The rewrite as a pass: its pipeline knows which ops it looks for and which it makes.
struct fuse_to_sub : pattern_pass<add_then_mul, just_sub> {};
struct simplify : pipeline<from<aten::dialect>, to<aten::dialect>, fuse_to_sub> {};
static_assert(produces_of<fuse_to_sub>::size == 1);

// Finds matches without replacing them.
result<pmr_vector<subgraph_match>> matches_of(const graph& g) {
    return pattern<add_then_mul>::matcher().match(g);
}

// In place, with a filter. `max` captures a literal, which goes into the replacement.
result<pmr_vector<replaced_pattern>> replace_small(graph& g, pass_context& context) {
    const match_filter small = [](const subgraph_match& m, const graph&, const graph&) {
        return meta_of(m.returning_values[0])->elements() < 100;
    };
    return replace_pattern_with_filters(
        g, [](auto x, auto max) { return call<aten::hardtanh>(x, 0, max); },
        [](auto x, auto max) { return call<aten::clamp>(call<aten::relu>(x), std::nullopt, max); },
        {&small, 1}, context);
}
//! [rewriter]

void build(graph& g) {
    graph_builder b(g);
    const value x = b.input("x", {2, 3}), y = b.input("y", {2, 3});
    const value fused =
        b.make<aten::mul_tensor>({.self = b.make<aten::add_tensor>({.self = x, .other = y}), .other = y});
    b.output({b.make<aten::hardtanh>({.self = fused, .min_val = 0, .max_val = 6})});
}

int main() {
    pass_context context;
    graph g;
    build(g);
    const auto matches = matches_of(g);
    for (const subgraph_match& m : matches.value())
        std::printf("%zu nodes match, with %zu inputs\n", m.nodes().size(), m.placeholder_nodes.size());

    std::printf("%zu nodes added\n", replace_small(g, context).value()[0].replacements.size());

    std::printf("%zu match replaced\n", simplify::run(g, context).value()[0].nodes.rewritten);
    std::printf("%zu relu fused\n", apply_pass(fuse_relu{}, g, context).value().rewritten);
    std::printf("%s", listing(g).c_str());

    // Rules that undo each other have no fixed point: the error names them.
    const auto relu = [](auto x) { return call<aten::relu>(x); };
    const auto relu6 = [](auto x) { return call<aten::relu6>(x); };
    graph loop;
    graph_builder in_loop(loop);
    in_loop.output({in_loop.make<aten::relu>({.self = in_loop.input("x", {2})})});
    const rewrite_rule rules[] = {make_rule("there", relu, relu6), make_rule("back", relu6, relu)};
    std::printf("%s\n", rewrite_to_fixed_point(loop, rules, context, 10).error().message.c_str());
}
