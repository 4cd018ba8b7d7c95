// SPDX-License-Identifier: MIT
// Tests factors as RESCALE encodes them, and the saturation before one.
#include <algorithm>
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

#include <headrace/passes/quantize/rescaling.hpp>
#include <headrace/target/node_facts.hpp>
#include <headrace/target/tosa_rules.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

/// Runs `build::recode` on an input, and keeps its result or the reason for a refusal.
struct rescaled {
    program p;
    pass_context context;
    value made;

    rescaled(dtype from, const int_list& shape, const std::vector<double>& factors, const build::rescaling& r,
        double reach = 0) {
        const value x = p.input(from, shape);
        node& end = p.g.create<builtin::output>({.values = {x}});
        emission place(p.g, &end, &end, context);
        emit<build::recoding_ops> e(place);
        made = build::recode(e, x, factors, reach, r);
        if (made) p.g.set_operand(end.operands[0], made);
    }
    std::vector<std::int64_t> operator()(
        dtype from, const int_list& shape, const std::vector<std::int64_t>& codes) {
        const auto results =
            run_graph(p.g, std::vector{tensor::of(from, extents(shape.begin(), shape.end()), codes)});
        REQUIRE(results);
        return results.value()[0].to<std::int64_t>();
    }
};

double number(const fixed_point_factor& f) {
    return std::ldexp(static_cast<double>(f.multiplier), -static_cast<int>(f.shift));
}

}  // namespace

TEST_CASE("a factor has all bits of the multiplier, and a shift of 2 to 62") {
    for (const bool scale32 : {true, false}) {
        const int width = scale32 ? 31 : 15;
        for (int exponent = -62; exponent != 32; ++exponent) {
            for (const double mantissa : {1.0, 1.0 + 1e-9, 1.1, 1.333333333, 1.5, 1.999, 2 - 1e-15}) {
                const double factor = std::ldexp(mantissa, exponent);
                CAPTURE(scale32, exponent, mantissa);
                const auto f = multiplier_and_shift(factor, scale32);
                // Rounded up to a power of two, a factor below the limit reaches it.
                const bool is_beyond = std::ldexp(std::nearbyint(std::ldexp(mantissa, width - 1)),
                                           exponent) >= std::ldexp(1.0, 2 * width - 3);
                if (is_beyond) {
                    CHECK(!f);
                    continue;
                }
                REQUIRE(f);
                CHECK((f->shift >= 2 && f->shift <= 62));
                CHECK((f->multiplier >= 0 && f->multiplier < std::int64_t{1} << width));
                if (f->shift < 62) {
                    CHECK(f->multiplier >= std::int64_t{1} << (width - 1));
                    CHECK(std::abs(number(*f) / factor - 1) <= std::ldexp(1.0, -width));
                } else {
                    CHECK(std::abs(number(*f) - factor) <= std::ldexp(1.0, -61));
                }
            }
        }
    }
}

TEST_CASE("factors that round up to a power of two, and the largest and smallest") {
    CHECK(multiplier_and_shift(1, true) == fixed_point_factor{1 << 30, 30});
    CHECK(multiplier_and_shift(1, false) == fixed_point_factor{1 << 14, 14});
    CHECK(multiplier_and_shift(1 - 1e-12, true) == fixed_point_factor{1 << 30, 30});
    CHECK(multiplier_and_shift(1 - 1e-6, false) == fixed_point_factor{1 << 14, 14});
    CHECK(multiplier_and_shift(1.5, true) == fixed_point_factor{3 << 29, 30});
    CHECK(multiplier_and_shift(std::ldexp(1, 28), true) == fixed_point_factor{1 << 30, 2});
    CHECK(multiplier_and_shift(std::ldexp(1, 29) - 1, true) == fixed_point_factor{2147483644, 2});
    CHECK(!multiplier_and_shift(std::ldexp(1, 29), true));
    CHECK(!multiplier_and_shift(std::ldexp(1, 29) * (1 - 1e-12), true));
    CHECK(multiplier_and_shift(std::ldexp(1, 12), false) == fixed_point_factor{1 << 14, 2});
    CHECK(!multiplier_and_shift(std::ldexp(1, 13), false));
    // Smaller ones lose bits of the multiplier, and finally become zero.
    CHECK(multiplier_and_shift(std::ldexp(1, -32), true) == fixed_point_factor{1 << 30, 62});
    CHECK(multiplier_and_shift(std::ldexp(1, -40), true) == fixed_point_factor{1 << 22, 62});
    CHECK(multiplier_and_shift(std::ldexp(1, -62), true) == fixed_point_factor{1, 62});
    CHECK(multiplier_and_shift(1e-30, true) == fixed_point_factor{0, 62});
    CHECK(multiplier_and_shift(std::numeric_limits<double>::denorm_min(), true) == fixed_point_factor{0, 62});
    CHECK(!multiplier_and_shift(0, true));
    CHECK(!multiplier_and_shift(-1, true));
    CHECK(!multiplier_and_shift(std::nan(""), true));
    CHECK(!multiplier_and_shift(std::numeric_limits<double>::infinity(), true));
}

