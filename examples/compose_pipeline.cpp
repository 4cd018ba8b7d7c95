// SPDX-License-Identifier: MIT
// A pipeline is a type. If it compiles, only legal ops leave it and the passes are in a valid order.
#include <iostream>

#include <headrace/infer/graph_builder.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/pass/description.hpp>
//! [pipeline]
#include <headrace/pass/pipeline.hpp>

#include "my_passes.hpp"

using namespace headrace;

using plain_aten = to<aten::sigmoid, aten::mul_tensor, aten::add_tensor, my::swish_decomposed>;
struct lower_mine : pipeline<from<my::dialect>, plain_aten, my::decompose_swish, my::lower_scale_shift> {};

// A pipeline's own facts, all at compile time.
static_assert(lower_mine::supported.contains<my::swish>());       // and so a partitioner may take it
static_assert(!lower_mine::ops_before(1).contains<my::swish>());  // the first pass always rewrites it
static_assert(lower_mine::dead_pass_count == 0);
//! [pipeline]

//! [run]
// An error names each node that cannot be lowered, and the reason.
result<run_statistics> run(graph& g) {
    pass_context context;
    return lower_mine::run(g, context);
}
//! [run]

int main() {
    for (const pass_description& p : describe<lower_mine>().passes) {
        std::cout << p.before.size() << " ops can be here, then " << p.name << '\n';
    }
    std::cout << "what can leave:";
    lower_mine::ops_after().for_each([](std::string_view op) { std::cout << ' ' << op; });

    graph g;
    graph_builder b(g);
    b.output({b.make<my::scale_shift>({.self = b.input("x", {1, 8}), .scale = 3})});
    const result<run_statistics> done = run(g);
    if (!done) {
        std::cerr << "error: " << done.error().message << '\n';
        return 1;
    }
    for (const pass_record& p : done.value()) std::cout << '\n' << p.name << ": " << name_of(p.status);
    std::cout << '\n' << listing(g);
}
