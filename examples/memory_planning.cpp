// SPDX-License-Identifier: MIT
// Out-variants and memory planning: the offset of each tensor of a graph, and how little memory is enough.
#include <cstdio>
#include <string>

#include <headrace/infer/aten.hpp>
#include <headrace/infer/graph_builder.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/memory/memory_plan.hpp>
#include <headrace/memory/plan_memory.hpp>
#include <headrace/memory/to_out_variants.hpp>

using namespace headrace;

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

    // Both steps as passes: ops write to buffers that the graph names, and each buffer gets its offset.
    pass_context context;
    const std::size_t converted = to_out_variants{}(g, context).value();
    const std::size_t placed = plan_memory{}(g, context).value();
    std::printf("%zu ops converted, %zu tensors placed\n%s", converted, placed, listing(g).c_str());
}
