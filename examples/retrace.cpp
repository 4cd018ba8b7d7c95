// SPDX-License-Identifier: MIT
// Runs handlers under another driver: like ExportPass, it rebuilds the graph and infers nodes that have no
// `val`.
#include <cstdio>

#include <headrace/infer/graph_builder.hpp>
#include <headrace/ir/listing.hpp>
//! [retrace]
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pipeline.hpp>

#include "my_passes.hpp"

using namespace headrace;

/// Its targets follow from the rule that it inherits: where a graph has no my.swish it is skipped, and should_run
/// is not asked.
struct decompose_in_large_graphs : my::decompose_swish {
    bool should_run(const graph& g) const { return g.size() > 4; }
};

result<void> infer(const node& n, inference& out) {
    return find_rule<aten::dialect, my::dialect>(*n.op)(n.arguments, out);
}

// Nodes that are not targets are kept as they are; only those without metadata are inferred again.
result<node_counts> retrace(graph& g) {
    pass_context context(&infer);
    return apply_pass(decompose_in_large_graphs{}, g, context, driver_kind::retracing);
}
//! [retrace]

int main() {
    graph g;
    graph_builder b(g);
    const value x = b.input("x", {2, 8});
    const value product = b.make<aten::mul_tensor>({.self = x, .other = x});
    const value sum = b.make<aten::relu>({.self = product});
    b.output({b.make<my::swish>({.self = sum})});
    g.clear_meta(product);  // as after a pass that changed something before it

    const node_counts done = retrace(g).value();
    std::printf(
        "%zu rewritten, %zu copied, %zu inferred again\n", done.rewritten, done.copied, done.inferred);
    std::printf("%s", listing(g).c_str());
}
