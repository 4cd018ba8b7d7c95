// SPDX-License-Identifier: MIT
// Tests logarithms of dequantized numbers, and products that keep 32 bits for them.
#include <catch2/catch.hpp>

#include <cmath>
#include <numbers>

#include <headrace/passes/quantize/lower_quantized.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

using logarithms = lower_quantized_logarithms;
using logarithm_arithmetic = lower_quantized_arithmetic;
using precise_products = lower_quantized_products;
static_assert(effects_of<logarithms>::sound && effects_of<logarithms>::removed_set.empty());

constexpr coding of_32_bits{1e-6, 0, dtype::int32, -(1 << 30) + 1, (1 << 30) - 1};

/// The logarithm of numbers of at least one step, which -infinity and NaN are not.
auto logarithm_of(coding x, coding to) {
    return [=](program& p) {
        const value least = p.make<aten::clamp>({real_input(p, x, {12, 30}), scalar(x.scale), std::nullopt});
        output_in(p, p.make<aten::log>({least}), to);
    };
}

}  // namespace

TEST_CASE("logarithms are as exact at small numbers as at large ones") {
    constexpr coding to = int16_codes(1e-3);
    for (const coding& x : {int8_codes(0.05, 3), int16_codes(3e-4), off_center_int16, int32_codes(2e-7),
             of_32_bits, all_int32_codes(3e-9)}) {
        CAPTURE(x.scale);
        CHECK(
            (integers_from<logarithms, may_rewrite<fold_quantization>>(logarithm_of(x, to), {1, 0.6})) == "");
    }
}

TEST_CASE("each power of two has its logarithm, and numbers that are not above 0 have that of one step") {
    const auto build = [](program& p) {
        output_in(p, p.make<aten::log>({real_input(p, int32_codes(1), {27})}),
            int16_codes(0x1p-10 * std::numbers::ln2));
    };
    std::vector<std::int64_t> powers{0, -5};
    for (int i = 0; i != 25; ++i) powers.push_back(std::int64_t{1} << i);
    program p;
    const std::vector inputs{tensor::of(dtype::int32, {27}, powers)};
    const auto got = eval::run_graph(lowered<lower_quantized>(p, build), inputs);
    REQUIRE(got.has_value());
    CHECK(got.value()[0].integer(0) == 0);
    CHECK(got.value()[0].integer(1) == 0);
    for (int i = 0; i != 25; ++i) CHECK(std::abs(got.value()[0].integer(2 + i) - i * 1024) <= 1);
}

TEST_CASE("a logarithm is multiplied by numbers and moved before it is rounded") {
    const auto decibels = [](program& p) {
        const value x = p.make<aten::clamp>({real_input(p, of_32_bits, {8, 9}), scalar(1e-4), std::nullopt});
        const value ten = float_constant(p, {}, {10});
        const value offsets = float_constant(p, {9}, {1, 2, 3, 4, 5, 6, 7, 8, -9});
        const value scaled = p.make<aten::mul_tensor>({p.make<aten::log>({x}), ten});
        output_in(p, p.make<aten::add_tensor>({scaled, offsets}), int16_codes(2e-3));
    };
    CHECK((integers_from<lower_quantized>(decibels, {1, 0.2})) == "");
}

TEST_CASE("logarithms read pads, zero points of 32 bits and a scale for each channel") {
    const auto compared = [](auto number) {
        const auto build = [=](program& p) {
            output_in(p, p.make<aten::log>({number(p)}), int16_codes(2e-3));
        };
        return integers_from<logarithms, may_rewrite<fold_quantization>>(build, {1, 0.6});
    };
    CHECK(compared([](program& p) {
        const coding c = int8_codes(0.05, 3);
        const value padded =
            p.make<aten::constant_pad_nd>({real_input(p, c, {5, 7}), {1, 1}, scalar(2 * c.scale)});
        return p.make<aten::clamp>({padded, scalar(c.scale), std::nullopt});
    }) == "");
    CHECK(compared([](program& p) {
        const coding c{1e-6, 5, dtype::int32, -(1 << 30) + 1, (1 << 30) - 1};
        return p.make<aten::clamp>({real_input(p, c, {5, 7}), scalar(c.scale), std::nullopt});
    }) == "");
    CHECK(compared([](program& p) {
        const value above_0 = p.make<aten::clamp>({p.input(dtype::int8, {6, 5}), scalar(1), std::nullopt});
        return real_per_channel(p, above_0, scales_around(0.05, 6), 0);
    }) == "");
}

TEST_CASE("a logarithm stays float where the target has floats") {
    const auto build = [](program& p) {
        p.g.set_target(mixed_target);
        logarithm_of(of_32_bits, int16_codes(1e-3))(p);
    };
    CHECK((count_after<aten::log, lower_quantized>(build)) == 1);
}

TEST_CASE("products with a constant matrix keep 32 bits") {
    const auto product = [](coding x, coding w, coding to) {
        return [=](program& p) {
            const value matrix = real_constant(p, w, {1, 30, 7});
            output_in(p, p.make<aten::bmm>({real_input(p, x, {1, 12, 30}), matrix}), to);
        };
    };
    constexpr coding w{3e-5, 0, dtype::int16, -32767, 32767};
    constexpr coding bytes = weight_codes(0.007);
    const auto compared = [&](coding x, coding of_matrix, coding to, const allowance& allowed) {
        return integers_from<precise_products, may_rewrite<fold_quantization>>(
            product(x, of_matrix, to), allowed);
    };
    // The matrix has 16 bits: one part of 2^15 of the largest product.
    CHECK(compared(int32_codes(1e-6), w, int16_codes(2e-3), {1, 0.2}) == "");
    CHECK(compared(int32_codes(1e-6), bytes, int16_codes(2e-3), nearly) == "");
    CHECK(compared(of_32_bits, w, int16_codes(2e-3), {1, 0.2}) == "");
    CHECK(compared(int16_codes(1e-4), w, {1e-6, 0, dtype::int32, -(1 << 30), 1 << 30}, {1500, 1}) == "");
    // A result out of range saturates, from 2^29 on.
    CHECK(compared(int32_codes(1e-6), w, {1e-9, 0, dtype::int32, -(1 << 30) + 1, (1 << 30) - 1},
              {1 << 29, 1}) == "");
    CHECK((count_after<tosa::matmul, precise_products>(product(of_32_bits, w, of_32_bits))) == 0);
    CHECK(
        (count_after<tosa::matmul, precise_products>(product(int16_codes(1e-4), w, int16_codes(1e-3)))) == 1);
}

TEST_CASE("products of two factors of 32 bits keep what is below their upper 16 bits") {
    const auto squares = [](program& p) {
        const value x = real_input(p, int32_codes(1e-6), {12, 30});
        output_in(
            p, p.make<aten::mul_tensor>({x, x}), {4e-7, 0, dtype::int32, -(1 << 30) + 1, (1 << 30) - 1});
    };
    const auto products = [](program& p) {
        const value x = real_input(p, int32_codes(1e-6), {12, 30});
        const value y = real_input(p, int32_codes(3e-6), {30});
        output_in(
            p, p.make<aten::mul_tensor>({x, y}), {1e-6, 0, dtype::int32, -(1 << 30) + 1, (1 << 30) - 1});
    };
    CHECK((integers_from<logarithm_arithmetic, may_rewrite<fold_quantization>>(squares, {256, 1})) == "");
    CHECK((integers_from<logarithm_arithmetic, may_rewrite<fold_quantization>>(products, {256, 1})) == "");
}
