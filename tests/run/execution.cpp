// SPDX-License-Identifier: MIT
// Tests execute.
#include <catch2/catch.hpp>

#include <span>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/run/execution.hpp>

using namespace headrace;

namespace {

value add_input(graph& g) {
    const value x = g.create<builtin::placeholder>({}).result();
    g.set_meta(x, {dtype::float32, {3}, {}});
    return x;
}
std::vector<double> executed(const graph& g) {
    const tensor x = tensor::of(dtype::float32, {3}, std::vector<double>{-2, 0.5, 3});
    const auto outputs = execute(g, std::span(&x, 1));
    REQUIRE(outputs);
    return outputs.value().front().to<double>();
}

}  // namespace

TEST_CASE("what is written in place is seen by those who read it later", "[execute]") {
    graph g;
    const value x = add_input(g);
    const value before = g.create<aten::neg>({.self = x}).result();
    g.create<aten::relu_inplace>({.self = x});
    const value sum = g.create<aten::add_tensor>({.self = x, .other = before}).result();
    for (node& n : g.nodes()) g.set_meta(n.result(), {dtype::float32, {3}, {}});
    g.create<builtin::output>({.values = {sum}});
    CHECK(executed(g) == std::vector<double>{2, 0, 0});
    CHECK(g.census().count(info_of<aten::relu_inplace>) == 1);  // in a copy
}

TEST_CASE("what a region writes in place is seen outside", "[execute]") {
    graph g;
    const value x = add_input(g);
    graph& inner = g.create_region();
    const value operand = add_input(inner);
    const value written = inner.create<aten::relu_inplace>({.self = operand}).result();
    inner.set_meta(written, {dtype::float32, {3}, {}});
    inner.create<builtin::output>({.values = {written}});
    node& call = g.create<higher_order::wrap_with_set_grad_enabled>(
        {.enabled = false, .wrapped_graph = &inner, .operands = {x}}, 1);
    g.set_meta(call.result(), {dtype::float32, {3}, {}});
    const value sum = g.create<aten::add_tensor>({.self = x, .other = call.result()}).result();
    g.set_meta(sum, {dtype::float32, {3}, {}});
    g.create<builtin::output>({.values = {sum}});
    CHECK(executed(g) == std::vector<double>{0, 1, 6});
}
