// SPDX-License-Identifier: MIT
// Tests that parameters in tensors become numbers, and unsigned quantized values signed ones.
#include <limits>

#include <catch2/catch.hpp>

#include <headrace/passes/quantize/lower_quantized.hpp>
#include <headrace/passes/quantize/quantized_storage.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

using quantize = quantized_decomposed::quantize_per_tensor;
using by_tensor = quantized_decomposed::quantize_per_tensor_tensor;
static_assert(effects_of<canonicalize_quantization>::sound);
static_assert(effects_of<canonicalize_quantization>::removed_set.contains<by_tensor>());

constexpr coding unsigned_codes{0.05, 121, dtype::uint8, 0, 255};

}  // namespace

TEST_CASE("unsigned codes become signed ones where they are only dequantized") {
    const auto build = [](program& p) {
        p.output(real_of(p, quantized(p, p.input(dtype::float32, {64}), unsigned_codes), unsigned_codes));
    };
    CHECK_THAT(build, computes_the_same<canonicalize_quantization>());
    program p;
    for (const node& n : lowered<canonicalize_quantization>(p, build).nodes()) {
        if (n.result_count != 0) CHECK(n.results[0].meta->dtype != dtype::uint8);
    }
}

TEST_CASE("unsigned weights are stored signed") {
    const auto build = [](program& p) { p.output(real_constant(p, unsigned_codes, {300})); };
    CHECK_THAT(build, computes_the_same<canonicalize_quantization>());
}

