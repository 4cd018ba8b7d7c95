// SPDX-License-Identifier: MIT
// Tests the description of inputs and outputs for callers: from the graph to JSON and back.

#include <catch2/catch.hpp>

#include <span>
#include <string>
#include <vector>

#include <headrace/dialect/tosa.hpp>
#include <headrace/io/embed/embedded_tensors.hpp>
#include <headrace/io/embed/model_embedding.hpp>
#include <headrace/io/signature/io_description_reader.hpp>

using namespace headrace;

namespace {

result<io_description> read(const std::string& json) {
    return read_io_description(std::as_bytes(std::span(json)));
}

// One quantized image and one mask, which is returned unchanged.
void build(graph& g) {
    node& x = g.create<builtin::placeholder>({});
    g.set_name(x.result(), "x");
    g.set_meta(x.result(), {dtype::int8, {1, 8, 8, 3}, {}});
    g.annotate(x, signature_quantization{0.5, -3, -128, 127});
    g.annotate(x, channels_last_signature{.applied = true});
    node& mask = g.create<builtin::placeholder>({});
    g.set_name(mask.result(), "mask");
    g.set_meta(mask.result(), {dtype::boolean, {}, {}});
    node& out = g.create<builtin::output>({.values = {mask.result()}});
    const std::string_view names[] = {"kept"};
    g.annotate(out, output_names{g.own(list<std::string_view>(names))});
}

}  // namespace

TEST_CASE("inputs and outputs are described under their exported names", "[io_description]") {
    graph g;
    build(g);
    const std::string json = io_json(describe_io(g), json_style::compact);
    CHECK(json ==
        R"({"inputs":[{"name":"x","dtype":"INT8","shape":[1,8,8,3],"quantization":{"scale":0.5,)"
        R"("zero_point":-3,"qmin":-128,"qmax":127},"layout":"NHWC"},)"
        R"({"name":"mask","dtype":"BOOL","shape":[]}],)"
        R"("outputs":[{"name":"kept","dtype":"BOOL","shape":[]}]})");
    const auto back = read(json);
    REQUIRE(back);
    CHECK(io_json(back.value(), json_style::compact) == json);
}

TEST_CASE("a device's integers are described with what they stand for", "[io_description]") {
    io_description io;
    io.inputs.push_back({.name = "x",
        .dtype = dtype::uint8,
        .shape = {1, 2},
        .device = io_device_numbers{{0.5, 0.25}, {1.5, 3}, 1}});
    io.inputs.push_back(
        {.name = "y", .dtype = dtype::int16, .shape = {4}, .device = io_device_numbers{{0.5}, {0}}});
    const std::string json = io_json(io, json_style::compact);
    CHECK(json ==
        R"({"inputs":[{"name":"x","dtype":"UINT8","shape":[1,2],"quantization":{"scale":[0.5,0.25],)"
        R"("zero_point":[1.5,3],"axis":1,"qmin":0,"qmax":255,"raw":true}},)"
        R"({"name":"y","dtype":"INT16","shape":[4],"quantization":{"scale":0.5,"zero_point":0,)"
        R"("qmin":-32768,"qmax":32767,"raw":true}}],"outputs":[]})");
    const auto back = read(json);
    REQUIRE(back);
    CHECK_FALSE(back.value().inputs[0].quantization);
    CHECK(io_json(back.value(), json_style::compact) == json);
    std::string uneven = json;
    uneven.replace(uneven.find("[1.5,3]"), 7, "[1.5]");
    CHECK_FALSE(read(uneven));
}

TEST_CASE("several methods are described by name", "[io_description]") {
    const io_tensor x{.name = "x", .dtype = dtype::int64, .shape = {2}};
    const std::string json = io_json(
        method_descriptions{{"decode", {.inputs = {x}}}, {"encode", {.outputs = {x}}}}, json_style::compact);
    CHECK(json ==
        R"({"methods":{"decode":{"inputs":[{"name":"x","dtype":"INT64","shape":[2]}],"outputs":[]},)"
        R"("encode":{"inputs":[],"outputs":[{"name":"x","dtype":"INT64","shape":[2]}]}}})");
    const auto bytes = std::as_bytes(std::span(json));
    CHECK(read_method_descriptions(bytes).value().size() == 2);
    CHECK(read_io_description(bytes, "encode").value().outputs.size() == 1);
    CHECK(read(json).error().message.find("the methods decode, encode") != std::string::npos);
    CHECK(read_io_description(bytes, "other").error().message.find("not other") != std::string::npos);
    const std::string one = io_json(method_descriptions{{"decode", {.inputs = {x}}}});
    CHECK(read(one).value().inputs.size() == 1);
    CHECK_FALSE(read_io_description(std::as_bytes(std::span(one)), "encode"));
    CHECK_FALSE(read("{\"methods\":{}}"));
}

