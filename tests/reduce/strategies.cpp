// SPDX-License-Identifier: MIT
// Tests what each strategy of a reduction leaves out, and what it must keep.
#include "networks.hpp"

#include <headrace/infer/verify.hpp>
#include <headrace/reduce/delta_debugging.hpp>
#include <headrace/reduce/splat.hpp>

// [reduce]
#include <headrace/dialect/aten.hpp>
#include <headrace/reduce/reduce.hpp>

/// Returns the smallest program that has a tanh. Its constants are in the memory of `model`.
static headrace::result<headrace::program> reduce_tanh(const headrace::program& model) {
    const auto has_tanh = [](const headrace::program& p) -> headrace::result<bool> {
        return !p.graph->nodes_of(headrace::info_of<headrace::aten::tanh>).empty();
    };
    HEADRACE_TRY(reduction, headrace::reduce_program(model, has_tanh));
    return std::move(reduction.smallest);
}
// [reduce]

namespace {

using namespace headrace;
using namespace headrace::reduce_testing;

std::string text_after(const std::string& nodes, is_interesting test, const reduce_options& options = {}) {
    const program whole = program_of(nodes);
    const auto made = reduce_program(whole, test, options);
    if (!made) return std::string(made.error().message);
    REQUIRE(verify(*made.value().smallest.graph).has_value());
    REQUIRE(verify_metadata(*made.value().smallest.graph).has_value());
    const auto text = graph_text(made.value().smallest);
    REQUIRE(text.has_value());
    return text.value().substr(text.value().find('%'));
}

auto has(std::string_view op) {
    return [op](const program& p) -> result<bool> { return find_op_node(p, op) != nullptr; };
}

}  // namespace

