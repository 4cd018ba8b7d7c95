// SPDX-License-Identifier: MIT
// Tests Graphviz output, word for word.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <sstream>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/text/dot.hpp>

using namespace headrace;

namespace {

std::string dot_of(const graph& g) {
    std::ostringstream out;
    write_dot(out, g);
    return out.str();
}

TEST_CASE("nodes have op, name and type, edges the operand's position") {
    graph g;
    node& x = g.create<builtin::placeholder>({});
    g.set_name(x.result(), "x\"y");
    g.set_meta(x.result(), {dtype::float32, {2, 3}, {}});
    node& sum = g.create<aten::add_tensor>({.self = x.result(), .other = x.result()});
    node& abs = g.create<tosa::abs>({.input1 = sum.result()});
    g.create<builtin::output>({.values = {abs.result()}});
    CHECK(dot_of(g) == R"(digraph G {
node [shape=box, style=filled, fontname="monospace"];
n0 [label="builtin.placeholder\n%x\"y: float32[2, 3]", fillcolor="#e8e8e8"];
n1 [label="aten.add.Tensor\n%add: ?", fillcolor="#cfe2f3"];
n2 [label="tosa.ABS\n%abs: ?", fillcolor="#d9ead3"];
n3 [label="builtin.output", fillcolor="#e8e8e8"];
n0->n1  [label="self"];
n0->n1  [label="other"];
n1->n2  [label="input1"];
n2->n3  [label="values"];
}
)");
}

TEST_CASE("constants and arguments stand in the node, modules are clusters") {
    graph g;
    node& x = g.create<builtin::placeholder>({});
    g.set_name(x.result(), "x");
    const auto zeros = [](std::span<std::byte> data) { std::ranges::fill(data, std::byte{0}); };
    const value weight = create_constant(g, {dtype::float32, {64, 3}, {}}, nullptr, zeros);
    const value four = create_constant(g, {dtype::int32, {2, 2}, {}}, nullptr, zeros);
    node& linear = g.create<aten::linear>({.input = x.result(), .weight = weight});
    node& sum = g.create<aten::add_tensor>({.self = linear.result(), .other = four, .alpha = 3});
    g.annotate(linear, module_stack{"L__self__,,Net;L__self__enc,enc,Encoder;L__self__enc_fc,enc.fc,Linear"});
    g.annotate(sum, module_stack{"L__self__,,Net;L__self__enc,enc,Encoder"});
    g.create<builtin::output>({.values = {sum.result()}});
    CHECK(dot_of(g) == R"(digraph G {
node [shape=box, style=filled, fontname="monospace"];
subgraph "cluster_m0" {
label="enc";
n4;
subgraph "cluster_m1" {
label="enc.fc";
n3;
}
}
n0 [label="builtin.placeholder\n%x: ?", fillcolor="#e8e8e8"];
n3 [label="aten.linear.default\nweight float32[64, 3]\n%linear: ?", fillcolor="#cfe2f3"];
n4 [label="aten.add.Tensor\nalpha 3\nother = [0, 0, 0, 0]\n%add: ?", fillcolor="#cfe2f3"];
n5 [label="builtin.output", fillcolor="#e8e8e8"];
n0->n3  [label="input"];
n3->n4  [label="self"];
n4->n5  [label="values"];
}
)");
}

TEST_CASE("a region is a cluster") {
    graph g;
    node& p = g.create<builtin::placeholder>({});
    graph& region = g.create_region();
    node& x = region.create<builtin::placeholder>({});
    region.create<builtin::output>({.values = {x.result()}});
    using wrapped = higher_order::wrap_with_set_grad_enabled;
    node& held = g.create<wrapped>({false, &region, {p.result()}}, 1);
    g.create<builtin::output>({.values = {held.result()}});
    CHECK(dot_of(g) == R"(digraph G {
node [shape=box, style=filled, fontname="monospace"];
subgraph "cluster_r0_" {
label="wrapped_graph of %wrap_with_set_grad_enabled";
r0_n0 [label="builtin.placeholder\n%placeholder_1: ?", fillcolor="#e8e8e8"];
r0_n1 [label="builtin.output", fillcolor="#e8e8e8"];
r0_n0->r0_n1  [label="values"];
}
n0 [label="builtin.placeholder\n%placeholder: ?", fillcolor="#e8e8e8"];
n1 [label="higher_order.wrap_with_set_grad_enabled\n%wrap_with_set_grad_enabled: ?", fillcolor="#d9d2e9"];
n2 [label="builtin.output", fillcolor="#e8e8e8"];
n0->n1  [label="operands"];
n1->n2  [label="values"];
}
)");
}

}  // namespace
