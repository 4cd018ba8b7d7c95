// SPDX-License-Identifier: MIT
// Repeated inferences are looked up in a cache. A scope adds dialects while it lives.
#include <cstdio>

#include <headrace/infer/graph_builder.hpp>

//! [cache]
#include <headrace/fx/dispatch_cache.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pipeline.hpp>

#include "my_passes.hpp"

using namespace headrace;

result<void> infer(const node& n, inference& out) {
    return find_rule<aten::dialect, my::dialect>(*n.op)(n.arguments, out);
}

// Infers every node again, like the retracing driver if it may not copy nodes that are not targets.
result<node_counts> infer_all(graph& g, dispatch_cache& cache) {
    pass_context context(&infer);
    context.copy_fast(false);
    context.force_passes(true);  // there is no swish: the graph is only inferred
    context.use_cache(&cache);
    return apply_pass(my::decompose_swish{}, g, context, driver_kind::retracing);
}

// The scope adds a dialect, and takes it out again.
result<node_counts> infer_mine(graph& g, dispatch_cache& cache) {
    const auto with_mine = cache.extend<my::dialect>();
    return infer_all(g, cache);
}
//! [cache]

template <class Infer>
void count(Infer infer_nodes, graph& g, dispatch_cache& cache, const char* when) {
    cache.reset_counts();
    if (!infer_nodes(g, cache)) std::printf("failed\n");
    std::printf("%s: %zu hits, %zu misses, %zu past the cache\n", when, cache.hits(), cache.misses(),
        cache.bypassed());
}

int main() {
    graph g;
    graph_builder b(g);
    value v = b.input("x", {2, 8});
    for (int i = 0; i != 4; ++i)
        v = b.make<my::scale_shift>({.self = b.make<aten::relu>({.self = v}), .scale = 2});
    b.output({v});

    dispatch_cache cache({&info_of_dialect<aten::dialect>});
    count(&infer_all, g, cache, "ATen alone");
    count(&infer_mine, g, cache, "with my dialect");
    count(&infer_mine, g, cache, "once more");
    count(&infer_all, g, cache, "after the scope");
}