TEST_CASE("delta debugging keeps what must stay, in few tests", "[reduce]") {
    const auto left = [](std::size_t count, const reducing::item_list& needed, std::size_t most_tests) {
        reducing::item_list items(count);
        for (std::size_t i = 0; i != count; ++i) items[i] = static_cast<std::uint32_t>(i);
        std::size_t tests = 0;
        const auto made = reducing::leave_out(items, [&](const reducing::item_list& kept) -> result<bool> {
            ++tests;
            return std::ranges::includes(kept, needed);
        });
        CHECK(tests <= most_tests);
        return made.value();
    };
    using list_of = reducing::item_list;
    CHECK(left(0, {}, 0).empty());
    CHECK(left(1, {}, 1).empty());
    CHECK(left(1, {0}, 1) == list_of{0});
    CHECK(left(1000, {}, 1).empty());
    CHECK(left(1000, {999}, 25) == list_of{999});
    CHECK(left(1000, {3, 500, 998}, 60) == list_of{3, 500, 998});
    CHECK(left(7, {0, 1, 2, 3, 4, 5, 6}, 20) == list_of{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("outputs, nodes and inputs that do not matter are left out", "[reduce]") {
    CHECK(text_after("%a: float32[4] = input\n%b: float32[4] = input\n%unread: float32[4] = input\n"
                     "%c: ? = aten.add.Tensor(%a, %b)\n%d: ? = aten.tanh.default(%c)\n"
                     "%e: ? = aten.relu.default(%d)\noutput c=%c, e=%e\n",
              has("aten.tanh.default")) ==
        "%c: float32[1] = input\n%d: float32[1] = aten.tanh.default(%c)\noutput %d\n");
}

TEST_CASE("nodes between two others give way to their operand", "[reduce]") {
    CHECK(text_after("%a: float32[4] = input\n%b: ? = aten.tanh.default(%a)\n%c: ? = aten.relu.default(%b)\n"
                     "%d: ? = aten.neg.default(%c)\n%e: ? = aten.sigmoid.default(%d)\noutput e=%e\n",
              [](const program& p) -> result<bool> {
                  return depends_on(p, "aten.sigmoid.default", "aten.tanh.default");
              }) ==
        "%a: float32[1] = input\n%b: float32[1] = aten.tanh.default(%a)\n"
        "%e: float32[1] = aten.sigmoid.default(%b)\noutput e=%e\n");
}

TEST_CASE("inputs of one type become one", "[reduce]") {
    CHECK(text_after("%a: float32[4] = input\n%b: float32[4] = input\n%c: ? = aten.add.Tensor(%a, %b)\n"
                     "output c=%c\n",
              has("aten.add.Tensor"), {.keeps_sizes = true}) ==
        "%a: float32[4] = input\n%c: float32[4] = aten.add.Tensor(%a, %a)\noutput c=%c\n");
}

TEST_CASE("a node that must be constant becomes one", "[reduce]") {
    const std::string text = text_after(
        "%a: float32[1, 2, 4, 4] = input\n%w: float32[3, 2, 1, 1] = constant [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]\n"
        "%m: ? = aten.tanh.default(%w)\n%c: ? = aten.conv2d.default(%a, %m)\noutput c=%c\n",
        [](const program& p) -> result<bool> {
            const node* n = find_op_node(p, "aten.conv2d.default");
            if (n == nullptr) return false;
            const node& weight = *n->operand(1).producer;
            return is<builtin::constant>(weight) || is_op(weight, "aten.tanh.default");
        });
    CHECK(text.find("tanh") == std::string::npos);
    CHECK(text.find("constant [") != std::string::npos);
}

TEST_CASE("operands that a node may lack are left out, unless they matter", "[reduce]") {
    const std::string nodes =
        "%a: float32[1, 2, 4, 4] = input\n%w: float32[3, 2, 1, 1] = input\n%b: float32[3] = input\n"
        "%c: ? = aten.conv2d.default(%a, %w, %b)\noutput c=%c\n";
    const reduce_options same_sizes{.keeps_sizes = true};
    CHECK(text_after(nodes, has("aten.conv2d.default"), same_sizes).find("conv2d.default(%a, %w)") !=
        std::string::npos);
    const auto has_bias = [](const program& p) -> result<bool> {
        const node* n = find_op_node(p, "aten.conv2d.default");
        return n != nullptr && n->operand_count == 3;
    };
    CHECK(text_after(nodes, has_bias, same_sizes).find("(%a, %w, %b)") != std::string::npos);
}

TEST_CASE("sizes shrink everywhere, through reshapes", "[reduce]") {
    CHECK(text_after("%a: float32[2, 6, 16] = input\n%b: ? = aten.view.default(%a, [2, 96])\n"
                     "%c: ? = aten.relu.default(%b)\noutput c=%c\n",
              [](const program& p) -> result<bool> {
                  const node* n = find_op_node(p, "aten.view.default");
                  return n != nullptr && meta_of(n->operand(0))->shape[1] == 6;
              }) ==
        "%a: float32[1, 6, 1] = input\n%b: float32[1, 6] = aten.view.default(%a, size=[1, 6])\noutput %b\n");
}

TEST_CASE("constants keep their first elements when they shrink, and become zeros", "[reduce]") {
    const std::string nodes =
        "%a: float32[4] = input\n%w: float32[4] = constant [3.0, 2.0, 1.0, 5.0]\n"
        "%b: ? = aten.mul.Tensor(%a, %w)\noutput b=%b\n";
    CHECK(text_after(nodes, has("aten.mul.Tensor"), {.keeps_constants = true}) ==
        "%a: float32[1] = input\n%w: float32[1] = constant [3.0]\n"
        "%b: float32[1] = aten.mul.Tensor(%a, %w)\noutput b=%b\n");
    const std::string zeros = text_after(nodes,
        [](const program& p) -> result<bool> {
            const node* n = find_op_node(p, "aten.mul.Tensor");
            return n != nullptr && is<builtin::constant>(*n->operand(1).producer);
        },
        {.keeps_sizes = true});
    CHECK(zeros.find("float32[4] = constant [0.0") != std::string::npos);
}

TEST_CASE("values that are written back stay if they matter", "[reduce]") {
    const std::string nodes =
        "user_outputs 1\nwrites buffer \"state\" from 1 tensor \"s\"\n"
        "%a: float32[4] = input\n%s: float32[4] = constant [0.0, 0.0, 0.0, 0.0]\n"
        "%b: ? = aten.add.Tensor(%a, %s)\n%c: ? = aten.relu.default(%b)\noutput c=%c, b=%b\n";
    const program whole = program_of(nodes);
    const auto kept = reduce_program(
        whole, [](const program& p) -> result<bool> { return !p.mutations.empty(); }, {.keeps_sizes = true});
    REQUIRE(kept.has_value());
    const program& p = kept.value().smallest;
    REQUIRE(p.mutations.size() == 1);
    CHECK(p.mutations[0].position < p.graph->outputs().size());
    CHECK(p.mutations[0].position == p.user_outputs);
    const auto dropped = reduce_program(whole, has("aten.relu.default"));
    REQUIRE(dropped.has_value());
    CHECK(dropped.value().smallest.mutations.empty());
}

TEST_CASE("what cannot be reduced, and errors of the test, are told", "[reduce]") {
    const std::string nodes = "%a: float32[4] = input\n%b: ? = aten.relu.default(%a)\noutput b=%b\n";
    CHECK(text_after(nodes, has("aten.tanh.default")) == "the test does not hold for the model itself");
    std::size_t asked = 0;
    CHECK(text_after(nodes, [&](const program&) -> result<bool> {
        if (++asked == 2) return unwritable("the disk is full");
        return true;
    }) == "the disk is full");
}

TEST_CASE("a program reduces by a function", "[reduce]") {
    const program model = program_of(residual_network(8, 3, "%seeded: ? = aten.tanh.default(%x)\n"));
    const auto made = reduce_tanh(model);
    REQUIRE(made.has_value());
    CHECK(count_computed(*made.value().graph) == 1);
}

TEST_CASE("no program is tested twice", "[reduce]") {
    std::vector<std::string> seen;
    const program whole = program_of(residual_network(8, 3, "%seeded: ? = aten.tanh.default(%x)\n"));
    const auto made = reduce_program(whole, [&](const program& p) -> result<bool> {
        seen.push_back(graph_text(p).value());
        return find_op_node(p, "aten.tanh.default") != nullptr;
    });
    REQUIRE(made.has_value());
    CHECK(made.value().done.tests == seen.size());
    std::ranges::sort(seen);
    CHECK(std::ranges::adjacent_find(seen) == seen.end());
}

TEST_CASE("zeros and ones repeat one element", "[reduce]") {
    for (const dtype type : {dtype::float32, dtype::float16, dtype::bfloat16, dtype::float64, dtype::int8,
             dtype::int16, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean}) {
        for (const bool ones : {false, true}) {
            graph g;
            const tensor_meta meta{type, {2, 3}, {}};
            node& n = g.create<builtin::constant>({.data = reducing::splat(meta, ones).value()});
            g.set_meta(n.result(), meta);
            CHECK(reducing::is_splat(n));
            g.create<builtin::output>({.values = {n.result()}});
            const auto made = execute(g, {});
            REQUIRE(made.has_value());
            for (std::int64_t i = 0; i != 6; ++i) CHECK(made.value()[0].real(i) == (ones ? 1 : 0));
        }
    }
    CHECK_FALSE(reducing::splat({dtype::int4, {2}, {}}, true));
}
