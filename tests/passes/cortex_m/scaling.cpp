// SPDX-License-Identifier: MIT
// Tests real factors as CMSIS-NN takes them, and which RESCALEs are read as such.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include <headrace/passes/cortex_m/scaling.hpp>

#include "../../support/kernel_runs.hpp"

using namespace headrace;
using kernel_test::dice;

namespace {

double real_of(const cortex_m::requantization& r) {
    return std::ldexp(static_cast<double>(r.multiplier), static_cast<int>(r.shift) - 31);
}

}  // namespace

TEST_CASE("factors have 31 bits, rounded to nearest") {
    dice d(1);
    for (int i = 0; i != 10'000; ++i) {
        const double mantissa = static_cast<double>(d.from(1 << 30, (std::int64_t{1} << 31) - 1));
        const double factor =
            std::ldexp(mantissa + 0.25, static_cast<int>(d.from(-55, -2))) * (d.once_in(2) ? 1 : -1);
        const auto r = cortex_m::requantization_of(factor);
        REQUIRE(r);
        CHECK(std::abs(r->multiplier) >= 1 << 30);
        CHECK(std::abs(r->multiplier) < std::int64_t{1} << 31);
        CHECK(r->shift >= -31);
        CHECK(r->shift <= 30);
        CHECK(std::abs(real_of(*r) - factor) <= std::abs(factor) * std::ldexp(1, -31));
    }
}

TEST_CASE("factors at the ends of what kernels have") {
    const auto is = [](double factor, std::int64_t multiplier, std::int64_t shift) {
        const auto r = cortex_m::requantization_of(factor);
        return r && r->multiplier == multiplier && r->shift == shift;
    };
    CHECK(is(0, 0, 0));
    CHECK(is(1, 1 << 30, 1));
    CHECK(is(-1, -(1 << 30), 1));
    CHECK(is(0.5, 1 << 30, 0));
    CHECK(is(1 - std::ldexp(1, -40), 1 << 30, 1));  // the mantissa is rounded to 1
    CHECK(is(std::ldexp(1, 29), 1 << 30, 30));
    CHECK(is(std::ldexp(1, -32), 1 << 30, -31));
    CHECK(is(std::ldexp(1, -33), 0, 0));  // the product of any int32 is 0
    CHECK_FALSE(cortex_m::requantization_of(std::ldexp(1, 30)));
    CHECK(cortex_m::requantization_of(4, std::ldexp(1, 28) - 1));
    CHECK_FALSE(cortex_m::requantization_of(4, std::ldexp(1, 28)));  // 2^28 * 2^3 wraps around
    CHECK_FALSE(cortex_m::requantization_of(std::numeric_limits<double>::infinity()));
    CHECK_FALSE(cortex_m::requantization_of(std::numeric_limits<double>::quiet_NaN()));
}

TEST_CASE("a result has one factor, or one for each channel") {
    const cortex_m::scaled_result one{{0.5}}, equal{{0.5, 0.5}}, two{{0.5, 0.25}};
    CHECK(one.has_one_factor());
    CHECK(equal.has_one_factor());
    CHECK_FALSE(two.has_one_factor());
    CHECK(one.factor(7) == 0.5);
    CHECK(two.factor(1) == 0.25);
}