TEST_CASE("unsigned codes that come from elsewhere, or go there, pass an unsigned RESCALE") {
    const auto given = [](program& p) {
        p.output(quantized(p, p.input(dtype::float32, {64}), unsigned_codes));
    };
    CHECK_THAT(given, computes_the_same<canonicalize_quantization>());
    program p;
    const graph& g = lowered<canonicalize_quantization>(p, given);
    CHECK(meta_of(g.outputs()[0])->dtype == dtype::uint8);
    CHECK(args_of<tosa::rescale>(*g.outputs()[0].producer).output_unsigned);

    const auto taken = [](program& q) {
        const value bytes = q.input(dtype::uint8, {16, 16});
        const value moved = q.make<aten::permute>({.self = bytes, .dims = {1, 0}});
        q.output(real_of(q, moved, unsigned_codes));
    };
    std::vector<std::int64_t> all(256);
    for (std::size_t i = 0; i != all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    const std::vector<tensor> inputs{tensor::of(dtype::uint8, {16, 16}, all)};
    CHECK(compare_runs<canonicalize_quantization>(taken, inputs) == "");
    CHECK(count_after<tosa::rescale, canonicalize_quantization>(taken) == 1);

    // One quantize with two users: the bytes of the second are not converted twice.
    const auto both = [](program& q) {
        const value codes = quantized(q, q.input(dtype::float32, {64}), unsigned_codes);
        q.output(codes);
        q.output(real_of(q, codes, unsigned_codes));
    };
    CHECK_THAT(both, computes_the_same<canonicalize_quantization>());
    CHECK(count_after<tosa::rescale, canonicalize_quantization>(both) == 1);
}

TEST_CASE("bytes that are cast to real numbers are quantized with scale 1") {
    std::vector<std::int64_t> all(256);
    for (std::size_t i = 0; i != all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    const std::vector<tensor> inputs{tensor::of(dtype::uint8, {16, 16}, all)};
    const auto read = [](program& p) {
        return p.make<aten::_to_copy>({.self = p.input(dtype::uint8, {16, 16}), .dtype = dtype::float32});
    };
    const auto cast = [=](program& p) {
        p.g.set_target(integer_target);
        p.output(read(p));
    };
    CHECK_THAT(cast, computes_the_same<canonicalize_quantization>().for_inputs(inputs));
    program p;
    const value read_back = lowered<canonicalize_quantization>(p, cast).outputs()[0];
    CHECK(args_of<tosa::rescale>(*read_back.producer->operand(0).producer).input_unsigned);

    for (const coding& to : {int8_codes(1, -128), int8_codes(2.5, -100), unsigned_codes, int16_codes(0.03)}) {
        CAPTURE(to.scale, to.zero_point);
        const auto quantizes = [=](program& q) {
            q.g.set_target(integer_target);
            output_in(q, read(q), to);
        };
        CHECK(integers_from<canonicalize_quantization, lower_quantized>(
                  quantizes, nearly_with_ties, inputs) == "");
    }
    const auto compares = [=](program& q) {
        q.g.set_target(integer_target);
        const value x = read(q);
        q.output(q.make<aten::gt_tensor>({x, float_constant(q, {1, 1}, {150.5})}));
        output_in(
            q, q.make<aten::mul_tensor>({x, float_constant(q, {1, 1}, {0.0625})}), int8_codes(0.125, -100));
        output_in(q, q.make<aten::add_tensor>({.self = x, .other = float_constant(q, {1, 1}, {-40})}),
            int8_codes(2));
    };
    CHECK(
        integers_from<canonicalize_quantization, lower_quantized>(compares, nearly_with_ties, inputs) == "");
    CHECK_THAT(cast, is_left_alone_by<lower_quantized>());  // which would read the bytes as signed

    const auto in_floats = [=](program& q) {
        q.g.set_target(mixed_target);
        q.output(read(q));
    };
    CHECK_THAT(in_floats, is_left_alone_by<canonicalize_quantization>());
}

TEST_CASE("without integers in the target, unsigned codes that others read stay") {
    const auto build = [](program& p) {
        p.g.set_target(*parse_target("TOSA-1.0+FP"));
        p.output(quantized(p, p.input(dtype::float32, {64}), unsigned_codes));
    };
    CHECK_THAT(build, is_left_alone_by<canonicalize_quantization>());
}

TEST_CASE("parameters in constant tensors become numbers") {
    const auto build = [](program& p) {
        const value scale = float_constant(p, {1}, {0.125});
        const value zero = integer_constant(p, dtype::int64, {1}, {-3});
        const value codes =
            p.make<by_tensor>({p.input(dtype::float32, {64}), scale, zero, -128, 127, dtype::int8});
        p.output(p.make<quantized_decomposed::dequantize_per_tensor_tensor>(
            {codes, scale, zero, -128, 127, dtype::int8, std::nullopt}));
    };
    CHECK_THAT(build, computes_the_same<canonicalize_quantization>());
    CHECK(count_after<quantize, canonicalize_quantization>(build) == 1);
}

TEST_CASE("parameters that are computed are refused") {
    const auto build = [](program& p) {
        p.output(p.make<by_tensor>({p.input(dtype::float32, {64}), p.input(dtype::float32, {1}),
            p.input(dtype::int64, {1}), -128, 127, dtype::int8}));
    };
    CHECK_THAT(build, is_refused_by<canonicalize_quantization>("are computed"));
}

TEST_CASE("a range that the type does not hold is refused") {
    const auto build = [](program& p) {
        const value scale = float_constant(p, {1}, {0.125});
        const auto number = [&](std::int64_t n) { return integer_constant(p, dtype::int64, {1}, {n}); };
        p.output(p.make<quantized_decomposed::quantize_per_tensor_tensor2>(
            {p.input(dtype::float32, {64}), scale, number(0), number(-128), number(127), dtype::uint16}));
    };
    CHECK_THAT(build, is_refused_by<canonicalize_quantization>("its quant_min is -128"));
}

TEST_CASE("a scale that no kernel can hold is refused") {
    for (const float scale : {0.0F, -1e30F, std::numeric_limits<float>::infinity()}) {
        CAPTURE(scale);
        const auto build = [=](program& p) {
            p.output(p.make<by_tensor>({p.input(dtype::float32, {64}), float_constant(p, {1}, {scale}),
                integer_constant(p, dtype::int64, {1}, {0}), -128, 127, dtype::int8}));
        };
        CHECK_THAT(build, is_refused_by<canonicalize_quantization>("must be above 0 and finite"));
    }
}
