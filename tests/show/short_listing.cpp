// SPDX-License-Identifier: MIT
// Tests listings without uninformative nodes, and summaries.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <headrace/io/text/graph_text.hpp>
#include <headrace/show/model_summary.hpp>
#include <headrace/show/short_listing.hpp>

using namespace headrace;

namespace {

program parsed(std::string_view text) {
    auto read = parse_graph_text(text);
    if (!read) FAIL(read.error().message);
    return std::move(read).value();
}

// A linear layer as quantized by PT2E, whose weights have a scale per channel.
constexpr std::string_view quantized_linear = R"(headrace 1

%x: float32[1, 4] = input
%qx: int8[1, 4] = quantized_decomposed.quantize_per_tensor.default(%x, scale=0.5, zero_point=1, quant_min=-128, quant_max=127, dtype=int8)
%dx: float32[1, 4] = quantized_decomposed.dequantize_per_tensor.default(%qx, scale=0.5, zero_point=1, quant_min=-128, quant_max=127, dtype=int8)
%w: int8[2, 4] = constant [1, 2, 3, 4, 5, 6, 7, 8]
%s: float32[2] = constant [0.25, 0.125]
%z: int64[2] = constant [0, 0]
%dw: float32[2, 4] = quantized_decomposed.dequantize_per_channel.default(%w, %s, %z, axis=0, quant_min=-127, quant_max=127, dtype=int8)
%y: float32[1, 2] = aten.linear.default(%dx, %dw)
%qy: int8[1, 2] = quantized_decomposed.quantize_per_tensor.default(%y, scale=2.0, zero_point=-3, quant_min=-128, quant_max=127, dtype=int8)
%dy: float32[1, 2] = quantized_decomposed.dequantize_per_tensor.default(%qy, scale=2.0, zero_point=-3, quant_min=-128, quant_max=127, dtype=int8)
output %dy
)";

}  // namespace

TEST_CASE("a short listing has quantization in types", "[short_listing]") {
    const program p = parsed(quantized_linear);
    CHECK(short_listing(*p.graph).text() == R"(%x: float32[1, 4] = input
%qx: int8<0.5, 1>[1, 4] = quantize(%x)
%w: int8<0.125..0.25, axis 0>[2, 4] = constant
%y: int8<2, -3>[1, 2] = aten.linear.default(%qx, %w)
%dy: float32[1, 2] = dequantize(%y)
output %dy
)");
}

TEST_CASE(
    "a value that has several users or scales keeps its quantize and dequantize nodes", "[short_listing]") {
    const program p = parsed(R"(headrace 1

%x: float32[4] = input
%r: float32[4] = aten.relu.default(%x)
%q: int8[4] = quantized_decomposed.quantize_per_tensor.default(%r, scale=0.5, zero_point=1, quant_min=-128, quant_max=127, dtype=int8)
%a: float32[4] = quantized_decomposed.dequantize_per_tensor.default(%q, scale=0.5, zero_point=1, quant_min=-128, quant_max=127, dtype=int8)
%b: float32[4] = quantized_decomposed.dequantize_per_tensor.default(%q, scale=0.25, zero_point=1, quant_min=-128, quant_max=127, dtype=int8)
%c: float32[4] = aten.add.Tensor(%a, %b)
%d: float32[4] = aten.add.Tensor(%c, %r)
output %d
)");
    const std::string text = short_listing(*p.graph).text();
    INFO(text);
    CHECK(text.find("%r: float32[4] = aten.relu") != text.npos);
    CHECK(text.find("%q: int8<0.5, 1>[4] = quantize(%r)") != text.npos);
    CHECK(text.find("dequantize_per_tensor.default(%q, scale=0.25") != text.npos);
    CHECK(text.find("aten.add.Tensor(%q, %b)") != text.npos);
}

