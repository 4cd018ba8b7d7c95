// SPDX-License-Identifier: MIT
// Tests copies of whole graphs, and of some of their nodes.

#include <catch2/catch.hpp>

#include <headrace/infer/verify.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/partition/extract.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

// x -> relu -> (+ constant) -> cond -> output
void build(program& p) {
    const value x = p.input(dtype::float32, {2});
    p.g.set_name(x, "x");
    const value bent = p.make<aten::relu>({.self = x});
    const value step = p.constant<float>(dtype::float32, {2}, {1, 2});
    const value sum = p.make<aten::add_tensor>({.self = bent, .other = step});
    const value flag = p.make<aten::any>({.self = sum});
    graph* branches[2];
    for (graph*& region : branches) {
        region = &p.g.create_region();
        const value inner = region->create<builtin::placeholder>({}).result();
        region->set_meta(inner, {dtype::float32, {2}, {}});
        const value made = region->create<aten::neg>({.self = inner}).result();
        region->set_meta(made, {dtype::float32, {2}, {}});
        region->create<builtin::output>({.values = {&made, 1}});
    }
    p.output(p.make<higher_order::cond>({flag, branches[0], branches[1], {&sum, 1}}));
    p.finish();
}

}  // namespace

TEST_CASE("a copied graph is the same graph", "[extract]") {
    program p;
    build(p);
    REQUIRE(p.fault.empty());
    graph copy;
    copy_graph(p.g, copy);
    CHECK(verify(copy).has_value());
    CHECK(listing(copy) == listing(p.g));
    CHECK(verify(p.g).has_value());
    const std::vector<tensor> inputs{tensor::of(dtype::float32, {2}, std::vector<double>{1, -3})};
    CHECK(
        tensor_difference(run_graph(copy, inputs).value()[0], run_graph(p.g, inputs).value()[0], 0).empty());
}

TEST_CASE("extracted nodes take what they use and give what is used", "[extract]") {
    program p;
    build(p);
    std::vector<node*> nodes;
    for (node& n : p.g.nodes()) {
        if (is<aten::add_tensor>(n) || is<aten::any>(n)) nodes.push_back(&n);
    }
    graph part;
    const extraction border = extract_nodes(nodes, part);
    REQUIRE(verify(part).has_value());
    REQUIRE(border.operands.size() == 1);
    CHECK(is<aten::relu>(*border.operands[0].producer));
    REQUIRE(border.results.size() == 2);  // the sum, which the branch uses, and the flag
    CHECK(border.results[0].producer == nodes[0]);
    CHECK(border.results[1].producer == nodes[1]);
    CHECK(part.census().count(info_of<builtin::constant>) == 1);
    CHECK(p.g.census().count(info_of<builtin::constant>) == 1);
}

TEST_CASE("a value that is used twice is one input and one output", "[extract]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value square = p.make<aten::mul_tensor>({.self = x, .other = x});
    p.output(p.make<aten::relu>({.self = square}));
    p.output(p.make<aten::neg>({.self = square}));
    p.finish();
    graph part;
    node* nodes[] = {square.producer};
    const extraction border = extract_nodes(nodes, part);
    CHECK(border.operands.size() == 1);
    CHECK(border.results.size() == 1);
}
