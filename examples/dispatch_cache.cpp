// SPDX-License-Identifier: MIT
// Repeated inferences are looked up in a cache. A scope adds dialects while it lives.
#include <cstdio>

#include <headrace/fx/dispatch_cache.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/graph_builder.hpp>
#include <headrace/pass/pipeline.hpp>

#include "my_passes.hpp"

using namespace headrace;

result<void> infer(const node& n, inference& out) {
    return find_rule<aten::dialect, my::dialect>(*n.op)(n.arguments, out);
}

// Infers every node again, like the retracing driver if it may not copy nodes that are not targets.
void infer_all(graph& g, dispatch_cache& cache, const char* when) {
    pass_context context(&infer);
    context.copy_fast(false);
    context.force_passes(true);  // there is no swish: the graph is only inferred
    context.use_cache(&cache);
    cache.reset_counts();
    if (!apply_pass(my::decompose_swish{}, g, context, driver_kind::retracing)) std::printf("failed\n");
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
    infer_all(g, cache, "ATen alone");
    {
        const auto with_mine = cache.extend<my::dialect>();
        infer_all(g, cache, "with my dialect");
        infer_all(g, cache, "once more");
    }
    infer_all(g, cache, "after the scope");
}
