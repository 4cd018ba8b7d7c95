// SPDX-License-Identifier: MIT
// Tests partitions by module: the documents' example, as torch.export records it.

#include <algorithm>

#include <catch2/catch.hpp>

#include <headrace/partition/source_partitions.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr std::string_view linear = "torch.nn.modules.linear.Linear";
constexpr std::string_view relu = "torch.nn.modules.activation.ReLU";

// linear1 twice, relu, linear2; each linear is a permute and an addmm.
struct document_model : program {
    std::vector<value> permutes, products;
    value x, bent;

    document_model() {
        x = input(dtype::float32, {3, 3});
        const value weight1 = parameter("linear1.weight", {3, 3});
        const value bias1 = parameter("linear1.bias", {3});
        const value weight2 = parameter("linear2.weight", {5, 3});
        const value bias2 = parameter("linear2.bias", {5});
        call(x, weight1, bias1, "L__self__linear1,linear1,");
        call(products[0], weight1, bias1, "L__self__linear1@1,linear1,");
        bent = make<aten::relu>({.self = products[1]});
        mark(bent, "L__self__relu,relu,", relu);
        call(bent, weight2, bias2, "L__self__linear2,linear2,");
        output(products[2]);
        finish();
    }
    value parameter(std::string_view name, const int_list& shape) {
        const value v = create_constant(g, {dtype::float32, shape, {}}, nullptr,
            [](std::span<std::byte> data) { std::ranges::fill(data, std::byte{0}); });
        g.set_name(v, name);
        return v;
    }
    void call(value in, value weight, value bias, std::string_view frame) {
        permutes.push_back(make<aten::permute>({.self = weight, .dims = {1, 0}}));
        products.push_back(make<aten::addmm>({.self = bias, .mat1 = in, .mat2 = permutes.back()}));
        mark(permutes.back(), frame, linear);
        mark(products.back(), frame, linear);
    }
    void mark(value v, std::string_view frame, std::string_view type) {
        const std::string text = "L__self__,,__main__.M;" + std::string(frame) + std::string(type);
        g.annotate(*v.producer, module_stack{g.own(text)});
    }
};

}  // namespace

TEST_CASE("module stacks are read frame by frame", "[source_partitions]") {
    const auto frames = module_frames("L__self__,,__main__.M;L__self__a,a.b,torch.nn.modules.linear.Linear");
    REQUIRE(frames.size() == 2);
    CHECK(frames[0].path.empty());
    CHECK(frames[0].type == "__main__.M");
    CHECK(frames[1].call == "L__self__a");
    CHECK(frames[1].path == "a.b");
    CHECK(frames[1].type == linear);
    CHECK(module_frames("").empty());
    CHECK(module_frames(";;no commas;one,comma").empty());
}

TEST_CASE("the document's example: a linear that is called twice, a relu, a linear", "[source_partitions]") {
    const document_model m;
    REQUIRE(m.fault.empty());
    const auto found = get_source_partitions(m.g, {linear, relu});
    REQUIRE(found.size() == 2);
    const auto& linears = found.find(linear)->second;
    REQUIRE(linears.size() == 3);
    for (std::size_t i = 0; i != 3; ++i) {
        const source_partition& p = linears[i];
        CHECK(p.module_type == linear);
        CHECK(p.path == (i == 2 ? "linear2" : "linear1"));
        CHECK(p.output_nodes == std::vector<node*>{m.products[i].producer});
        REQUIRE(p.input_nodes.size() == 1);
        const value in[] = {m.x, m.products[0], m.bent};
        CHECK(p.input_nodes[0] == in[i].producer);
        const std::string prefix = i == 2 ? "linear2." : "linear1.";
        CHECK(p.params == std::vector<std::string>{prefix + "weight", prefix + "bias"});
    }
    // Nodes that the two calls share belong to neither.
    CHECK(linears[0].nodes == std::vector<node*>{m.permutes[0].producer, m.products[0].producer});
    CHECK(linears[2].nodes.size() == 4);

    const auto& relus = found.find(relu)->second;
    REQUIRE(relus.size() == 1);
    CHECK(relus[0].nodes == std::vector<node*>{m.bent.producer});
    CHECK(relus[0].input_nodes == std::vector<node*>{m.products[1].producer});
    CHECK(relus[0].output_nodes == std::vector<node*>{m.bent.producer});
    CHECK(relus[0].params.empty());
}

TEST_CASE("types have short names", "[source_partitions]") {
    const document_model m;
    for (const std::string_view name : {"torch.nn.Linear", "nn.Linear", "Linear"})
        CHECK(get_source_partitions(m.g, {name}).begin()->second.size() == 3);
    CHECK(get_source_partitions(m.g, {"Conv2d"}).empty());
    CHECK(get_source_partitions(m.g, {"M"}).empty());  // a short name refers to torch's modules
    const auto whole = get_source_partitions(m.g, {"__main__.M"});
    REQUIRE(whole.size() == 1);
    CHECK(whole.begin()->second.size() == 1);
    CHECK(whole.begin()->second[0].input_nodes == std::vector<node*>{m.x.producer});
}

TEST_CASE("nodes without a module belong to none", "[source_partitions]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    p.output(p.make<aten::relu>({.self = x}));
    p.finish();
    CHECK(get_source_partitions(p.g, {relu, linear}).empty());
}
