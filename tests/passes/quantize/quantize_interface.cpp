// SPDX-License-Identifier: MIT
// Tests that quantization at the interface of a program is left to its caller, with the right annotations.
#include <catch2/catch.hpp>

#include <headrace/passes/quantize/quantized_boundaries.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

static_assert(graph_pass<quantize_interface> && !effects_of<quantize_interface>::always_runs);

constexpr dtype fp32 = dtype::float32;
constexpr coding a = int8_codes(0.05, 3);
constexpr coding b = int8_codes(0.0313, -7);

bool says(const signature_quantization& said, const coding& c) {
    return said.scale == c.scale && said.zero_point == c.zero_point && said.lowest == c.lowest &&
        said.highest == c.highest;
}
quantization parameters_of(const signature_quantization& said) {
    return quantization::per_tensor(said.scale, said.zero_point, said.lowest, said.highest);
}

/// Returns the outputs for a caller who quantizes and dequantizes as the annotations say.
std::vector<tensor> run_for_caller(graph& g, std::vector<tensor> inputs) {
    std::size_t i = 0;
    for (const node& n : g.inputs()) {
        const auto* said = n.find_annotation<signature_quantization>();
        const tensor& real = inputs[i++];
        if (said == nullptr) continue;
        std::vector<std::int64_t> codes;
        for (std::int64_t k = 0; k != real.size(); ++k)
            codes.push_back(parameters_of(*said).quantized(real.real(k)));
        inputs[i - 1] = tensor::of(n.results[0].meta->dtype, real.shape(), codes);
    }
    const auto results = run_graph(g, inputs);
    REQUIRE(results);
    std::vector<tensor> given = results.value();
    const auto* said = g.output()->find_annotation<output_quantizations>();
    for (std::size_t r = 0; said != nullptr && r != given.size(); ++r) {
        const signature_quantization& q = said->values[r];
        if (q.scale == 0) continue;
        std::vector<double> reals;
        for (std::int64_t k = 0; k != given[r].size(); ++k)
            reals.push_back(static_cast<double>(given[r].integer(k) - q.zero_point) * q.scale);
        given[r] = tensor::of(fp32, given[r].shape(), reals);
    }
    return given;
}
template <class Build>
void compare(const Build& build, double tolerance = 1e-5) {
    program before;
    build(before);
    before.finish();
    std::mt19937 random(5);
    std::vector<tensor> inputs;
    for (const node& n : before.g.inputs()) inputs.push_back(random_tensor(random, *n.results[0].meta));
    const auto expected = run_graph(before.g, inputs);
    REQUIRE(expected);
    program after;
    const std::vector<tensor> given = run_for_caller(lowered<quantize_interface>(after, build), inputs);
    for (std::size_t r = 0; r != given.size(); ++r)
        CHECK(tensor_difference(expected.value()[r], given[r], tolerance) == "");
}

}  // namespace

TEST_CASE("inputs and outputs become codes, with what they stand for") {
    const auto build = [](program& p) {
        const value codes = quantized(p, p.input(fp32, {6, 50}), a);
        p.output(real_of(p, codes, a));
        p.output(p.input(dtype::int32, {3}));
        p.output(p.make<aten::t>({real_of(p, p.make<aten::flip>({codes, {1}}), b)}));
    };
    compare(build);
    program p;
    graph& g = lowered<quantize_interface>(p, build);
    CHECK(real_value_of(g).empty());
    const node& input = *g.inputs().begin();
    CHECK(input.results[0].meta->dtype == dtype::int8);
    REQUIRE(input.find_annotation<signature_quantization>() != nullptr);
    CHECK(says(*input.find_annotation<signature_quantization>(), a));
    const auto* given = g.output()->find_annotation<output_quantizations>();
    REQUIRE(given != nullptr);
    REQUIRE(given->values.size() == 3);
    CHECK(says(given->values[0], a));
    CHECK(given->values[1].scale == 0);
    CHECK(says(given->values[2], b));
}

