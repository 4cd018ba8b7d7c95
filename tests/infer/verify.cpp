// SPDX-License-Identifier: MIT
// Tests that verify finds every way to break a graph, and names the node.

#include <catch2/catch.hpp>

#include <string>

#include <headrace/dialect/higher_order.hpp>
#include <headrace/infer/verify.hpp>
#include <headrace/ir/signature.hpp>

namespace {

// The test's own dialect, with one rule: as small as a rule can be.
namespace mine {
struct dialect;
struct copy : headrace::op<dialect, "mine.copy.default", "self"> {
    struct args {
        headrace::value self;
    };
};
struct dialect : headrace::dialect_of<"mine", copy> {};

headrace::result<void> infer_results(copy, const copy::args& a, headrace::inference& out) {
    const headrace::tensor_meta& in = headrace::inference::of(a.self);
    if (in.rank() > 2) return headrace::invalid("rank is above 2");
    out.add(in);
    return {};
}
}  // namespace mine

using namespace headrace;

struct sample {
    graph g;
    node& x = typed(g.create<builtin::placeholder>({}), "x", {2, 3});
    node& a = typed(g.create<mine::copy>({.self = x.result()}), "a", {2, 3});
    node& b = typed(g.create<mine::copy>({.self = a.result()}), "b", {2, 3});
    node& out = g.create<builtin::output>({.values = {b.result()}});

