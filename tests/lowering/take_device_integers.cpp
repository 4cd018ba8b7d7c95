// SPDX-License-Identifier: MIT
// Tests that inputs become a device's integers: the graph gives the same, and a quantized one rounds nothing.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/lowering/device/take_device_integers.hpp>
#include <headrace/quantization/quantize_graph.hpp>
#include <headrace/run/execution.hpp>

using namespace headrace;

namespace {

program device_program() {
    auto parsed = parse_graph_text(R"(headrace 1
        %x: float32[1, 2, 2, 2] = input
        %w: float32[1, 2, 1, 1] = constant [0.5, -0.25]
        %y: float32[1, 1, 2, 2] = aten.conv2d.default(%x, %w)
        output %y)");
    if (!parsed) FAIL(parsed.error().message);
    return std::move(parsed).value();
}

std::vector<device_input> devices(const std::vector<std::string>& texts) {
    std::vector<device_input> all;
    for (const std::string& text : texts) all.push_back(parse_device_input(text).value());
    return all;
}

tensor given_integers(dtype type) {
    return tensor::of(type, {1, 2, 2, 2}, std::vector<std::int64_t>{0, 1, 60, 127, 5, 9, 100, 64});
}

// Returns the parameters of the first quantize_per_tensor and quantizes by samples of the device's integers.
args<quantized_decomposed::quantize_per_tensor> first_quantize(
    const char* spec, dtype type, const quantization_config& config) {
    program p = device_program();
    REQUIRE(take_device_integers(p, devices({spec}), true));
    const sample_source samples{
        1, [type](std::size_t) -> result<std::vector<tensor>> { return std::vector{given_integers(type)}; }};
    pass_context context(standard_functions);
    REQUIRE(quantize_graph(*p.graph, context, config, samples));
    for (const node& n : p.graph->nodes()) {
        if (const auto* q = args_if<quantized_decomposed::quantize_per_tensor>(n)) return *q;
    }
    FAIL("nothing is quantized");
    return {};
}

std::string device_refusal(const std::vector<std::string>& texts) {
    program p = device_program();
    const auto done = take_device_integers(p, devices(texts), false);
    REQUIRE_FALSE(done);
    return std::string(done.error().message);
}

}  // namespace

TEST_CASE("device integers: the graph computes what the former one computes of their numbers") {
    for (const bool quantized : {false, true}) {
        for (const char* spec : {"x=uint8/255", "x=uint8/255-[0.5,0.25]/[0.5,2]", "x=int16*0.5+[1,2]",
                 "x=int8*[1,2]@-3", "x=int8-[1,2]@2"}) {
            CAPTURE(spec, quantized);
            const device_input device = parse_device_input(spec).value();
            const tensor integers = given_integers(device.type);
            std::vector<double> numbers;
            for (std::int64_t i = 0; i != integers.size(); ++i) {
                const std::int64_t channel = device.axis == 2 ? i / 2 % 2 : i / 4;
                const auto c = static_cast<std::size_t>(device.factors.size() == 1 ? 0 : channel);
                numbers.push_back(device.factors[c] * integers.real(i) + device.offsets[c]);
            }
            const program before = device_program();
            const auto wanted =
                execute(*before.graph, std::vector{tensor::of(dtype::float32, {1, 2, 2, 2}, numbers)});
            program after = device_program();
            REQUIRE(take_device_integers(after, std::vector{device}, quantized));
            CHECK(meta_of(after.graph->inputs().begin()->result())->dtype == device.type);
            const auto got = execute(*after.graph, std::vector{integers});
            REQUIRE(wanted);
            REQUIRE(got);
            for (std::int64_t i = 0; i != 4; ++i)
                CHECK(std::abs(got.value()[0].real(i) - wanted.value()[0].real(i)) < 1e-3);
        }
    }
}

TEST_CASE("device integers: their own scale is that of the first quantize") {
    const auto bytes = first_quantize("x=uint8*0.5-64", dtype::uint8, {});
    CHECK(bytes.scale == 0.5);
    CHECK(bytes.zero_point == 0);
    CHECK(bytes.dtype == dtype::int8);
    quantization_config wide;
    wide.all.activation.type = dtype::int16;
    wide.all.activation.lowest = -32767;
    wide.all.activation.highest = 32767;
    wide.all.activation.symmetric = true;
    const auto sound = first_quantize("x=int16*0.25", dtype::int16, wide);
    CHECK(sound.scale == 0.25);
    CHECK(sound.zero_point == 0);
    CHECK(sound.quant_min == -32768);
}

TEST_CASE("device integers: names and channels that do not fit are refused") {
    CHECK(device_refusal({"y=uint8"}).find("its inputs are x") != std::string::npos);
    CHECK(device_refusal({"x=uint8", "x=uint8"}).find("given twice") != std::string::npos);
    CHECK(device_refusal({"x=uint8*[1,2,3]"}).find("has 2 channels, not 3") != std::string::npos);
    CHECK(device_refusal({"x=uint8*[1,2]@4"}).find("there is no axis 4") != std::string::npos);
}
