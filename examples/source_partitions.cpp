// SPDX-License-Identifier: MIT
// Finds the nodes that each module of a model became, by the module stacks that torch.export writes.
#include <cstdio>

#include <headrace/infer/aten.hpp>
#include <headrace/infer/graph_builder.hpp>
//! [sources]
#include <headrace/partition/source_partitions.hpp>

using namespace headrace;

// Each partition has its nodes, inputs, outputs and parameters, and the path of its module.
auto layers(const graph& g) { return get_source_partitions(g, {"nn.Linear", "nn.ReLU"}); }
//! [sources]

// A linear layer after decomposition: a transposed weight and a product.
value linear(graph& g, value x, value weight, value bias, const char* call) {
    graph_builder b(g);
    const value turned = b.make<aten::permute>({.self = weight, .dims = {1, 0}});
    const value product = b.make<aten::addmm>({.self = bias, .mat1 = x, .mat2 = turned});
    const std::string frame = std::string(call) + ",linear1,torch.nn.modules.linear.Linear";
    for (const value v : {turned, product}) g.annotate(*v.producer, module_stack{g.own(frame)});
    return product;
}

value parameter(graph& g, const char* name, const int_list& shape) {
    const value v = create_constant(g, {dtype::float32, shape, {}}, nullptr, [](std::span<std::byte>) {});
    g.set_name(v, name);
    return v;
}

int main() {
    graph g;
    graph_builder b(g);
    const value weight = parameter(g, "linear1.weight", {3, 3});
    const value bias = parameter(g, "linear1.bias", {3});
    value x = linear(g, b.input("x", {2, 3}), weight, bias, "L__self__linear1");
    x = linear(g, x, weight, bias, "L__self__linear1@1");
    const value bent = b.make<aten::relu>({.self = x});
    g.annotate(*bent.producer, module_stack{"L__self__relu,relu,torch.nn.modules.activation.ReLU"});
    b.output({bent});

    for (const auto& [source, partitions] : layers(g)) {
        for (const source_partition& p : partitions) {
            std::printf("%s, %s: %zu nodes, %zu inputs, %zu outputs", source.c_str(), p.path.c_str(),
                p.nodes.size(), p.input_nodes.size(), p.output_nodes.size());
            for (const std::string& name : p.params) std::printf(", %s", name.c_str());
            std::printf("\n");
        }
    }
}