TEST_CASE("an input that is quantized in two ways is taken in the one that reaches farther") {
    const auto build = [](coding first, coding second) {
        return [=](program& p) {
            const value x = p.input(fp32, {6, 50});
            p.output(real_of(p, quantized(p, x, first), first));
            p.output(real_of(p, quantized(p, x, second), second));
            p.output(real_of(p, quantized(p, x, first), first));
        };
    };
    compare(build(a, a));
    compare(build(int16_codes(1e-4), b), 0.0313 + 1e-5);             // at most one step of the second apart
    compare(build(a, b), 0.05 / 2 + 0.0313 / 2 + 1e-5);              // rounded to both
    compare(build(all_int32_codes(2e-9), int16_codes(1e-9)), 1e-6);  // most are out of range of the second
    for (const auto& order : {build(a, b), build(b, a)}) {
        program p;
        graph& g = lowered<quantize_interface>(p, order);
        CHECK(says(*(*g.inputs().begin()).find_annotation<signature_quantization>(), a));
        CHECK(real_value_of(g).empty());
    }
}

TEST_CASE("an input that somebody reads as it is, and one that nobody reads, stay") {
    const auto build = [](program& p) {
        const value x = p.input(fp32, {2, 3});
        p.output(real_of(p, quantized(p, x, a), a));
        p.output(p.make<aten::exp>({x}));
        p.input(fp32, {5});
    };
    compare(build);
    program p;
    graph& g = lowered<quantize_interface>(p, build);
    for (const node& n : g.inputs()) {
        CHECK(n.results[0].meta->dtype == fp32);
        CHECK(n.find_annotation<signature_quantization>() == nullptr);
    }
    const auto* given = g.output()->find_annotation<output_quantizations>();
    REQUIRE(given != nullptr);
    CHECK(says(given->values[0], a));
    CHECK(given->values[1].scale == 0);
}

TEST_CASE("an output with a scale for each channel, and one that is computed, stay") {
    const auto build = [](program& p) {
        p.output(real_per_channel(p, p.input(dtype::int8, {3, 4}), {0.1, 0.2, 0.3}, 0));
        p.output(p.make<aten::exp>({real_input(p, a, {3, 4})}));
    };
    compare(build);
    program p;
    graph& g = lowered<quantize_interface>(p, build);
    CHECK(g.output()->find_annotation<output_quantizations>() == nullptr);
    for (const value v : g.outputs()) CHECK(meta_of(v)->dtype == fp32);
}

TEST_CASE("outputs that are padded and clamped") {
    const auto build = [](program& p) {
        const value x = real_of(p, quantized(p, p.input(fp32, {6, 50}), a), a);
        const value padded = p.make<aten::constant_pad_nd>({x, {1, 1}, scalar(0.0)});
        p.output(p.make<aten::clamp>({padded, scalar(-1.0), scalar(2.0)}));
        p.output(long_clamped_input(p, {6, 50}));
    };
    program p;
    graph& g = lowered<quantize_interface>(p, build);
    CHECK(real_value_of(g).empty());
    CHECK(count_of<aten::constant_pad_nd>(g) == 1);
    CHECK(count_of<tosa::rescale>(g) == 1);  // bounds between two quantized values get more bits
    compare(build);
}

TEST_CASE("16 bits with zero points of their own") {
    constexpr coding low{1e-4, -32768, dtype::int16, -32768, 32767};
    constexpr coding off{1.1e-4, 1234, dtype::int16, -32768, 32767};
    const auto build = [=](program& p) {
        const value x = p.input(fp32, {6, 50});
        p.output(real_of(p, quantized(p, x, low), low));
        p.output(real_of(p, quantized(p, x, off), off));
    };
    compare(build, 2.2e-4);
    CHECK(count_after<tosa::sub, quantize_interface>(build) == 1);
    CHECK(count_after<tosa::add, quantize_interface>(build) == 1);
}
