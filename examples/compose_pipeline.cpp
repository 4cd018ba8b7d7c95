// SPDX-License-Identifier: MIT
// A pipeline is a type. That it compiles is the proof that only legal ops can leave it, and that the order is right.
#include <cstdio>

#include <headrace/ir/listing.hpp>
#include <headrace/pass/description.hpp>

#include "my_passes.hpp"
#include "small_graph.hpp"

using namespace headrace;

struct lower_mine : pipeline<from<my::dialect>, to<aten::sigmoid, aten::mul_tensor, aten::add_tensor>,  //
                             my::decompose_swish, my::lower_scale_shift> {};

// What it knows of itself, all at compile time.
static_assert(lower_mine::supported.contains<my::swish>());      // and so what a partitioner may take
static_assert(!lower_mine::ops_before(1).contains<my::swish>());  // the first pass always rewrites it
static_assert(lower_mine::dead_pass_count == 0);

int main() {
    for (const pass_description& p : describe<lower_mine>().passes) {
        std::printf("%zu ops can be here, then %.*s\n", p.ops_before, static_cast<int>(p.name.size()), p.name.data());
    }
    std::printf("what can leave:");
    lower_mine::ops_after().for_each([](std::string_view op) { std::printf(" %.*s", static_cast<int>(op.size()), op.data()); });

    small_graph g;
    g.output(g.make<my::scale_shift>({.self = g.input("x", {1, 8}), .scale = 3}));
    pass_context context;
    const run_statistics done = lower_mine::run(g, context).value();
    for (const pass_record& p : done) std::printf("\n%s: %s", std::string(p.name).c_str(), name_of(p.status).data());
    std::printf("\n%s", listing(g).c_str());
}
