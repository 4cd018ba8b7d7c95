// SPDX-License-Identifier: MIT
// Out-variants and memory planning: the offset of each tensor of a graph, and how little memory is enough.
#include <cstdio>
#include <string>

#include <headrace/infer/aten.hpp>
#include <headrace/infer/graph_builder.hpp>
#include <headrace/ir/listing.hpp>
//! [plan]
#include <headrace/memory/memory_plan.hpp>
#include <headrace/memory/plan_memory.hpp>
#include <headrace/memory/to_out_variants.hpp>

using namespace headrace;

// Ops write to buffers that the graph names, and each buffer gets its offset.
result<std::size_t> place_tensors(graph& g) {
    pass_context context;
    HEADRACE_TRY(to_out_variants{}(g, context));
    return plan_memory{}(g, context);
}

// The plan without a change of the graph: the offset and the lifetime of each tensor, the peak and its lower bound.
result<memory_plan> plan(const graph& g) {
    return make_memory_plan(g, {.algorithm = planning_algorithm::best_fit});
}
//! [plan]

// Two products, both of which need the input, and their sum.
void fill(graph& g) {
    graph_builder b(g);
    const value x = b.input("x", {8, 64});
    const value narrow = b.make<aten::mm>({.self = x, .mat2 = b.input("a", {64, 16})});
    const value wide = b.make<aten::mm>({.self = x, .mat2 = b.input("b", {64, 128})});
    const value half =
        b.make<aten::mm>({.self = b.make<aten::relu>({wide}), .mat2 = b.input("c", {128, 16})});
    b.output({b.make<aten::add_tensor>({.self = narrow, .other = half})});
}

void print(const graph& g, const memory_plan& plan) {
    const printed_names names(g);
    const planned_memory& m = plan.memories[0];
    std::printf("%s: peak %llu, lower bound %llu at step %u\n",
        std::string(name_of(plan.options.algorithm)).c_str(), static_cast<unsigned long long>(m.bytes),
        static_cast<unsigned long long>(m.lower_bound), m.fullest_step);
    for (const planned_tensor& t : plan.tensors)
        std::printf("  %-8s bytes %5llu to %5llu, steps %u to %u\n", std::string(names[t.tensor]).c_str(),
            static_cast<unsigned long long>(t.offset), static_cast<unsigned long long>(t.offset + t.bytes),
            t.first, t.last);
}

int main() {
    graph g;
    fill(g);
    for (const auto algorithm : {planning_algorithm::greedy, planning_algorithm::best_fit})
        print(g, make_memory_plan(g, {.algorithm = algorithm}).value());

    // An invalid plan is detected: the second product would overwrite the first.
    memory_plan wrong = make_memory_plan(g).value();
    wrong.tensors[5].offset = wrong.tensors[4].offset;
    wrong.memories[0].bytes *= 2;
    std::printf("%s\n", verify_plan(g, wrong).error().message.c_str());

    std::printf("%zu tensors placed\n", place_tensors(g).value());
    std::printf("%s", listing(g).c_str());
}