TEST_CASE("small constants stand where they are used", "[short_listing]") {
    const program p = parsed(R"(headrace 1

%x: float32[2, 8] = input
%shape: shape[2] = tosa.CONST_SHAPE(values=[4, 4])
%y: float32[4, 4] = tosa.RESHAPE(%x, %shape)
%half: float32[1, 1] = tosa.CONST(data=[0.5])
%many: float32[1, 4] = tosa.CONST(data=[1.0, 2.0, 3.0, 4.0])
%a: float32[4, 4] = tosa.ADD(%y, %half)
%b: float32[4, 4] = tosa.ADD(%a, %many)
output %b
)");
    const short_listing listed(*p.graph);
    CHECK(listed.text() == R"(%x: float32[2, 8] = input
%y: float32[4, 4] = tosa.RESHAPE(%x, [4, 4])
%many: float32[1, 4] = constant
%a: float32[4, 4] = tosa.ADD(%y, [0.5])
%b: float32[4, 4] = tosa.ADD(%a, %many)
output %b
)");
    CHECK(listed.names() == std::vector<std::string>{"x", "y", "many", "a", "b"});
}

TEST_CASE("a listing shows the neighbours of a node", "[short_listing]") {
    const program p = parsed(quantized_linear);
    const short_listing listed(*p.graph);
    const auto lines = [&](std::string_view name, std::size_t depth) {
        const auto text = listed.around(name, depth);
        return text ? std::count(text->begin(), text->end(), '\n') : -1;
    };
    CHECK(lines("y", 0) == 1);
    CHECK(lines("%y", 1) == 4);
    CHECK(lines("dx", 0) == 1);  // shown as %qx
    CHECK(lines("y", 1000) == 6);
    CHECK(lines("none", 1) == -1);
}

TEST_CASE("a summary counts ops, MACs and parameters", "[model_summary]") {
    const program p = parsed(quantized_linear);
    const model_summary s = summary_of(*p.graph);
    CHECK(s.nodes == 11);
    CHECK(s.macs == 8);
    CHECK(s.uncounted == 0);
    CHECK(s.parameters == 8);
    CHECK(s.parameter_bytes == 8);
    CHECK(s.peak_bytes.has_value());
    REQUIRE(!s.ops.empty());
    CHECK(s.ops[0].op == "aten.linear.default");
    CHECK(s.ops[0].macs == 8);
    CHECK(s.inputs == std::vector<std::string>{"x: float32[1, 4], in the model int8<0.5, 1>"});
    CHECK(s.outputs == std::vector<std::string>{"dy: float32[1, 2], in the model int8<2, -3>"});
}

TEST_CASE("MACs of each way to convolve", "[model_summary]") {
    const auto macs = [](std::string_view node) {
        const program p = parsed("headrace 1\n\n" + std::string(node) + "output %y\n");
        return summary_of(*p.graph).macs;
    };
    // Two groups of 4 channels to 3 each, 3 × 3, on 5 × 5: each result element takes 4 × 9.
    CHECK(macs("%x: float32[1, 8, 5, 5] = input\n%w: float32[6, 4, 3, 3] = input\n"
               "%y: float32[1, 6, 3, 3] = aten.conv2d.default(%x, %w, groups=2)\n") == 6 * 9 * 36);
    CHECK(macs("%x: float32[1, 8, 5, 5] = input\n%w: float32[8, 4, 3, 3] = input\n"
               "%y: float32[1, 4, 7, 7] = aten.conv_transpose2d.input(%x, %w)\n") == 8 * 25 * 36);
    CHECK(macs("%a: float32[2, 3, 4] = input\n%b: float32[2, 4, 5] = input\n"
               "%y: float32[2, 3, 5] = aten.bmm.default(%a, %b)\n") == 2 * 3 * 5 * 4);
    CHECK(macs("%c: float32[5] = input\n%a: float32[3, 4] = input\n%b: float32[4, 5] = input\n"
               "%y: float32[3, 5] = aten.addmm.default(%c, %a, %b)\n") == 3 * 5 * 4);
}
