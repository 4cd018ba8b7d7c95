// SPDX-License-Identifier: MIT
// Tests graphs as JSON: what is written can be read, and broken text gives errors.

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>

#include <headrace/infer/verify.hpp>
#include <headrace/io/package/graph_json.hpp>
#include <headrace/ir/listing.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

struct store {
    std::vector<std::vector<std::byte>> data;

    graph_json_stores writing() {
        return {.add_data =
                    [this](std::span<const std::byte> bytes) {
                        data.emplace_back(bytes.begin(), bytes.end());
                        return data.size() - 1;
                    },
            .delegate_of = {}};
    }
    graph_json_sources reading() {
        return {.data = [this](std::uint64_t i) -> std::span<const std::byte> {
                    if (i >= data.size()) fail_malformed("no such data");
                    return data[i];
                },
            .delegate = [](std::uint64_t, graph&) { fail_malformed("no delegates"); }};
    }
};

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

// Adds arguments of all types that the dialects have: numbers, lists, optional ones, text, enumerations,
// graphs.
void build(program& p) {
    const value x = p.input(dtype::float32, {1, 2, 4, 4});
    p.g.set_name(x, "x \"quoted\"\n");
    const value infinite = p.make<aten::clamp>(
        {.self = x, .min = scalar(-std::numeric_limits<double>::infinity()), .max = scalar(3)});
    const value padded =
        p.make<aten::constant_pad_nd>({.self = infinite, .pad = {1, 1, 1, 1}, .value = scalar(0.1)});
    const value joined = p.make<aten::cat>({.tensors = {padded, padded}, .dim = 1});
    const value bent = p.make<aten::gelu>({.self = joined, .approximate = "tanh"});
    const value cast = p.make<aten::to_dtype>({.self = bent, .dtype = dtype::float16});
    const value step = p.constant<float>(dtype::float32, {2}, {1, 2});
    static_cast<void>(p.make<aten::add_tensor>({.self = step, .other = step, .alpha = scalar(true)}));
    const value flag = p.make<aten::any>({.self = cast});
    graph* branches[2];
    for (graph*& region : branches) {
        region = &p.g.create_region();
        const value inner = region->create<builtin::placeholder>({}).result();
        region->set_meta(inner, *meta_of(cast));
        const value made = region->create<aten::neg>({.self = inner}).result();
        region->set_meta(made, *meta_of(cast));
        region->create<builtin::output>({.values = {&made, 1}});
    }
    p.output(p.make<higher_order::cond>({flag, branches[0], branches[1], {&cast, 1}}));
    p.finish();
}

}  // namespace

TEST_CASE("a graph is read as it was written", "[graph_json]") {
    program p;
    build(p);
    REQUIRE(p.fault.empty());
    store s;
    const auto text = graph_json(p.g, s.writing());
    REQUIRE(text.has_value());
    CHECK(s.data.size() == 1);
    graph again;
    const auto read = read_graph_json(bytes_of(text.value()), again, s.reading());
    if (!read) FAIL(read.error().message);
    CHECK(verify<aten::dialect, higher_order::dialect>(again).has_value());
    CHECK(listing(again) == listing(p.g));
    std::mt19937 random(2);
    const std::vector<tensor> inputs{random_tensor(random, {dtype::float32, {1, 2, 4, 4}, {}})};
    CHECK(
        tensor_difference(run_graph(p.g, inputs).value()[0], run_graph(again, inputs).value()[0], 0).empty());
    // And writing it again gives the same text.
    store t;
    CHECK(graph_json(again, t.writing()).value() == text.value());
}

TEST_CASE("constants are written to JSON in row-major order", "[graph_json]") {
    program p;
    const std::int16_t elements[] = {1, 2, 3, 4, 5, 6};
    tensor_data data{reinterpret_cast<const std::byte*>(elements), {1, 2}};  // the transpose of [3, 2]
    const value turned = p.g.create<builtin::constant>({.data = data}).result();
    p.g.set_meta(turned, {dtype::int16, {2, 3}, {}});
    p.output(turned);
    p.finish();
    store s;
    REQUIRE(graph_json(p.g, s.writing()).has_value());
    REQUIRE(s.data.size() == 1);
    const std::int16_t expected[] = {1, 3, 5, 2, 4, 6};
    CHECK(std::memcmp(s.data[0].data(), expected, sizeof expected) == 0);
}

TEST_CASE("broken text is refused", "[graph_json]") {
    const auto refusal = [](std::string_view text) {
        store s;
        s.data.emplace_back(4);
        graph g;
        const auto read = read_graph_json(bytes_of(text), g, s.reading());
        return read ? std::pmr::string() : read.error().message;
    };
    const auto nodes = [&](const std::string& text) { return refusal("{\"nodes\":[" + text + "]}"); };
    const std::string input =
        R"({"op":"builtin.placeholder","results":[{"name":"x","dtype":"float32","shape":[1]}]},)";
    const std::string output = R"({"op":"builtin.output","args":{"values":[0]},"results":[]})";
    CHECK(nodes(input + output).empty());
    CHECK_FALSE(refusal("").empty());
    CHECK_FALSE(refusal("{}").empty());
    CHECK(nodes("") == "a graph has no output node");
    CHECK(nodes(R"({"op":"aten.none","results":[]})") == "node 'aten.none': there is no such op");
    CHECK(nodes(output).find("not known yet") != std::string::npos);
    CHECK(nodes(input + output + "," + output).find("after the output") != std::string::npos);
    const auto relu = [&](const std::string& rest) {
        return nodes(input + R"({"op":"aten.relu.default",)" + rest);
    };
    CHECK(relu(R"("results":[{}]},)" + output).find("argument 'self' is missing") != std::string::npos);
    CHECK(relu(R"("args":{"self":"x"},"results":[{}]},)" + output).find("of the wrong kind") !=
        std::string::npos);
    CHECK(relu(R"("args":{"self":0,"self":0},"results":[{}]},)" + output).find("twice") != std::string::npos);
    CHECK(relu(R"("args":{"self":0,"other":0},"results":[{}]},)" + output).find("no argument") !=
        std::string::npos);
    CHECK(relu(R"("args":{"self":0},"results":[]},)" + output).find("0 results") != std::string::npos);
    CHECK(relu(R"("args":{"self":0},"results":[{"dtype":"float99"}]},)" + output).find("no dtype") !=
        std::string::npos);
    CHECK(relu(R"("args":{"self":0},"results":[{"dtype":"int8","shape":[-1]}]},)" + output)
              .find("impossible") != std::string::npos);
    const auto constant = [&](const std::string& meta) {
        return nodes(R"({"op":"builtin.constant","data":0,"results":[{)" + meta + "}]}," + output);
    };
    CHECK(constant(R"("dtype":"float32","shape":[1])").empty());
    CHECK(constant(R"("dtype":"float32","shape":[2])").find("bytes") != std::string::npos);
    CHECK(constant(R"("dtype":"float32","shape":[4611686018427387904])").find("bytes") != std::string::npos);
    CHECK(constant("").find("without a type") != std::string::npos);
    std::string deep = output;
    for (int i = 0; i != 40; ++i)
        deep = R"({"op":"higher_order.cond","args":{"true_graph":{"nodes":[)" + deep + R"(]}},"results":[]})";
    CHECK_FALSE(nodes(deep).empty());
}
