// SPDX-License-Identifier: MIT
// Tests programs whose images are made channels-last at their signature.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/io/signature/io_description.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/lowering/image_layout.hpp>
#include <headrace/lowering/integer_signature.hpp>
#include <headrace/lowering/lower_pte.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/signature_tensors.hpp>

#include "../support/program.hpp"

using namespace headrace;

namespace {

using quantize = quantized_decomposed::quantize_per_tensor;
using dequantize = quantized_decomposed::dequantize_per_tensor;
using names = std::vector<std::string_view>;
using sizes_of = std::vector<std::int64_t>;

value quantized(testing::program& p, value v, double scale = 0.1) {
    return p.make<quantize>({v, scale, 3, -128, 127, dtype::int8});
}
value real(testing::program& p, value v, double scale = 0.1) {
    return p.make<dequantize>({v, scale, 3, -128, 127, dtype::int8, std::nullopt});
}
value image(testing::program& p) { return p.input(dtype::float32, {1, 2, 3, 4}); }

program program_of(const testing::builder& build) {
    testing::program p;
    build(p);
    REQUIRE(p.fault.empty());
    program made{};
    made.graph = std::make_unique<graph>();
    copy_graph(p.g, *made.graph);
    made.user_outputs = p.results.size();
    return made;
}

std::vector<tensor> inputs_of(const graph& g) {
    std::mt19937 random(1);
    std::vector<tensor> inputs;
    for (const node& n : g.inputs()) inputs.push_back(random_tensor(random, *n.results[0].meta));
    return inputs;
}

// Makes images channels-last, and checks that the same is computed of permuted images.
program laid_out(const testing::builder& build) {
    const program exported = program_of(build);
    const std::vector<tensor> inputs = inputs_of(*exported.graph);
    REQUIRE(make_functional(*exported.graph));
    const auto expected = execute(*exported.graph, inputs);
    REQUIRE(expected);
    program made = program_of(build);
    take_channels_last(made);
    graph g;
    copy_graph(*made.graph, g);
    const auto sound = verify_metadata(g);
    if (!sound) FAIL(sound.error().message);
    REQUIRE(make_functional(g));
    const auto got = execute(g, inputs_for(g, inputs));
    REQUIRE(got);
    const std::vector<tensor> outputs = outputs_of(g, got.value());
    for (std::size_t i = 0; i != outputs.size(); ++i)
        CHECK(tensor_difference(outputs[i], expected.value()[i], 0).empty());
    return made;
}

// Returns the ops that compute, with the dtypes of what is permuted.
names ops_of(const graph& g) {
    names found;
    for (const node& n : g.nodes()) {
        if (is_of_dialect<builtin::dialect>(n)) continue;
        found.push_back(is<aten::permute>(n) ? name_of(n.results[0].meta->dtype) : n.op->name);
    }
    return found;
}
sizes_of shape_of(value v) { return {meta_of(v)->shape.begin(), meta_of(v)->shape.end()}; }

constexpr std::string_view quantizes = "quantized_decomposed.quantize_per_tensor.default";
constexpr std::string_view dequantizes = "quantized_decomposed.dequantize_per_tensor.default";
constexpr std::string_view relu = "aten.relu.default";

}  // namespace

TEST_CASE("image layout: images alone are channels-last", "[image_layout]") {
    const program made = laid_out([](testing::program& p) {
        p.output(p.make<aten::relu>({image(p)}));
        p.output(p.make<aten::relu>({p.input(dtype::float32, {2, 3, 4})}));
    });
    const graph& g = *made.graph;
    CHECK(ops_of(g) == names{"float32", relu, relu, "float32"});
    const io_description io = describe_io(g);
    CHECK(io.inputs[0].channels_last);
    CHECK(io.inputs[0].shape == sizes_of{1, 3, 4, 2});
    CHECK_FALSE(io.inputs[1].channels_last);
    CHECK(io.inputs[1].shape == sizes_of{2, 3, 4});
    CHECK(io.outputs[0].channels_last);
    CHECK(io.outputs[0].shape == sizes_of{1, 3, 4, 2});
    CHECK_FALSE(io.outputs[1].channels_last);
}

TEST_CASE("image layout: integers are permuted where an image is quantized", "[image_layout]") {
    const program made = laid_out([](testing::program& p) {
        p.output(real(p, quantized(p, p.make<aten::relu>({real(p, quantized(p, image(p)))}))));
    });
    CHECK(ops_of(*made.graph) == names{quantizes, "int8", dequantizes, relu, quantizes, "int8", dequantizes});
}