TEST_CASE("one factor, and one for each channel of the last axis") {
    rescaled one(dtype::int8, {4}, {0.75}, {.input_zero = 1, .output_zero = -3});
    CHECK(one(dtype::int8, {4}, {1, 2, -3, 127}) == std::vector<std::int64_t>{-3, -2, -6, 92});
    CHECK(meta_of(one.made)->dtype == dtype::int32);
    rescaled narrowed(dtype::int32, {4}, {0.5}, {.to = dtype::int8}, 1000);
    CHECK(narrowed(dtype::int32, {4}, {3, -3, 1000, -1000}) == std::vector<std::int64_t>{2, -1, 127, -128});
    rescaled channels(dtype::int16, {2, 3}, {1, 0.5, 4}, {});
    CHECK(channels(dtype::int16, {2, 3}, {1, 2, 3, 100, 101, 102}) ==
        std::vector<std::int64_t>{1, 1, 12, 100, 51, 408});
    rescaled beyond(dtype::int8, {4}, {1, 1, 1, 1e9}, {});
    CHECK(!beyond.made);
    REQUIRE(beyond.context.diagnostics().size() == 1);
    CHECK(beyond.context.diagnostics()[0].reason.find("beyond what RESCALE") != std::pmr::string::npos);
}

TEST_CASE("elements of 2^(shift - 1) and more are cut off before") {
    // A factor of 16 has a shift of 26.
    const auto most = (std::int64_t{1} << 25) - 1;
    for (const double reach : {33554431.0, 33554432.0, 2147483647.0}) {
        CAPTURE(reach);
        rescaled r(dtype::int32, {5}, {16}, {}, reach);
        const bool is_cut = reach >= 33554432;
        CHECK(count_of<tosa::minimum>(r.p.g) == (is_cut ? 1 : 0));
        CHECK(count_of<tosa::maximum>(r.p.g) == (is_cut ? 1 : 0));
        CHECK(r(dtype::int32, {5}, {0, 1, -5, most, -most}) ==
            std::vector<std::int64_t>{0, 16, -80, 16 * most, -16 * most});
        if (is_cut) {
            CHECK(r(dtype::int32, {5}, {0, most + 1, -most - 1, 1 << 30, -(1 << 30)}) ==
                std::vector<std::int64_t>{0, 16 * most, -16 * most, 16 * most, -16 * most});
        }
    }
    // The channel with the largest factor has the least room.
    CHECK(count_of<tosa::minimum>(rescaled(dtype::int32, {2}, {0.001, 16}, {}, 4e7).p.g) == 1);
    CHECK(count_of<tosa::minimum>(rescaled(dtype::int32, {2}, {0.001, 0.002}, {}, 4e7).p.g) == 0);
    CHECK(count_of<tosa::minimum>(rescaled(dtype::int16, {2}, {1e6}, {}, 65535).p.g) == 0);
}

TEST_CASE("only 8 bits have zero points of their own: others are subtracted and added in 32") {
    const auto numbers = std::vector<std::int64_t>{-32768, -5, 0, 999, 32767, 100};
    for (const std::int64_t zero : {-32768, -1, 0, 1234, 32767}) {
        for (const std::int64_t to_zero : {-32768, 0, 77}) {
            for (const double factor : {0.013, 0.5, 1.0, 3.7}) {
                CAPTURE(zero, to_zero, factor);
                rescaled r(dtype::int16, {6}, {factor},
                    {.input_zero = zero, .output_zero = to_zero, .to = dtype::int16}, 65535);
                REQUIRE(r.made);
                const auto got = r(dtype::int16, {6}, numbers);
                for (std::size_t i = 0; i != numbers.size(); ++i) {
                    const double exact = static_cast<double>(numbers[i] - zero) * factor;
                    const double wanted =
                        std::clamp(std::floor(exact + 0.5) + static_cast<double>(to_zero), -32768.0, 32767.0);
                    CHECK(std::abs(static_cast<double>(got[i]) - wanted) <= (factor == 3.7 ? 1 : 0));
                }
                for (const node& n : r.p.g.nodes()) {
                    if (is_of_dialect<tosa::dialect>(n)) CHECK_FALSE(zero_fault_of(facts_of(n)));
                }
            }
        }
    }
    // Saturated if the numbers could exceed 32 bits.
    rescaled wide(dtype::int32, {3}, {1.0}, {.input_zero = 3, .output_zero = 100, .to = dtype::int16}, 5e8);
    const auto cut = wide(dtype::int32, {3}, {400000000, -400000000, 4});
    CHECK(cut == std::vector<std::int64_t>{32767, -32768, 101});
}