    node& typed(node& n, std::string_view name, int_list shape) {
        g.set_meta(n.result(), {dtype::float32, shape, {}});
        g.set_name(n.result(), name);
        return n;
    }
    [[nodiscard]] std::pmr::string complaint() const {
        const auto done = verify<mine::dialect>(g);
        return done ? "" : done.error().message;
    }
};

TEST_CASE("a sound graph is verified") {
    const sample s;
    CHECK(s.complaint().empty());
    CHECK(verify(s.g));
}

TEST_CASE("a graph needs one output node, and it is last") {
    sample s;
    s.g.move_before(s.b, nullptr);
    CHECK(s.complaint() == "b (mine.copy.default): comes after the output node");
    s.g.erase(s.out);
    CHECK(s.complaint() == "the graph has 0 output nodes instead of one");
    s.g.create<builtin::output>({.values = {s.a.result()}});
    s.g.create<builtin::output>({.values = {s.a.result()}});
    CHECK(s.complaint() == "the graph has 2 output nodes instead of one");
}

TEST_CASE("operands lie before their users") {
    sample s;
    s.g.move_before(s.b, &s.a);
    CHECK(s.complaint() == "b (mine.copy.default): comes before its operand a");
    s.g.move_before(s.a, &s.b);
    s.g.set_operand(s.a.operands[0], s.b.result());
    CHECK(s.complaint() == "the graph has a cycle: a -> b -> a");
}

TEST_CASE("operands belong to the graph") {
    sample s;
    sample other;
    s.g.set_operand(s.b.operands[0], other.a.result());
    CHECK(s.complaint() == "b (mine.copy.default): operand 0 comes from another graph");
    s.g.set_operand(s.b.operands[0], s.x.result());
    CHECK(s.complaint().empty());
    s.g.erase(s.a);
    s.g.set_operand(s.b.operands[0], s.a.result());
    CHECK(s.complaint() == "b (mine.copy.default): operand 0 comes from a, which has been erased");
}

TEST_CASE("operands are changed through the graph alone") {
    sample s;
    *s.b.operands[0].slot = {};
    CHECK(s.complaint() == "b (mine.copy.default): operand 0 is empty");
    *s.b.operands[0].slot = {&s.a, 1};
    CHECK(s.complaint() == "b (mine.copy.default): operand 0 is result 1 of a, which has 1");
    *s.b.operands[0].slot = s.x.result();
    CHECK(s.complaint() == "b (mine.copy.default): operand 0 was changed without graph::set_operand");
    *s.b.operands[0].slot = s.a.result();
    CHECK(s.complaint().empty());
}

TEST_CASE("erasing a node that is still used is found") {
    sample s;
    s.g.erase(s.a);
    CHECK(s.complaint() == "b (mine.copy.default): operand 0 comes from a, which has been erased");
}

TEST_CASE("the census counts what there is") {
    sample s;
    s.a.op = &info_of<builtin::opaque>;
    CHECK(s.complaint().find("the census counts ") == 0);
}

TEST_CASE("metadata is what inference gives") {
    sample s;
    s.g.set_meta(s.a.result(), {dtype::float32, {3, 2}, {}});
    CHECK(s.complaint() == "a (mine.copy.default): result 0 is float32[3, 2], inference gives float32[2, 3]");
    CHECK(verify(s.g));
    s.g.clear_meta(s.a.result());
    CHECK(s.complaint().empty());
    verify_options strict;
    strict.metadata_required = true;
    CHECK(verify(s.g, strict).error().message == "a (mine.copy.default): result 0 has no metadata");
    s.g.set_meta(s.a.result(), {dtype::float32, {-1}, {}});
    CHECK(s.complaint() == "a (mine.copy.default): result 0 has the impossible shape float32[-1]");
    for (node* n : {&s.x, &s.a}) s.g.set_meta(n->result(), {dtype::float32, {1, 1, 1}, {}});
    CHECK(s.complaint() == "a (mine.copy.default): breaks the op's own rule: rank is above 2");
}

TEST_CASE("a constant has metadata") {
    sample s;
    s.g.create<builtin::constant>({}, &s.a);
    CHECK(s.complaint() == "builtin.constant#4: result 0 has no metadata");
}

TEST_CASE("names of inputs and of outputs differ") {
    sample s;
    s.typed(s.g.create<builtin::placeholder>({}, &s.a), "x", {1});
    CHECK(s.complaint() == "x (builtin.placeholder): another input has the same name");
    s.g.set_name(s.g.first()->next->result(), "y");
    CHECK(s.complaint().empty());

    s.g.erase(s.out);
    node& out = s.g.create<builtin::output>({.values = {s.a.result(), s.b.result(), s.a.result()}});
    CHECK(s.complaint().empty());
    const std::string_view clash[] = {"p", "p", "p"};
    s.g.annotate(out, output_names{list<std::string_view>(clash, 3)});
    CHECK(s.complaint() == "b (mine.copy.default): another output has the same name, p");
    s.g.annotate(out, output_names{list<std::string_view>(clash, 1)});
    CHECK(s.complaint() == "the graph has 3 outputs but names for 1");
}

TEST_CASE("messages name the exported node") {
    sample s;
    s.g.annotate(s.a, provenance{"conv2d", "aten.conv2d.default"});
    s.g.set_meta(s.a.result(), {dtype::int8, {2, 3}, {}});
    CHECK(s.complaint() ==
        "conv2d (aten.conv2d.default): result 0 is int8[2, 3], inference gives float32[2, 3]");
}

TEST_CASE("a dialect's own check sees each node") {
    const sample s;
    verify_options options;
    options.check_node = [](const graph&, const node& n) -> result<void> {
        if (n.name() == "b") return unsupported("b is not wanted");
        return {};
    };
    const auto done = verify(s.g, options);
    REQUIRE_FALSE(done);
    CHECK(done.error().kind == error_kind::unsupported);
}

TEST_CASE("regions are verified with the node that holds them") {
    sample s;
    graph& region = s.g.create_region();
    node& x = region.create<builtin::placeholder>({});
    using wrapped = higher_order::wrap_with_set_grad_enabled;
    node& held = s.g.create<wrapped>({false, &region, {s.x.result()}}, 1, &s.out);
    s.g.set_name(held.result(), "held");
    CHECK(s.complaint() ==
        "held (higher_order.wrap_with_set_grad_enabled): in wrapped_graph: the graph has 0 output "
        "nodes instead of one");
    region.create<builtin::output>({.values = {x.result()}});
    CHECK(s.complaint().empty());
}

}  // namespace
