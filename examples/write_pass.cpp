// SPDX-License-Identifier: MIT
// A pass is a struct with rewrites, which are expressions, and with handlers where a rewrite is code.
#include <cstdio>

#include <headrace/infer/graph_builder.hpp>
#include <headrace/ir/listing.hpp>
//! [pass]
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pipeline.hpp>
#include <headrace/rewrite/arithmetic.hpp>

#include "my_dialect.hpp"

using namespace headrace;

/// Rewrites my.swish to x * sigmoid(beta * x), and removes my.scale_shift if it is the identity. Targets and
/// effects follow from the types of the expressions.
struct decompose_mine : pass {
    static constexpr std::string_view summary =
        "swish as a product with sigmoid; an idle scale_shift is dropped";
    static auto rewrites() {
        return rules(
            on<my::swish> = [](auto x, const auto& a) { return x * sigmoid(x * a.beta); },
            on<my::scale_shift> = [](auto x, const auto& a) {  // may decline
                return choose(
                    a.scale == 1 && a.shift == 0, [&] { return x; }, unchanged);
            });
    }
};
static_assert(effects_of<decompose_mine>::produced_set == ops_in<aten::mul_tensor, aten::sigmoid>);
static_assert(effects_of<decompose_mine>::removed_set == ops_in<my::swish>);

/// Lowers my.scale_shift and omits steps that are the identity. If a rewrite is code, a function makes the
/// nodes: the list of its emitter has all ops that it may emit, and it can emit no others.
struct lower_mine : pass {
    using runs_after = pass_list<decompose_mine>;
    static auto rewrites() { return rules(on<my::scale_shift> = code<steps>()); }

private:
    using made = ops<aten::mul_tensor, aten::add_tensor>;
    static value steps(emit<made> e, const args<my::scale_shift>& a) {
        const auto number = [&](double x) { return e.splat(x, e.dtype(a.self), e.rank(a.self)); };
        value y = a.self;
        if (a.scale != 1) y = e.make<aten::mul_tensor>(y, number(a.scale));
        if (a.shift != 0) y = e.make<aten::add_tensor>({.self = y, .other = number(a.shift)});
        return y;
    }
};
//! [pass]

int main() {
    graph g;
    graph_builder b(g);
    const value same = b.make<my::scale_shift>({.self = b.input("x", {1, 8})});
    b.output({b.make<my::swish>({.self = b.make<my::scale_shift>({.self = same, .shift = 1}), .beta = 2})});
    pass_context context;
    const auto first = apply_pass(decompose_mine{}, g, context);
    std::printf("%zu rewritten, %zu declined\n", first.value().rewritten, first.value().declined);
    const auto second = apply_pass(lower_mine{}, g, context);
    std::printf("%zu rewritten by code\n", second.value().rewritten);
    std::printf("%s", listing(g).c_str());
}
