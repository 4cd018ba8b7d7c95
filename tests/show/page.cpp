// SPDX-License-Identifier: MIT
// Tests the data of a page: the graphs after each pass as differences, and the costs of nodes.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

#include <simdjson.h>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/multiply_accumulates.hpp>
#include <headrace/ir/source_location.hpp>
#include <headrace/show/page_data.hpp>

using namespace headrace;

namespace {

const tensor_meta pair{dtype::float32, {2}, {}};

/// The page's JSON, parsed: invalid JSON throws.
struct parsed_page {
    explicit parsed_page(const page_source& source) : json(page_json(source)) {
        REQUIRE(parser.parse(json).get(root) == simdjson::SUCCESS);
    }
    std::string_view text(simdjson::dom::element position) const {
        return root["texts"].at(std::uint64_t(position));
    }
    /// Returns the object of a step with that name.
    simdjson::dom::element node(std::size_t step, std::string_view name) const {
        for (const simdjson::dom::element n : root["steps"].at(step)["set"]) {
            std::string_view own;
            if (n["n"].get(own) == simdjson::SUCCESS && own == name) return n;
        }
        FAIL("no node " << name << " in step " << step);
        return {};
    }
    std::string json;
    simdjson::dom::parser parser;
    simdjson::dom::element root;
};

value named(graph& g, node& n, std::string_view name) {
    g.set_name(n.result(), name);
    g.set_meta(n.result(), pair);
    return n.result();
}

value zeros(graph& g, const tensor_meta& meta) {
    return create_constant(
        g, meta, nullptr, [](std::span<std::byte> data) { std::ranges::fill(data, std::byte{0}); });
}

pass_record ran(std::string_view name, std::size_t rewritten) {
    return {.name = name,
        .status = pass_status::ran,
        .nodes = {.rewritten = rewritten},
        .nanoseconds = 2'500'000};
}

TEST_CASE("a node has its op, origin, module, source, arguments and operands") {
    graph g;
    const value x = named(g, g.create<builtin::placeholder>({}), "x");
    const value bias = zeros(g, pair);
    node& sum = g.create<aten::add_tensor>({.self = x, .other = bias, .alpha = 3});
    named(g, sum, "sum");
    g.annotate(sum, provenance{"add_1", "aten.add_.Tensor"});
    g.annotate(sum, module_stack{"L__self__,,Net;L__self__fc,fc,Linear"});
    g.annotate(sum, source_location{"File \"m.py\", line 3, in forward"});
    g.create<builtin::output>({.values = {sum.result()}});
    graph_history history;
    history.begin(g);
    const parsed_page page({.title = "m", .last = &g, .history = &history});
    CHECK(std::int64_t(page.root["version"]) == page_version);
    const auto n = page.node(0, "sum");
    CHECK(page.text(n["op"]) == "aten.add.Tensor");
    CHECK(page.text(n["o"].at(0)) == "add_1");
    CHECK(page.text(n["m"]) == "L__self__,,Net;L__self__fc,fc,Linear");
    CHECK(page.text(n["s"]) == "File \"m.py\", line 3, in forward");
    CHECK(page.text(n["a"].at(0)) == "alpha");
    CHECK(page.text(n["a"].at(1)) == "3");
    CHECK(std::uint64_t(n["in"].at(0)) == std::uint64_t(page.node(0, "x")["i"]));
    CHECK(page.text(n["in"].at(2)) == "self");
    CHECK(page.text(n["in"].at(5)) == "other");
    CHECK(page.text(n["out"].at(0)) == "float32[2]");
    const auto constant = page.root["steps"].at(0)["set"].at(1);
    CHECK(std::string_view(constant["v"]) == "[0.0, 0.0]");
    CHECK(std::uint64_t(constant["b"]) == 8);
    CHECK(std::uint64_t(page.root["plan"]["memories"].at(0)["peak"]) > 0);
}

TEST_CASE("a step has what became different, and nothing of a pass that rewrote nothing") {
    graph g;
    const value x = named(g, g.create<builtin::placeholder>({}), "x");
    node& old = g.create<aten::relu>({.self = x});
    named(g, old, "old");
    node& after = g.create<aten::neg>({.self = old.result()});
    named(g, after, "after");
    g.create<builtin::output>({.values = {after.result()}});
    graph_history history;
    history.begin(g);
    const std::uint32_t number = *history.find(old);
    node& fresh = g.create<tosa::clamp>({.input = x, .min_val = 0, .max_val = 6}, &after);
    named(g, fresh, "fresh");
    g.replace_all_uses(old.result(), fresh.result());
    g.erase(old);
    history.add(ran("idle", 0), g);
    history.add(ran("clamps", 1), g);
    history.add({.name = "unneeded", .status = pass_status::no_target, .nodes = {}}, g);

    const parsed_page page({.title = "m", .last = &g, .history = &history});
    const auto steps = page.root["steps"];
    CHECK(simdjson::dom::array(steps).size() == 4);
    CHECK(simdjson::dom::array(steps.at(0)["set"]).size() == 4);
    CHECK(simdjson::dom::array(steps.at(1)["set"]).size() == 0);
    CHECK(std::string_view(steps.at(2)["pass"]) == "clamps");
    CHECK(double(steps.at(2)["ms"]) == 2.5);
    CHECK(simdjson::dom::array(steps.at(2)["set"]).size() == 2);
    CHECK(page.text(page.node(2, "fresh")["op"]) == "tosa.CLAMP");
    CHECK(std::uint64_t(page.node(2, "after")["in"].at(0)) == std::uint64_t(page.node(2, "fresh")["i"]));
    CHECK(simdjson::dom::array(steps.at(2)["gone"]).size() == 1);
    CHECK(std::uint64_t(steps.at(2)["gone"].at(0)) == number);
    CHECK(std::string_view(steps.at(3)["skipped"]) == "no target in the graph");
    CHECK(history.find(old) == nullptr);
}

TEST_CASE("nodes of a region name who holds them") {
    graph g;
    const value x = named(g, g.create<builtin::placeholder>({}), "x");
    graph& region = g.create_region();
    const value inner = named(region, region.create<builtin::placeholder>({}), "inner");
    region.create<builtin::output>({.values = {inner}});
    node& held = g.create<higher_order::wrap_with_set_grad_enabled>({false, &region, {x}}, 1);
    named(g, held, "held");
    g.create<builtin::output>({.values = {held.result()}});
    graph_history history;
    history.begin(g);
    const parsed_page page({.title = "m", .last = &g, .history = &history});
    const auto n = page.node(0, "inner");
    CHECK(std::uint64_t(n["r"].at(0)) == std::uint64_t(page.node(0, "held")["i"]));
    CHECK(page.text(n["r"].at(1)) == "wrapped_graph");
}

TEST_CASE("no text ends the script that it stands in") {
    graph g;
    const value x = named(g, g.create<builtin::placeholder>({}), "</script><script>alert(1)</script><!--");
    g.create<builtin::output>({.values = {x}});
    graph_history history;
    history.begin(g);
    const pmr_vector<diagnostic> refusals{{"</script>", "<!--", "\xff</SCRIPT>"}};
    const parsed_page page({.title = "</script>",
        .last = &g,
        .history = &history,
        .refusals = refusals,
        .vela_csv = "</script>",
        .core = R"({"layers":[{"name":"</script>"}]})"});
    CHECK(page.json.find('<') == std::string::npos);
    CHECK(std::string_view(page.root["core"]["layers"].at(0)["name"]) == "</script>");
    CHECK(std::string_view(page.root["title"]) == "</script>");
    CHECK(std::string_view(page.root["refusals"].at(0)["op"]) == "<!--");
}

TEST_CASE("a graph that is begun again has nothing of the first") {
    graph first;
    first.create<builtin::output>(
        {.values = {named(first, first.create<builtin::placeholder>({}), "first_input")}});
    graph_history history;
    history.begin(first);
    graph second;
    second.create<builtin::output>(
        {.values = {named(second, second.create<builtin::placeholder>({}), "two")}});
    history.begin(second);
    const parsed_page page({.title = "m", .last = &second, .history = &history});
    CHECK(page.json.find("first_input") == std::string::npos);
    CHECK(simdjson::dom::array(page.root["steps"]).size() == 1);
}

TEST_CASE("the innermost frame of a stack trace is its last") {
    CHECK(innermost_frame("  File \"a.py\", line 1, in forward\n    return self.b(x)\n"
                          "  File \"b.py\", line 2, in forward\n    return x + 1\n") ==
        "File \"b.py\", line 2, in forward\n    return x + 1");
    CHECK(innermost_frame("no frames").empty());
}

/// Makes a node of that op with operands and a result of those shapes.
template <op_tag Op>
std::uint64_t cost(args<Op> arguments, int_list first, int_list second, int_list result) {
    graph g;
    node& a = g.create<builtin::placeholder>({});
    node& b = g.create<builtin::placeholder>({});
    g.set_meta(a.result(), {dtype::float32, first, {}});
    g.set_meta(b.result(), {dtype::float32, second, {}});
    node& n = g.create<Op>(arguments);
    g.set_operand(n.operands[0], a.result());
    g.set_operand(n.operands[1], b.result());
    g.set_meta(n.result(), {dtype::float32, result, {}});
    return multiply_accumulates(n);
}

TEST_CASE("multiply-accumulates of convolutions and matrix products") {
    graph g;
    const value any = g.create<builtin::placeholder>({}).result();
    // 8 channels of 10x10, each from 4 channels (2 groups of 8) and a window of 3x3.
    CHECK(cost<aten::conv2d>({.input = any, .weight = any}, {1, 8, 12, 12}, {8, 4, 3, 3}, {1, 8, 10, 10}) ==
        800 * 36);
    CHECK(cost<aten::conv_transpose2d_input>(
              {.input = any, .weight = any}, {1, 8, 5, 5}, {8, 4, 2, 2}, {1, 4, 10, 10}) == 200 * 16);
    CHECK(cost<aten::linear>({.input = any, .weight = any}, {5, 16}, {10, 16}, {5, 10}) == 50 * 16);
    CHECK(cost<aten::bmm>({.self = any, .mat2 = any}, {2, 3, 4}, {2, 4, 5}, {2, 3, 5}) == 30 * 4);
    CHECK(cost<aten::add_tensor>({.self = any, .other = any}, {2}, {2}, {2}) == 0);
}

}  // namespace
