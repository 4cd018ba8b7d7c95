// SPDX-License-Identifier: MIT
// Tests the exports' record of the Python code that nodes come from: source lines in messages, and partitions
// by source.
#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <headrace/infer/inference.hpp>
#include <headrace/io/pt2/pt2.hpp>
#include <headrace/ir/source_location.hpp>
#include <headrace/partition/source_partitions.hpp>
#include <headrace/rewrite/pass_context.hpp>

#include "read_fixture.hpp"

using namespace headrace;
using headrace::testing::read_fixture;

namespace {

// The export of torch.export.export(model, inputs), and the one with strict=True.
constexpr std::string_view fixture_names[] = {"sources", "sources_strict"};

const node& node_of(const graph& g, std::string_view name) {
    for (const node& n : g.nodes()) {
        if (n.name() == name) return n;
    }
    FAIL("no node " << name);
    return *g.first();
}

std::vector<std::string> names_of(const std::vector<node*>& nodes) {
    std::vector<std::string> names;
    for (const node* n : nodes) names.emplace_back(n->name());
    return names;
}

using strings = std::vector<std::string>;

}  // namespace

TEST_CASE("a node has the metadata of its Python call, as the exporter wrote them", "[source_metadata]") {
    const program p = read_fixture("sources_strict");
    const node& n = node_of(*p.graph, "addmm_1");
    const auto* call = n.find_annotation<traced_call>();
    REQUIRE(call != nullptr);
    CHECK(call->source_fn_stack == "linear_1,torch.nn.modules.linear.Linear");
    CHECK(call->torch_fn == "linear_2;builtin_function_or_method.linear");
    CHECK(call->from_node.starts_with(R"([{"name": "linear_1", "target": "aten.linear.default")"));
    CHECK(call->stack_trace.find("functional_export.py") != std::string_view::npos);
    CHECK(call->stack_trace.find("x = self.linear1(x)") != std::string_view::npos);

    const program traced = read_fixture("sources");
    const auto* other = node_of(*traced.graph, "mm").find_annotation<traced_call>();
    REQUIRE(other != nullptr);
    CHECK(other->source_fn_stack.empty());
    CHECK(other->torch_fn == "linear_4;builtin_function_or_method.linear");

    const program stripped = read_fixture("conv_bn_relu");
    for (const node& plain : stripped.graph->nodes()) {
        CHECK(plain.find_annotation<traced_call>() == nullptr);
        CHECK(source_line(plain).empty());
    }
}

TEST_CASE("messages begin with the line of the model, not of PyTorch's modules", "[source_metadata]") {
    for (const std::string_view name : fixture_names) {
        INFO(name);
        const program p = read_fixture(name);
        CHECK(source_line(node_of(*p.graph, "addmm")) == "net.py:12");
        CHECK(source_line(node_of(*p.graph, "addmm_1")) == "net.py:13");
        CHECK(source_line(node_of(*p.graph, "mm")) == "net.py:16");
        CHECK(message_prefix(node_of(*p.graph, "relu")) == "net.py:14: relu (aten.relu.default): ");
        pass_context context;
        context.report(node_of(*p.graph, "relu"), "it cannot");
        CHECK(context.diagnostics()[0].source == "net.py:14");
        CHECK(diagnostic_text(context.diagnostics()[0]) == "net.py:14: relu (aten.relu.default): it cannot");
    }
}

TEST_CASE("partitions by module type, of a real export: one module is called twice", "[source_metadata]") {
    for (const std::string_view name : fixture_names) {
        INFO(name);
        const program p = read_fixture(name);
        const auto found = get_source_partitions(*p.graph, {"torch.nn.Linear", "torch.nn.ReLU"});
        REQUIRE(found.size() == 2);
        const auto& linears = found.find("torch.nn.Linear")->second;
        REQUIRE(linears.size() == 3);
        const strings inputs[] = {{"x"}, {"addmm"}, {"relu"}};
        const strings outputs[] = {{"addmm"}, {"addmm_1"}, {"addmm_2"}};
        for (std::size_t i = 0; i != 3; ++i) {
            CHECK(linears[i].module_type == "torch.nn.modules.linear.Linear");
            CHECK(linears[i].path == (i == 2 ? "linear2" : "linear1"));
            CHECK(names_of(linears[i].input_nodes) == inputs[i]);
            CHECK(names_of(linears[i].output_nodes) == outputs[i]);
            CHECK(linears[i].params.size() == 2);
        }
        // The calls of linear1 share its parameters; those of linear2 are its own.
        CHECK(linears[0].nodes.size() == 2);
        CHECK(linears[1].params == linears[0].params);
        CHECK(linears[2].nodes.size() == 4);
        const auto& relus = found.find("torch.nn.ReLU")->second;
        REQUIRE(relus.size() == 1);
        CHECK(names_of(relus[0].nodes) == strings{"relu"});
        CHECK(names_of(relus[0].input_nodes) == strings{"addmm_1"});
        CHECK(relus[0].params.empty());
    }
}

TEST_CASE("partitions by function, of a real export", "[source_metadata]") {
    for (const std::string_view wanted : {"torch.nn.functional.linear", "F.linear", "linear"}) {
        INFO(wanted);
        // A strict export records the module where PyTorch's own module makes the call.
        const program strict = read_fixture("sources_strict");
        const auto found = get_source_partitions(*strict.graph, {wanted});
        REQUIRE(found.size() == 1);
        REQUIRE(found.begin()->second.size() == 1);
        const source_partition& call = found.begin()->second[0];
        CHECK(call.module_type == "torch._C._nn.linear");
        CHECK(call.path.empty());
        CHECK(names_of(call.input_nodes) == strings{"addmm_2"});
        CHECK(names_of(call.output_nodes) == strings{"mm"});
        CHECK(call.nodes.size() == 3);
        CHECK(call.params.size() == 1);

        const program traced = read_fixture("sources");
        const auto all = get_source_partitions(*traced.graph, {wanted});
        REQUIRE(all.size() == 1);
        REQUIRE(all.begin()->second.size() == 4);
        CHECK(names_of(all.begin()->second[3].output_nodes) == strings{"mm"});
        CHECK(all.begin()->second[1].path == "linear1");
    }
    const program p = read_fixture("sources");
    CHECK(get_source_partitions(*p.graph, {"torch.nn.functional.relu"}).size() == 1);
    CHECK(get_source_partitions(*p.graph, {"torch.nn.functional.conv2d", "mine.linear"}).empty());
}

TEST_CASE("metadata of other kinds than text are not read", "[source_metadata]") {
    CHECK(call_of({}).call.empty());
    CHECK(call_of({.torch_fn = "no separator"}).function.empty());
    CHECK(call_of({.source_fn_stack = "a,torch.x;b,torch._C._nn.gelu"}).function == "torch._C._nn.gelu");
    CHECK(call_of({.source_fn_stack = "a,torch.x;b,torch._C._nn.gelu"}).call == "b");
}