TEST_CASE("JSON that describes no tensors is an error", "[io_description]") {
    CHECK_FALSE(read(""));
    CHECK_FALSE(read("[]"));
    CHECK(read("{\"inputs\":[]}").error().message.find("'outputs'") != std::string::npos);
    const auto with = [](const std::string& tensor) {
        return read("{\"inputs\":[" + tensor + "],\"outputs\":[]}");
    };
    CHECK(with(R"({"name":"x","dtype":"INT8","shape":[2]})"));
    CHECK(with(R"({"name":"x","dtype":"INT9","shape":[2]})").error().message.find("'INT9'") !=
        std::string::npos);
    CHECK_FALSE(with(R"({"name":"x","dtype":"INT8","shape":[-1]})"));
    CHECK_FALSE(with(R"({"name":"x","dtype":"INT8","shape":[2],"quantization":{"scale":1}})"));
}

TEST_CASE("what a 32-bit program cannot hold is not embedded", "[io_description]") {
    io_description io{.inputs = {{.name = "x", .dtype = dtype::int8, .shape = {1 << 20}}}};
    CHECK(check_embeddable(io));
    io.inputs[0].shape = {std::int64_t{1} << 31};
    CHECK_FALSE(check_embeddable(io));
    io.inputs[0].shape = {1 << 16, 1 << 16};
    CHECK_FALSE(check_embeddable(io));
    io.inputs[0].shape = {1};
    io.inputs[0].quantization = signature_quantization{1e300, 0, 0, 1};
    CHECK_FALSE(check_embeddable(io));
}

TEST_CASE("a flatbuffer is embedded by the assembler", "[io_description]") {
    const std::vector<std::byte> bytes(24);
    const io_description io{.inputs = {{.name = "x", .dtype = dtype::int8, .shape = {2, 3}}}};
    const auto made = embed_model("kws", "a b.tosa", bytes, &io);
    REQUIRE(made);
    CHECK(made.value().header.find("extern const unsigned char kws_model[24];") != std::string::npos);
    CHECK(made.value().header.find("#ifndef HEADRACE_KWS_MODEL_H") != std::string::npos);
    CHECK(made.value().source.find(R"(.incbin \"a b.tosa\", 0, 24\n)") != std::string::npos);
    CHECK(
        made.value().source.find(
            "{\"x\", \"INT8\", kws_input_0_shape, 2, 0, 6, 0.00000000e+00f, 0, 0, 0, ") != std::string::npos);
    CHECK(embed_model("kws", "f", bytes).value().header.find("headrace_io") == std::string::npos);
}

TEST_CASE("each method that is embedded has its description", "[io_description]") {
    const std::vector<std::byte> bytes(24);
    const io_tensor x{.name = "x",
        .dtype = dtype::int8,
        .shape = {2},
        .quantization = signature_quantization{0.1, 3, 0, 9}};
    const method_descriptions methods{{"decode", {.inputs = {x}}}, {"encode", {.outputs = {x}}}};
    const auto made = embed_model("kws", "f", bytes, methods);
    REQUIRE(made);
    CHECK(made.value().header.find("extern const struct headrace_io kws_decode_io;") != std::string::npos);
    CHECK(made.value().source.find("kws_encode_io = {NULL, 0, kws_encode_outputs, 1};") != std::string::npos);
    CHECK(made.value().source.find("1.00000001e-01f, 3, 0, 9, 1.0000000000000001e-01}") != std::string::npos);
    CHECK_FALSE(embed_model("kws", "f", bytes, method_descriptions{{"a-b", {}}}));
}
