// SPDX-License-Identifier: MIT
// Tests quantize and dequantize nodes that are computed in floats.
#include <limits>

#include <catch2/catch.hpp>

#include <headrace/passes/decompose/quantization.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
static_assert(
    effects_of<decompose_quantization>::removed_set == effects_of<decompose_quantization>::target_set);

template <class Build>
std::pmr::string compare(const Build& build, std::vector<tensor> inputs = {}, double tolerance = 0) {
    if (inputs.empty()) inputs = random_inputs(build);
    return compare_runs<decompose_quantization>(build, inputs, tolerance);
}

}  // namespace

TEST_CASE("per tensor, to every type and back") {
    for (const coding& c : {int8_codes(0.013, 3), int8_codes(0.5, -128), weight_codes(0.01),
             int16_codes(1e-4), int32_codes(1e-7), coding{0.013, 121, dtype::uint8, 0, 255}}) {
        CAPTURE(c.scale, c.zero_point);
        CHECK(compare([=](program& p) {
            p.output(quantized(p, p.input(fp32, {6, 50}), c));
            p.output(real_of(p, p.input(c.type, {6, 50}), c));
            p.output(quantized(p, p.input(fp32, {}), c));
        }) == "");
    }
}

TEST_CASE("numbers half-way between codes, and beyond them") {
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> numbers{
        0.25, 0.75, 1.25, -0.25, -0.75, 63.25, 63.75, 1e30, -1e30, infinity, -infinity};
    for (const std::int64_t zero : {0, 1, -128}) {
        const auto build = [=](program& p) { output_in(p, p.input(fp32, {11}), int8_codes(0.5, zero)); };
        CHECK(compare(build, {tensor::of(fp32, {11}, numbers)}) == "");
    }
}

TEST_CASE("half precision") {
    for (const dtype type : {dtype::float16, dtype::bfloat16}) {
        const auto build = [=](program& p) {
            p.output(p.make<quantized_decomposed::dequantize_per_tensor>(
                {p.input(dtype::int8, {50}), 0.0625, 3, -128, 127, dtype::int8, type}));
        };
        CHECK(compare(build) == "");
    }
}

TEST_CASE("per channel, along any axis") {
    for (const std::int64_t axis : {0, 1, -1}) {
        for (const bool with_zeros : {false, true}) {
            CAPTURE(axis, with_zeros);
            const auto build = [=](program& p) {
                const std::vector<double> scales{0.013, 0.5, 0.0171, 0.02};
                const std::vector<std::int64_t> zeros{0, -128, 5, 127};
                const value codes = p.input(dtype::int8, {4, 4, 4});
                p.output(real_per_channel(
                    p, codes, scales, axis, with_zeros ? zeros : std::vector<std::int64_t>()));
                const value zero_points = integer_constant(p, dtype::int64, {4}, zeros);
                p.output(p.make<quantized_decomposed::quantize_per_channel>({p.input(fp32, {4, 4, 4}),
                    float_constant(p, {4}, scales), zero_points, axis, -128, 127, dtype::int8}));
            };
            CHECK(compare(build) == "");
        }
    }
    const auto beyond = [](program& p) {
        const value codes = p.input(dtype::int8, {2, 2});
        node& n = p.make_node<quantized_decomposed::dequantize_per_channel>(
            {codes, float_constant(p, {2}, {1, 2}), std::nullopt, 0, -127, 127, dtype::int8, std::nullopt});
        const_cast<args<quantized_decomposed::dequantize_per_channel>&>(
            args_of<quantized_decomposed::dequantize_per_channel>(n))
            .axis = 2;
        p.output(n.result());
    };
    CHECK_THAT(beyond, is_refused_by<decompose_quantization>("out of range"));
}
