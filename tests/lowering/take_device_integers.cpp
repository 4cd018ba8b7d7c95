// SPDX-License-Identifier: MIT
// Tests that inputs become a device's integers: the graph gives the same, and a quantized one rounds nothing.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/io/signature/io_description.hpp>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/ir/annotation.hpp>
#include <headrace/lowering/device/kept_device_numbers.hpp>
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

TEST_CASE("device integers: the custom metadata of a reader keeps what they stand for") {
    program p = device_program();
    REQUIRE(take_device_integers(p, devices({"x=uint8/2-[1,2]"}), true));
    const io_device_numbers wanted{{0.5, 0.5}, {2, 4}, 1};
    CHECK(describe_io(*p.graph).inputs[0].device == wanted);
    const auto restored = [](const char* custom) {
        program q = device_program();
        REQUIRE(take_device_integers(q, devices({"x=uint8"}), true));
        graph& g = *q.graph;
        node& input = *g.inputs().begin();
        g.annotate(*input.uses().begin()->target, custom_metadata{custom});
        restore_device_numbers(g);
        return describe_io(g).inputs[0].device;
    };
    const io_device_numbers plain{{1}, {0}, 1};
    CHECK(restored(R"({"a": [1, {"b": "c"}], "headrace_input": "uint8/2-[1,2]"})") == wanted);
    for (const char* ignored : {"", "[]", "{", R"({"headrace_input": 3})", R"({"headrace_input": "uint8%2"})",
             R"({"headrace_input": "int8"})", R"({"headrace_input": "uint8*[1,2,3]"})",
             R"({"headrace_input": "uint8*[1,2]@-9"})"}) {
        CAPTURE(ignored);
        CHECK(restored(ignored) == plain);
    }
}

TEST_CASE("device integers: a model's own cast and normalization are folded") {
    constexpr const char* text = R"(headrace 1
        %x: uint8[1, 2, 2, 2] = input
        aten._assert_tensor_metadata.default(%x, dtype=uint8)
        %to: float32[1, 2, 2, 2] = aten.to.dtype(%x, dtype=float32)
        %255: float32[] = constant [255.0]
        %div: float32[1, 2, 2, 2] = aten.div.Tensor(%to, %255)
        %mean: float32[2, 1, 1] = constant [0.5, 0.25]
        %sub: float32[1, 2, 2, 2] = aten.sub.Tensor(%div, %mean)
        %std: float32[1, 2, 1, 1] = constant [0.5, 2.0]
        %norm: float32[1, 2, 2, 2] = aten.div.Tensor(%sub, %std)
        %w: float32[1, 2, 1, 1] = constant [0.5, -0.25]
        %y: float32[1, 1, 2, 2] = aten.conv2d.default(%norm, %w)
        output %y)";
    auto parsed = parse_graph_text(text);
    if (!parsed) FAIL(parsed.error().message);
    graph& g = *parsed.value().graph;
    const std::vector given{given_integers(dtype::uint8)};
    const auto wanted = execute(g, given);
    fold_normalization(g);
    const auto got = execute(g, given);
    REQUIRE(wanted);
    REQUIRE(got);
    for (std::int64_t i = 0; i != 4; ++i)
        CHECK(std::abs(got.value()[0].real(i) - wanted.value()[0].real(i)) < 1e-5);
    CHECK(g.census().count(info_of<aten::sub_tensor>) == 0);
    CHECK(g.census().count(info_of<aten::div_tensor>) == 0);
    CHECK(g.census().count(info_of<quantized_decomposed::dequantize_per_tensor>) == 1);
    CHECK_FALSE(describe_io(g).inputs[0].device);  // the user of the export gives integers, too
}

TEST_CASE("device integers: the scale of a quantized model is one dequantize") {
    for (const auto& [mean, folded] : {std::pair{"0.0", 1U}, {"0.5", 0U}}) {
        auto parsed = parse_graph_text(std::string(R"(headrace 1
            %x: int16[2] = input
            %to: float32[2] = aten.to.dtype(%x, dtype=float32)
            %s: float32[] = constant [32768.0]
            %div: float32[2] = aten.div.Tensor(%to, %s)
            %m: float32[] = constant [)") +
            mean + R"(]
            %sub: float32[2] = aten.sub.Tensor(%div, %m)
            %q: int8[2] = quantized_decomposed.quantize_per_tensor.default(%sub, scale=0.5, quant_min=-128, quant_max=127, dtype=int8)
            output %q)");
        if (!parsed) FAIL(parsed.error().message);
        graph& g = *parsed.value().graph;
        fold_quantized_normalization(g);
        CHECK(g.census().count(info_of<quantized_decomposed::dequantize_per_tensor>) == folded);
    }
}

TEST_CASE("device integers: sums of integers, and numbers that others read, are no normalization") {
    for (const char* body :
        {"%a: uint8[2] = aten.add.Tensor(%x, %x)\n%y: float32[2] = aten.to.dtype(%a, dtype=float32)",
            "%a: int32[2] = aten.to.dtype(%x, dtype=int32)\n%y: float32[2] = aten.to.dtype(%a, dtype=float32)"}) {
        auto parsed =
            parse_graph_text(std::string("headrace 1\n%x: uint8[2] = input\n") + body + "\noutput %y");
        if (!parsed) FAIL(parsed.error().message);
        graph& g = *parsed.value().graph;
        const std::size_t size = g.size();
        fold_normalization(g);
        CHECK(g.size() == size);
    }
}
