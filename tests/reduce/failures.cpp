// SPDX-License-Identifier: MIT
// Tests that failures seeded in networks of more than 500 nodes are reduced to a few nodes in few tests.
#include "networks.hpp"

#include <chrono>
#include <cmath>

namespace {

using namespace headrace;
using namespace headrace::reduce_testing;

constexpr int blocks = 102;  // of five nodes

struct reduced {
    program p;
    std::size_t tests;
    std::string text;
};

reduced reduce_seeded(const std::string& inserted, is_interesting test, int at = 61) {
    const program whole = program_of(residual_network(blocks, at, inserted));
    REQUIRE(count_computed(*whole.graph) > 500);
    const auto began = std::chrono::steady_clock::now();
    auto made = reduce_program(whole, test);
    REQUIRE(made.has_value());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    auto text = graph_text(made.value().smallest);
    REQUIRE(text.has_value());
    INFO(text.value());
    CAPTURE(seconds, made.value().done.tests);
    CHECK(count_computed(*made.value().smallest.graph) <= 5);
    CHECK(made.value().done.nodes == count_computed(*made.value().smallest.graph));
    CHECK(made.value().done.tests < 300);
    CHECK(test(made.value().smallest).value());
    return {{}, made.value().done.tests, text.value()};
}

}  // namespace

TEST_CASE("an op that reads another one is found among 500 nodes", "[reduce]") {
    const auto r = reduce_seeded("%p: ? = aten.sigmoid.default(%x)\n%seeded: ? = aten.mul.Tensor(%p, %x)\n",
        [](const program& p) -> result<bool> { return reads(p, "aten.mul.Tensor", "aten.sigmoid.default"); });
    CHECK(r.text ==
        "headrace 1\n\n%y60: float32[1, 1, 1, 1] = input\n"
        "%p: float32[1, 1, 1, 1] = aten.sigmoid.default(%y60)\n"
        "%after: float32[1, 1, 1, 1] = aten.mul.Tensor(%p, %y60)\noutput %after\n");
}

TEST_CASE("an op on a size is found, and the size is kept", "[reduce]") {
    const auto r = reduce_seeded(
        "%f: ? = aten.view.default(%x, [1, 8, 144])\n%t: ? = aten.transpose.int(%f, 1, 2)\n"
        "%s: ? = aten.softmax.int(%t, -1)\n%u: ? = aten.transpose.int(%s, 1, 2)\n"
        "%seeded: ? = aten.view.default(%u, [1, 8, 12, 12])\n",
        [](const program& p) -> result<bool> {
            const node* n = find_op_node(p, "aten.softmax.int");
            return n != nullptr && meta_of(n->operand(0))->shape.back() == 8 &&
                reads(p, "aten.softmax.int", "aten.transpose.int");
        });
    CHECK(r.text.find("[1, 1, 8]") != std::string::npos);
}

TEST_CASE("an op that depends on another one over 200 nodes is found", "[reduce]") {
    const program whole =
        program_of(residual_network(blocks, 20, "%seeded: ? = aten.cumsum.default(%x, 2)\n"));
    const auto test = [](const program& p) -> result<bool> {
        const node* last = p.graph->output();
        return last != nullptr && depends_on(p, "aten.add.Tensor", "aten.cumsum.default") &&
            find_op_node(p, "aten.relu.default") != nullptr;
    };
    auto made = reduce_program(whole, test);
    REQUIRE(made.has_value());
    CHECK(count_computed(*made.value().smallest.graph) <= 3);
}

TEST_CASE("an element of a constant is kept", "[reduce]") {
    const auto r = reduce_seeded(
        "%k: float32[8, 1, 1] = constant [1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]\n"
        "%q: ? = aten.div.Tensor(%x, %k)\n%seeded: ? = aten.sub.Tensor(%q, %q)\n",
        [](const program& p) -> result<bool> {
            // Infinity less infinity is a NaN.
            const node* n = find_op_node(p, "aten.div.Tensor");
            if (n == nullptr || !is<builtin::constant>(*n->operand(1).producer)) return false;
            const auto inputs = model_inputs(*p.graph, {});
            if (!inputs) return false;
            const auto outputs = execute(*p.graph, inputs.value());
            if (!outputs) return false;
            for (const tensor& t : outputs.value()) {
                for (std::int64_t i = 0; i != t.size(); ++i) {
                    if (std::isnan(t.real(i))) return true;
                }
            }
            return false;
        });
    CHECK(r.text.find("aten.div.Tensor") != std::string::npos);
}

TEST_CASE("two branches that meet are found", "[reduce]") {
    const auto r = reduce_seeded(
        "%l: ? = aten.tanh.default(%x)\n%m: ? = aten.sigmoid.default(%x)\n%n: ? = aten.neg.default(%m)\n"
        "%seeded: ? = aten.maximum.default(%l, %n)\n",
        [](const program& p) -> result<bool> {
            return reads(p, "aten.maximum.default", "aten.tanh.default") &&
                reads(p, "aten.neg.default", "aten.sigmoid.default") &&
                depends_on(p, "aten.maximum.default", "aten.sigmoid.default");
        });
    CHECK(r.text.find("aten.conv2d") == std::string::npos);
}

TEST_CASE("a reduction gives the same program each time", "[reduce]") {
    const auto once = [] {
        return reduce_seeded("%seeded: ? = aten.tanh.default(%x)\n", [](const program& p) -> result<bool> {
            return reads(p, "aten.conv2d.default", "aten.tanh.default");
        });
    };
    const reduced a = once();
    const reduced b = once();
    CHECK(a.text == b.text);
    CHECK(a.tests == b.tests);
}
