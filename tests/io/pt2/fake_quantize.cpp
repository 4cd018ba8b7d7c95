// SPDX-License-Identifier: MIT
// Tests io/pt2/reading/fake_quantize.hpp: fake quantization is read as quantize and dequantize, or the reason is told.
#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/dialect/builtin.hpp>
#include <headrace/io/pt2/reading/fake_quantize.hpp>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/unread.hpp>

namespace {

using namespace headrace;

// Reads the line of `%y`, whose operands are inputs, and returns the listing, or why it cannot be read.
std::string fake_quantized(std::string_view inputs, std::string_view line, constant_truth truth = nullptr) {
    const std::string text = "headrace 1\n" + std::string(inputs) + std::string(line) + "output y=%y\n";
    auto parsed = parse_graph_text(text);
    if (!parsed) return std::string(parsed.error().message);
    graph& g = *parsed.value().graph;
    const value given = args_of<builtin::output>(*g.output()).values[0];
    if (const value read = pt2::read_fake_quantization(g, *given.producer, truth)) {
        g.move_before(*g.output(), nullptr);
        if (given.result == 0) g.replace_all_uses(given, read);
    }
    pt2::erase_fake_quantization(g);
    for (const node& n : g.nodes()) {
        if (const auto* why = n.find_annotation<unread_reason>()) return std::string(why->text);
    }
    return std::string(listing(g));
}
bool tells(const std::string& text, std::string_view part) {
    INFO(text);
    const bool found = text.find(part) != std::string::npos;
    CHECK(found);
    return found;
}

constexpr std::string_view real_input = "%x: float32[2, 3] = input\n";
constexpr std::string_view with_tensors =
    "%x: float32[2, 3] = input\n%s: float32[1] = input\n%z: int32[1] = input\n%on: float32[1] = input\n";

}  // namespace

TEST_CASE("fake quantization: the range tells the type, and the scale is a float32") {
    const auto of_range = [](std::string_view range) {
        return fake_quantized(real_input,
            "%y: float32[2, 3] = opaque aten.fake_quantize_per_tensor_affine.default(self=%x, scale=0.1, zero_point=1, " +
                std::string(range) + ")\n");
    };
    const std::string bytes = of_range("quant_min=-128, quant_max=127");
    CHECK(tells(bytes, "quantize_per_tensor.default"));
    CHECK(tells(bytes, "scale=0.10000000149011612, zero_point=1, quant_min=-128, quant_max=127, dtype=int8"));
    CHECK(tells(bytes, "%y: float32[2, 3] = quantized_decomposed.dequantize_per_tensor"));
    CHECK(tells(of_range("quant_min=0, quant_max=255"), "dtype=uint8"));
    CHECK(tells(of_range("quant_min=0, quant_max=65535"), "dtype=int32"));
    CHECK(tells(of_range("quant_min=-8, quant_max=300"), "dtype=int16"));
    CHECK(tells(
        of_range("quant_min=1, quant_max=0"), "is empty, or does not fit in 32 bits; call convert_pt2e"));
    CHECK(tells(of_range("quant_min=0"), "'quant_max' is missing"));
}

TEST_CASE("fake quantization: what cannot be read says why") {
    constexpr std::string_view parameters = "(self=%x, scale=0.1, zero_point=1, quant_min=0, quant_max=9)\n";
    const std::string op = "opaque aten.fake_quantize_per_tensor_affine.default" + std::string(parameters);
    CHECK(tells(
        fake_quantized("%x: float16[2] = input\n", "%y: float16[2] = " + op), "other numbers than float32"));
    CHECK(
        tells(fake_quantized(real_input,
                  "%v: float32[2, 3], %y: bool[2, 3] = opaque aten.fake_quantize_per_tensor_affine_cachemask."
                  "default" +
                      std::string(parameters)),
            "only a gradient needs its mask"));
    CHECK(tells(
        fake_quantized(with_tensors,
            "%y: float32[2, 3] = opaque aten.fake_quantize_per_channel_affine.default(self=%x, scale=%s, "
            "zero_point=%on, axis=0, quant_min=0, quant_max=9)\n"),
        "are not integers"));
    CHECK(tells(
        fake_quantized(real_input,
            "%y: float32[2, 3] = opaque aten.fake_quantize_per_tensor_affine.default(self=%x, scale=0.0, "
            "zero_point=1, quant_min=0, quant_max=9)\n"),
        "must be above 0"));
}

TEST_CASE("fake quantization: a constant tells whether it is on") {
    constexpr std::string_view with_switch =
        "%y: float32[2, 3], %m: bool[2, 3] = opaque aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default("
        "self=%x, scale=%s, zero_point=%z, fake_quant_enabled=%on, quant_min=0, quant_max=255)\n";
    CHECK(tells(fake_quantized(with_tensors, with_switch), "fake_quant_enabled, is not a constant"));
    const auto on =
        fake_quantized(with_tensors, with_switch, [](value) { return std::optional(std::vector{true}); });
    CHECK(
        tells(on, "quantized_decomposed.quantize_per_tensor.tensor(%x, %s, %z, quant_max=255, dtype=uint8)"));
    const auto off =
        fake_quantized(with_tensors, with_switch, [](value) { return std::optional(std::vector{false}); });
    CHECK(off.find("quantize") == std::string::npos);
    CHECK(tells(off, "%y: float32[2, 3] = aten.clone.default(%x)"));
}

TEST_CASE("fake quantization: ops of a training that observe ranges are known") {
    CHECK(pt2::observing_reason("aten.add.Tensor").empty());
    CHECK(pt2::observing_reason("aten.fake_quantize_per_tensor_affine.default").empty());
    CHECK(!pt2::observing_reason("aten.fused_moving_avg_obs_fake_quant.default").empty());
    CHECK(!pt2::observing_reason("aten._fused_moving_avg_obs_fq_helper_functional.default").empty());
    CHECK(!pt2::observing_reason("aten._fake_quantize_learnable_per_tensor_affine.default").empty());
}
