// SPDX-License-Identifier: MIT
// Tests io/tosa/names.hpp: the names of values in a TOSA file.
#include <headrace/io/tosa/names.hpp>

#include <map>
#include <string>

#include <catch2/catch.hpp>

#include <headrace/io/text/graph_text.hpp>
#include <headrace/io/tosa/emitter.hpp>
#include <headrace/io/tosa/reader.hpp>

using namespace headrace;

namespace {

// Returns the names of operators in the file for a graph, with those of their results.
std::multimap<std::string, std::string> names_in_file(const std::string& text) {
    const auto parsed = parse_graph_text("headrace 1\n" + text);
    if (!parsed) FAIL(parsed.error().message);
    const auto emitted = emit_tosa(*parsed.value().graph);
    if (!emitted) FAIL(emitted.error().message);
    const auto read = read_tosa(emitted.value().bytes());
    if (!read) FAIL(read.error().message);
    std::multimap<std::string, std::string> names;
    for (const node& n : read.value()->nodes()) {
        if (n.result_count != 0) names.emplace(n.op->name, n.name());
    }
    return names;
}

using pairs = std::multimap<std::string, std::string>;

}  // namespace

TEST_CASE("operators are called as the exported node that they compute, others say which they are") {
    const auto names = names_in_file(R"(
%x: float32[1, 8] = input
%#a: float32[1, 1] = tosa.REDUCE_MAX(%x, axis=1) {origin=["softmax", "aten.softmax.int"]}
%#b: float32[1, 8] = tosa.SUB(%x, %#a) {origin=["softmax", "aten.softmax.int"]}
%#c: float32[1, 8] = tosa.EXP(%#b) {origin=["softmax", "aten.softmax.int"]}
%#d: float32[1, 8] = tosa.EXP(%#c) {origin=["softmax", "aten.softmax.int"]}
%y: float32[1, 8] = tosa.ABS(%#d) {origin=["y", "aten.abs.default"]}
output %y
)");
    CHECK(names ==
        pairs{{"builtin.placeholder", "x"}, {"tosa.REDUCE_MAX", "softmax.reduce_max"},
            {"tosa.SUB", "softmax.sub"}, {"tosa.EXP", "softmax.exp"}, {"tosa.EXP", "softmax"},
            {"tosa.ABS", "y"}});
}

TEST_CASE("what only moves elements does not take an exported node's name, unless it is the node's own") {
    const std::string text = R"(
%x: float32[2, 4] = input
%#a: float32[2, 4] = tosa.EXP(%x) {origin=["linear", "aten.linear.default"]}
%#s: shape[1] = tosa.CONST_SHAPE(values=[8])
%NAME: float32[8] = tosa.RESHAPE(%#a, %#s) {origin=["linear", "aten.linear.default"]}
%y: float32[8] = tosa.ABS(%NAME)
output %y
)";
    const auto with = [&](std::string name) {
        std::string changed = text;
        for (std::size_t at; (at = changed.find("NAME")) != std::string::npos;) changed.replace(at, 4, name);
        return names_in_file(changed);
    };
    CHECK(with("#r") ==
        pairs{{"builtin.placeholder", "x"}, {"tosa.EXP", "linear"},
            {"tosa.CONST_SHAPE", "linear.reshape.shape"}, {"tosa.RESHAPE", "linear.reshape"},
            {"tosa.ABS", "y"}});
    CHECK(with("linear") ==
        pairs{{"builtin.placeholder", "x"}, {"tosa.EXP", "linear.exp"}, {"tosa.CONST_SHAPE", "linear.shape"},
            {"tosa.RESHAPE", "linear"}, {"tosa.ABS", "y"}});
}

TEST_CASE("constants are called for their first user, those with a name keep it") {
    const auto names = names_in_file(R"(
%x: float32[1, 4, 4, 2] = input
%p_weight: float32[2, 1, 1, 2] = constant [1, 2, 3, 4]
%#b: float32[2] = constant [1, 2]
%#z: float32[1] = constant [0]
%#c: float32[1, 4, 4, 2] = tosa.CONV2D(%x, %p_weight, %#b, %#z, %#z, pad=[0, 0, 0, 0], stride=[1, 1], dilation=[1, 1], acc_type=float32) {origin=["conv2d", "aten.conv2d.default"]}
%y: float32[1, 4, 4, 2] = tosa.ADD(%#c, %#c)
output %y
)");
    CHECK(names ==
        pairs{{"builtin.placeholder", "x"}, {"tosa.CONST", "p_weight"}, {"tosa.CONST", "conv2d.bias"},
            {"tosa.CONST", "conv2d.input_zp"}, {"tosa.CONV2D", "conv2d"}, {"tosa.ADD", "y"}});
}

TEST_CASE("no name stands twice in a file, and those of inputs and outputs are as they were") {
    const auto names = names_in_file(R"(
%a.exp: float32[4] = input
%#e: float32[4] = tosa.EXP(%a.exp) {origin=["a", "aten.f.default"]}
%#f: float32[4] = tosa.ABS(%#e) {origin=["a", "aten.f.default"]}
%#g: float32[4] = tosa.FLOOR(%#f)
%a: float32[4] = tosa.CEIL(%#g)
output %a
)");
    CHECK(names ==
        pairs{{"builtin.placeholder", "a.exp"}, {"tosa.EXP", "a.exp_1"}, {"tosa.ABS", "a_1"},
            {"tosa.FLOOR", "floor"}, {"tosa.CEIL", "a"}});
}