TEST_CASE("image layout: readers that quantize otherwise, or not at all", "[image_layout]") {
    const program made = laid_out([](testing::program& p) {
        const value x = image(p);
        p.output(real(p, quantized(p, x)));
        p.output(real(p, quantized(p, x, 0.2), 0.2));
        p.output(p.make<aten::relu>({x}));
        p.output(x);
    });
    const names ops = ops_of(*made.graph);
    CHECK(std::ranges::count(ops, "int8") == 4);
    CHECK(std::ranges::count(ops, "float32") == 3);  // after the input, and before the outputs of floats
}

TEST_CASE("image layout: an output that is read inside, or given twice", "[image_layout]") {
    const program made = laid_out([](testing::program& p) {
        const value y = real(p, quantized(p, image(p)));
        p.g.set_name(y, "y");
        const value z = p.make<aten::relu>({y});
        p.g.set_name(z, "z");
        p.output(y);
        p.output(z);
        p.output(y);
    });
    const graph& g = *made.graph;
    CHECK(ops_of(g) == names{quantizes, "int8", dequantizes, relu, "int8", dequantizes, "float32"});
    CHECK(g.outputs()[0] == g.outputs()[2]);
    const io_description io = describe_io(g);
    CHECK(io.outputs[0].name == "y");
    CHECK(io.outputs[1].name == "z");
    CHECK(io.outputs[2].name == "y");
}

TEST_CASE("image layout: what is written in place is permuted afterwards", "[image_layout]") {
    const program made = laid_out([](testing::program& p) {
        const value y = real(p, quantized(p, image(p)));
        p.make<aten::add_inplace_scalar>({.self = y, .other = 2.0});
        p.output(y);
    });
    const names ops = ops_of(*made.graph);
    REQUIRE(ops.size() == 5);
    CHECK(ops.back() == "float32");
    laid_out([](testing::program& p) {
        const value x = image(p);
        p.make<aten::add_inplace_scalar>({.self = x, .other = 2.0});
        p.output(real(p, quantized(p, x)));
        p.output(p.make<aten::relu>({x}));
    });
}

TEST_CASE("image layout: integers at the signature", "[image_layout]") {
    program made = program_of(
        [](testing::program& p) { p.output(real(p, quantized(p, real(p, quantized(p, image(p)))))); });
    REQUIRE(take_integers(made));
    take_channels_last(made);
    CHECK(ops_of(*made.graph) == names{"int8", dequantizes, quantizes, "int8"});
    const io_description io = describe_io(*made.graph);
    CHECK(io.inputs[0].quantization->scale == 0.1);
    CHECK(io.inputs[0].shape == sizes_of{1, 3, 4, 2});
    CHECK(io.outputs[0].quantization->scale == 0.1);
}

TEST_CASE("image layout: a state stays as it is", "[image_layout]") {
    program p = program_of([](testing::program& built) {
        const value state = built.constant<float>(dtype::float32, {1, 2, 1, 2}, {1, 2, 3, 4});
        built.g.set_name(state, "state");
        const value sum =
            built.make<aten::add_tensor>({.self = built.input(dtype::float32, {1, 2, 1, 2}), .other = state});
        built.output(built.make<aten::relu>({sum}));
        built.output(sum);
    });
    p.user_outputs = 1;
    p.mutations.push_back({mutation::kind_type::buffer, "state", 1, "state"});
    std::map<std::string, program, std::less<>> methods;
    methods.emplace("forward", std::move(p));
    const auto lowered = lower_to_pte(std::move(methods), {.channels_last = true});
    REQUIRE(lowered);
    const graph& g = *lowered.value().methods.at("forward").graph;
    for (const node& n : g.inputs())
        CHECK(shape_of({const_cast<node*>(&n), 0}) ==
            (n.name() == "state" ? sizes_of{1, 2, 1, 2} : sizes_of{1, 1, 2, 2}));
    CHECK(shape_of(g.outputs()[0]) == sizes_of{1, 1, 2, 2});
    CHECK(shape_of(g.outputs()[1]) == sizes_of{1, 2, 1, 2});
    CHECK(lowered.value().io.at("forward").inputs.size() == 1);
}
