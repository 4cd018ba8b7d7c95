// SPDX-License-Identifier: MIT
// Tests graphs as text: printed graphs are read unchanged, and errors in broken text say what is wrong where.

#include <catch2/catch.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/signature.hpp>

#include "../../support/source_tree.hpp"

using namespace headrace;

namespace {

// A dialect that Headrace does not have.
struct own_dialect;
struct own_relu : op<own_dialect, "own.relu", "x, limits, note"> {
    struct args {
        value x;
        list<double> limits;
        std::string_view note = "none";
    };
};
struct own_store : op<own_dialect, "writes", "x", 0> {
    struct args {
        value x;
    };
};
struct own_dialect : dialect_of<"own", own_relu, own_store> {};

program parsed(std::string_view text, const graph_text_sources& sources = {}) {
    auto read = parse_graph_text(text, sources);
    if (!read) FAIL(read.error().message);
    return std::move(read).value();
}
std::string printed(const program& p) {
    auto text = graph_text(p);
    if (!text) FAIL(text.error().message);
    return std::move(text).value();
}
std::string message_of(std::string_view text, const graph_text_sources& sources = {}) {
    const auto read = parse_graph_text(text, sources);
    return read ? "it was read" : std::string(read.error().message);
}

struct folder {
    std::filesystem::path path;
    folder() {
        char name[] = "/tmp/headrace_graph_text_XXXXXX";
        REQUIRE(::mkdtemp(name) != nullptr);
        path = name;
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    ~folder() { std::filesystem::remove_all(path); }
    [[nodiscard]] std::string operator/(const char* name) const { return (path / name).string(); }
};
std::string content_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

constexpr auto f32 = dtype::float32;

}  // namespace

TEST_CASE("a graph is printed as the documentation says", "[graph_text]") {
    program p;
    p.graph = std::make_unique<graph>();
    graph& g = *p.graph;
    const auto typed = [&](node& n, std::string_view name, const tensor_meta& meta) {
        g.set_meta(n.result(), meta);
        if (!name.empty()) g.set_name(n.result(), name);
        g.annotate(n, provenance{n.name(), n.op->name});
        return n.result();
    };
    const std::vector<std::int64_t> order{0, 2, 3, 1};
    node& input = g.create<builtin::placeholder>({});
    const value x = typed(input, "x", {f32, {1, 2, 2, 2}, list<std::int64_t>(order)});
    g.annotate(input, signature_quantization{0.5, -3, -128, 127});
    g.annotate(input, channels_last_signature{true});
    const float elements[] = {1, 2.5, -0.0F, 1e-7F};
    const value w =
        typed(g.create<builtin::constant>({.data = {reinterpret_cast<const std::byte*>(elements), {}}}),
            "my w", {f32, {4}, {}});
    const value y = typed(
        g.create<aten::softmax_int>({.self = x, .dim = -1, .dtype = dtype::float16}), "", {f32, {}, {}});
    const value z = g.create<aten::add_scalar>({.self = y, .other = 2.0}).result();
    g.set_name(z, "x");
    node& out = g.create<builtin::output>({.values = {z, w}});
    const std::string_view names[] = {"y", "0"};
    g.annotate(out, output_names{list<std::string_view>(names, 2)});
    g.set_target(*parse_target("TOSA-1.0+INT+int16"));
    p.user_outputs = 1;
    p.torch_version = "2.9.0";
    p.mutations.push_back({mutation::kind_type::buffer, "state", 1, "b_state"});

    CHECK(printed(p) == R"(headrace 1
target "TOSA-1.0+INT+int16"
torch "2.9.0"
user_outputs 1
writes buffer "state" from 1 tensor "b_state"

%x: float32[1, 2, 2, 2]{0, 2, 3, 1} = input {quantization=[0.5, -3, -128, 127], channels_last=applied, origin}
%"my w": float32[4] = constant [1.0, 2.5, -0.0, 1e-07] {origin}
%#softmax: float32[] = aten.softmax.int(%x, dim=-1, dtype=float16) {origin}
%x#1: ? = aten.add.Scalar(%#softmax, other=2.0)
output y=%x#1, "0"=%"my w"
)");
}

TEST_CASE("what is printed is read as it was", "[graph_text]") {
    // Each text is as the printer writes it: every type of argument, element and annotation.
    const std::string_view texts[] = {
        R"(headrace 1

%x: float32[1, 2, 4, 4] = input {origin=["conv", "aten.conv2d.default"], modules="a.b\x0ac", source="m.py", custom="{\"k\": \"\\\"}"}
%i: int64[2] = constant [0, -9223372036854775808]
%clamp: float32[1, 2, 4, 4] = aten.clamp.default(%x, min=-inf, max=3)
%clamp#1: float32[1, 2, 4, 4] = aten.clamp.default(%x, min=nan)
%cat: ? = aten.cat.default([%clamp, %clamp#1, %x], dim=1)
%index: ? = aten.index.Tensor(%cat, [none, %i])
%#gelu: ? = aten.gelu.default(%index, approximate="tanh")
%#gelu_1: ? = aten.gelu.default(%index)
%add: ? = aten.add.Scalar(%#gelu, other=true)
%any: ? = aten.upsample_bilinear2d.vec(%x, scale_factors=[2.0, 0.5])
%to: ? = aten.contiguous.default(%x, memory_format=channels_last)
%pool: ? = tosa.MAX_POOL2D(%x, kernel=[2, 2], stride=[2, 2], nan_mode=ignore)
%opaque: ?, %"%\x80 ä": int8[0, 3] = opaque my.op(%x)
%second: ? = opaque "my op"(self=%x, dims=[1, -2], others=[none, %clamp, %x], k=1.5, mode="a\"%0", type=int8)
%made: ? = builtin.opaque(target="my.op", operands=[%x], arguments="%1, what")
opaque my.log()
output %add, %any {quantization=[none, [0.1, 0, 0, 255]], channels_last=asked}
)",
        R"(headrace 1
target "TOSA-1.0+FP+INT"

%p: bool[] = constant [true]
%q: bool[2] = constant 0x0201
%n: float32[1] = constant 0x0100c07f
%b: bfloat16[3] = constant [1.5, -inf, 0.0]
%h: float16[2] = constant [65504.0, 5.9604645e-08]
%e: float8_e4m3[2] = constant [448.0, -0.5]
%d: float64[1] = constant [0.1]
%i4: int4[3] = constant [-8, 7, 1]
%i48: int48[2] = constant [-140737488355328, 140737488355327]
%u: uint64[1] = constant [18446744073709551615]
%s: shape[2] = constant [1, -1]
%c: complex64[1] = constant 0x0000803f00000040
%none: float32[0, 7] = constant []
%wide: int16[3, 2] = constant [1, 2] strides [0, 1]
%turned: int16[2, 3] = constant [1, 2, 3, 4, 5, 6] strides [1, 2]
%r: ? = higher_order.cond(%p, true_graph={
    %x: int16[3, 2] = input
    %r: ? = higher_order.cond(%x, true_graph={
        output
    }, false_graph={
        output
    }, operands=[])
    output %x
}, false_graph={
    %x: int16[3, 2] = input
    output y=%x
}, operands=[%wide])
output %r
)"};
    for (const std::string_view text : texts) {
        const program p = parsed(text);
        CHECK(printed(p) == text);
        // Constants print the same, whatever the layout of their data.
        CHECK(printed(parsed(printed(p))) == text);
        CHECK(is_graph_text(std::as_bytes(std::span(text))));
    }
    CHECK(is_graph_text(std::as_bytes(std::span(std::string_view("// a test\n\nheadrace 1")))));
    CHECK_FALSE(is_graph_text(std::as_bytes(std::span(std::string_view("PK headrace")))));
}

TEST_CASE("text is read however it is laid out", "[graph_text]") {
    const program p = parsed(
        "// what for\nheadrace 1 %x:int8[2,2]=input// and\n%\"y\"#7 :int8 [ 2 , 2 ]\t=\r\n"
        "aten.relu.default(self=%x)%z: ? = aten.softmax.int(%y#7, -1)output %y#7");
    CHECK(printed(p) == R"(headrace 1

%x: int8[2, 2] = input
%y: int8[2, 2] = aten.relu.default(%x)
%z: ? = aten.softmax.int(%y, dim=-1)
output %y
)");
    CHECK(p.user_outputs == 1);
}

TEST_CASE("ops of another dialect are found by their names", "[graph_text]") {
    const std::string text = R"(headrace 1

%x: float32[2] = input
%y: ? = own.relu(%x, limits=[0.0, 6.0], note="\"")
"writes"(%y)
output %y
)";
    CHECK(message_of(text) ==
        "text:4:9: there is no op 'own.relu' in the dialects of this program; write 'opaque' before an op "
        "that no pass needs to know");
    const program p = parsed(text, {.find_own_op = &find_op<own_dialect>});
    CHECK(printed(p) == text);
    CHECK(p.graph->census().count(info_of<own_relu>) == 1);
}

TEST_CASE("inputs are printed in the order of the signature", "[graph_text]") {
    program p;
    p.graph = std::make_unique<graph>();
    graph& g = *p.graph;
    node& a = g.create<builtin::placeholder>({});
    node& b = g.create<builtin::placeholder>({});
    g.set_name(a.result(), "a");
    g.set_name(b.result(), "b");
    node& sum = g.create<aten::add_tensor>({.self = a.result(), .other = b.result()});
    g.create<builtin::output>({.values = {sum.result()}});
    g.move_before(b, &a);
    const program again = parsed(printed(p));
    CHECK(again.graph->inputs().begin()->name() == "a");
}

TEST_CASE("broken text is refused with its place", "[graph_text]") {
    const auto refusal = [](std::string_view nodes) {
        return message_of("headrace 1\n" + std::string(nodes));
    };
    const auto op = [&](std::string_view rest) {
        return refusal("%x: float32[2] = input\n" + std::string(rest) + "\noutput %x");
    };
    CHECK(op("") == "it was read");
    CHECK(message_of("") ==
        "text:1:1: expected 'headrace 1' at the beginning of a graph's text; the text ends "
        "here");
    CHECK(message_of("headrace 2") == "text:1:10: the text is of version '2'; this program reads version 1");
    CHECK(refusal("") == "text:2:1: expected 'output' at the end of a graph; the text ends here");
    CHECK(refusal("target \"TOSA-2.0\"") ==
        "text:2:1: unknown target; write one such as \"TOSA-1.0+INT+int16\"");
    CHECK(refusal("user_outputs 2 output") ==
        "text:2:22: there are fewer outputs than user_outputs says; the text "
        "ends here");
    CHECK(refusal("writes buffer \"b\" from 0 output") ==
        "text:2:32: 'b' is written from an output that does not exist; the text ends here");
    CHECK(refusal("writes to") == "text:2:8: 'to' cannot be written to; buffer, parameter and input can");
    CHECK(op("%x: int8[1] = input") ==
        "text:3:1: '%x' is defined twice; call a second value of that name %name#1");
    CHECK(op("%ä: int8[1] = input") == "text:3:2: expected a value's name: %x, %\"x y\", %x#1 or %#1");
    CHECK(op("%\"ä\": int9[1] = input").substr(0, 45) == "text:3:7: there is no type 'int9'; there are ");
    CHECK(op("%y: int8[-1] = input") == "text:3:5: a size below 0, or more elements than can be counted");
    CHECK(op("%y: int8[4294967296, 4294967296] = input").find("more elements") != std::string::npos);
    CHECK(op("%y: int8[2, 2]{0, 0} = input") ==
        "text:3:5: the numbers in braces are not a permutation of the dimensions, from 0");
    CHECK(op("%y: int8[99999999999999999999] = input") == "text:3:10: expected an integer");
    CHECK(op("%y: ? = aten.relu.default(%y)") ==
        "text:3:27: '%y' is not defined before it is used; nodes stand in the order of execution");
    CHECK(op("%y: ? = aten.relu.default()") == "text:4:1: argument 'self' of aten.relu.default is missing");
    CHECK(op("%y: ? = aten.relu.default(%x, self=%x)") == "text:3:31: argument 'self' is given twice");
    CHECK(op("%y: ? = aten.relu.default(%x, %x)") ==
        "text:3:31: aten.relu.default has no more arguments; it has self");
    CHECK(op("%y: ? = aten.relu.default(x=%x)") ==
        "text:3:27: aten.relu.default has no argument 'x'; it has self");
    CHECK(op("%y: ? = aten.softmax.int(self=%x, 1)") ==
        "text:3:35: an argument after a named one needs its name, as in dim=1");
    CHECK(op("%y: ? = aten.softmax.int(%x, dim=1.5)") == "text:3:34: argument 'dim' takes an integer");
    CHECK(op("%y: ? = aten.softmax.int(%x, dim=1, dtype=float99)") ==
        "text:3:43: argument 'dtype' takes a type such as float32, or none");
    CHECK(op("%y: ? = aten.gelu.default(%x, approximate=tanh)") ==
        "text:3:43: argument 'approximate' takes a string in quotes");
    CHECK(op("%y: ? = aten.gelu.default(%x, approximate=\"tanh\n\")") ==
        "text:3:43: the string does not end on its line; write \\n for a line break");
    CHECK(op("%y: ? = aten.gelu.default(%x, approximate=\"\\q\")") ==
        R"(text:3:44: unknown escape; write \", \\, \n, \t or \x41)");
    CHECK(op("%y: ? = aten.cat.default(%x)") ==
        "text:3:26: argument 'tensors' takes a list of values such as [%x, %y]");
    CHECK(op("%y: ? = aten.max.dim(%x, dim=0)") == "text:3:9: aten.max.dim gives 2 results, not 1");
    CHECK(op("%y: ? = aten.relu.default(%x") == "text:4:1: expected ')' or ',' after an argument");
    CHECK(op("%y: ? = constant [1]") == "text:3:1: a constant needs a type");
    CHECK(op("%y: int8[1] = constant [300]") == "text:3:25: '300' is not an element of int8");
    CHECK(op("%y: int8[2] = constant [1]") ==
        "text:3:24: the constant has 1 byte, but its type takes 2 elements of int8");
    CHECK(op("%y: int8[1000000000000] = constant [1]").find("1000000000000 elements") != std::string::npos);
    CHECK(op("%y: int8[1] = constant 0x1") ==
        "text:3:24: expected elements, as [1, 2], @ and a key, or 0x and two digits for each byte");
    CHECK(op("%y: int8[2] = constant [1, 2] strides [-1]") ==
        "text:3:15: a stride is negative, or the strides reach too far");
    CHECK(op("%y: int8[2] = constant [1, 2] strides [1, 1]") ==
        "text:3:15: a stride for each dimension is needed");
    CHECK(op("%y: int8[9, 9] = constant [1] strides [9223372036854775807, 1]").find("too far") !=
        std::string::npos);
    CHECK(op("%y: int8[2] = constant @0123") ==
        "text:3:24: the text has no data file; give the constant's elements, as [1, 2]");
    CHECK(op("%y: int8[1] = input {colour=1}").substr(0, 47) ==
        "text:3:22: there is no annotation 'colour' for ");
    CHECK(
        op("%y: int8[1] = input {quantization=[0.0, 0, 0, 1]}") == "text:3:36: a scale is a number above 0");
    CHECK(refusal("%x: int8[1] = input\noutput %x {quantization=[none, none]}") ==
        "text:3:25: there is not one quantization for each output");
    CHECK(refusal("%x: int8[1] = input\noutput y=%x, %x") == "text:3:8: name all outputs or none");
    CHECK(refusal("%x: int8[1] = input\noutput %x output %x") ==
        "text:3:11: a graph ends with its output; nothing may follow it");
    std::string deep = "%p: bool[] = input\n";
    for (int i = 0; i != 100'000; ++i) deep += "%r: ? = higher_order.cond(%p, {%p: bool[] = input\n";
    CHECK(refusal(deep).find("graphs are nested too deeply") != std::string::npos);
}

TEST_CASE("large constants lie in a file beside the text", "[graph_text]") {
    const folder at;
    program p;
    p.graph = std::make_unique<graph>();
    graph& g = *p.graph;
    const auto constant = [&](const int_list& shape, const int_list& strides,
                              std::span<const std::byte> bytes) {
        const value v = g.create<builtin::constant>({.data = {bytes.data(), strides}}).result();
        g.set_meta(v, {dtype::int8, shape, {}});
        return v;
    };
    std::vector<std::byte> bytes(100);
    for (std::size_t i = 0; i != bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
    const std::vector<value> values{constant({100}, {}, bytes), constant({10, 10}, {}, bytes),
        constant({10, 10}, {1, 10}, bytes), constant({40}, {2}, bytes), constant({4}, {}, bytes)};
    g.create<builtin::output>({.values = values});
    p.user_outputs = values.size();
    REQUIRE(write_graph_text(at / "x.hr", p).has_value());
    const std::string text = content_of(at / "x.hr");
    const std::string key = text.substr(text.find('@'), 17);
    CHECK(text.find("int8[100] = constant " + key + "\n") != std::string::npos);
    CHECK(text.find("int8[10, 10] = constant " + key + "\n") != std::string::npos);
    CHECK(text.find("int8[10, 10] = constant " + key + " strides [1, 10]\n") != std::string::npos);
    CHECK(text.find("int8[40] = constant @") != std::string::npos);  // every second element, gathered
    CHECK(text.find("int8[4] = constant [0, 1, 2, 3]\n") != std::string::npos);

    auto read = read_graph_text(at / "x.hr");
    REQUIRE(read.has_value());
    CHECK(printed(read.value()) == printed(p));
    REQUIRE(write_graph_text(at / "y.hr", read.value()).has_value());
    CHECK(content_of(at / "y.hr") == text);
    CHECK(content_of(at / "y.hr.data") == content_of(at / "x.hr.data"));
    REQUIRE(write_graph_text(at / "whole.hr", p, {.inline_elements = 100}).has_value());
    CHECK_FALSE(std::filesystem::exists(at / "whole.hr.data"));

    const auto refusal = [&] {
        const auto again = read_graph_text(at / "x.hr");
        return again ? std::string("it was read") : std::string(again.error().message);
    };
    const std::string place = (at / "x.hr") + ":3:34: ";
    std::filesystem::remove(at / "x.hr.data");
    CHECK(refusal() ==
        place + (at / "x.hr.data") +
            ": no such file, and it has the constant's elements; copy it along with the text");
    program other;
    other.graph = std::make_unique<graph>();
    const value w = other.graph->create<builtin::constant>({.data = {bytes.data() + 1, {}}}).result();
    other.graph->set_meta(w, {dtype::int8, {99}, {}});
    other.graph->create<builtin::output>({.values = {w}});
    REQUIRE(write_graph_text(at / "z.hr", other).has_value());
    std::filesystem::rename(at / "z.hr.data", at / "x.hr.data");
    CHECK(refusal() ==
        place + (at / "x.hr.data") + " has no constant '" + key.substr(1) +
            "'; it is not the data file of this text; write both again");
    std::ofstream(at / "x.hr.data") << "no archive";
    CHECK(refusal().find("malformed zip archive") != std::string::npos);
}

TEST_CASE("what the text cannot hold is refused", "[graph_text]") {
    graph g;
    node& x = g.create<builtin::constant>({});
    g.create<builtin::output>({.values = {x.result()}});
    const auto text = graph_text(g);
    REQUIRE_FALSE(text.has_value());
    CHECK(text.error().message == " (builtin.constant): cannot be written as text: elements without a type");
}

TEST_CASE("a text refers to constants and nested graphs that others keep", "[graph_text]") {
    constexpr std::string_view whole = R"(headrace 1

%x: float32[2] = input
%c: float32[2] = constant [1.0, 2.0]
%y: float32[2] = delegate.call_delegate("tosa", {
    %a: float32[2] = input
    output %a
}, [%x])
%z: float32[2] = aten.add.Tensor(%y, %c)
output %z
)";
    auto parsed = parse_graph_text(whole);
    REQUIRE(parsed);
    std::vector<std::byte> kept;
    const graph_text_stores stores{.constant =
                                       [&](std::span<const std::byte> elements) {
                                           kept.assign(elements.begin(), elements.end());
                                           return std::string("7");
                                       },
        .nested = [](const graph&) { return std::string("part"); }};
    const std::string text = graph_text(*parsed.value().graph, stores).value();
    CHECK(text.find("constant @7\n") != std::string::npos);
    CHECK(text.find("lowered_graph=@part") != std::string::npos);
    CHECK(kept.size() == 8);

    const graph_text_sources sources{
        .constant = [&](std::string_view key) -> result<std::span<const std::byte>> {
            if (key != "7") return malformed("no such constant");
            return std::span<const std::byte>(kept);
        },
        .nested = [](std::string_view key, graph& nested) -> result<void> {
            if (key != "part") return malformed("no such graph");
            const value a = nested.create<builtin::placeholder>({}).result();
            nested.set_meta(a, {dtype::float32, {2}, {}});
            nested.set_name(a, "a");
            nested.create<builtin::output>({.values = {&a, 1}});
            return {};
        }};
    const auto again = parse_graph_text(text, sources);
    REQUIRE(again);
    CHECK(graph_text(*again.value().graph).value() == graph_text(*parsed.value().graph).value());

    CHECK(parse_graph_text(text).error().message.find("no data file") != std::string::npos);
    const auto alone = parse_graph_text(text, {.constant = sources.constant});
    CHECK(alone.error().message.find("is not part of a package") != std::string::npos);
    std::string other = text;
    other.replace(other.find("@part"), 5, "@else");
    CHECK(parse_graph_text(other, sources).error().message.find("no such graph") != std::string::npos);
}
