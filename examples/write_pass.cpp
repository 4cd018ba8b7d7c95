// SPDX-License-Identifier: MIT
// A pass is a struct of handlers. What it does to which op, the compiler reads off their signatures.
#include <cstdio>

#include <headrace/infer/aten.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/pass/pipeline.hpp>

#include "my_dialect.hpp"
#include "small_graph.hpp"

using namespace headrace;

//! [pass]
/// Writes my.swish as x * sigmoid(beta * x), and drops my.scale_shift where it does nothing.
struct decompose_mine : pass {
    using targeted_ops = ops<my::swish, my::scale_shift>;
    using produces = ops<aten::sigmoid, aten::mul_tensor>;

    value operator()(const args<my::swish>& a, emit<produces>& e) const {  // always rewrites
        const value beta = e.splat(a.beta, e.dtype(a.self), e.rank(a.self));
        const value gate = e.make<aten::sigmoid>(e.make<aten::mul_tensor>(a.self, beta));
        return e.make<aten::mul_tensor>(a.self, gate);
    }
    std::optional<value> operator()(const args<my::scale_shift>& a, emit<produces>&) const {  // may decline
        if (a.scale == 1 && a.shift == 0) return a.self;
        return std::nullopt;
    }
};
static_assert(effects_of<decompose_mine>::removed_set == ops_in<my::swish>);
//! [pass]

int main() {
    small_graph g;
    const value same = g.make<my::scale_shift>({.self = g.input("x", {1, 8})});
    g.output(g.make<my::swish>({.self = g.make<my::scale_shift>({.self = same, .shift = 1}), .beta = 2}));
    pass_context context;
    const auto done = apply_pass(decompose_mine{}, g, context);
    std::printf("%zu rewritten, %zu declined\n", done.value().rewritten, done.value().declined);
    std::printf("%s", listing(g).c_str());
}
