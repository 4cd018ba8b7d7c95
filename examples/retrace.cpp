// SPDX-License-Identifier: MIT
// Runs handlers under another driver: like ExportPass, it rebuilds the graph and infers nodes that have no
// `val`.
#include <cstdio>

#include <headrace/infer/aten.hpp>
#include <headrace/infer/graph_builder.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/pass/pipeline.hpp>

#include "my_passes.hpp"

using namespace headrace;

result<void> infer(const node& n, inference& out) {
    return find_rule<aten::dialect, my::dialect>(*n.op)(n.arguments, out);
}

int main() {
    graph g;
    graph_builder b(g);
    const value x = b.input("x", {2, 8});
    const value product = b.make<aten::mul_tensor>({.self = x, .other = x});
    const value sum = b.make<aten::relu>({.self = product});
    b.output({b.make<my::swish>({.self = sum})});
    g.clear_meta(product);  // as after a pass that changed something before it

    pass_context context(&infer);
    const node_counts done = apply_pass(my::decompose_swish{}, g, context, driver_kind::retracing).value();
    std::printf(
        "%zu rewritten, %zu copied, %zu inferred again\n", done.rewritten, done.copied, done.inferred);
    std::printf("%s", listing(g).c_str());
}
