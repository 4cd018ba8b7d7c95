// SPDX-License-Identifier: MIT
// Tests headrace::double_double against long double, where that has 64 digits.

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include <catch2/catch.hpp>

#include <headrace/base/double_double.hpp>

using namespace headrace;

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

static_assert(double_double(INT64_MAX) + 1 == 0x1p63);
static_assert(double_double(UINT64_MAX) - INT64_MAX == 0x1p63);
static_assert(static_cast<std::int64_t>(double_double(INT64_MAX) - 1) == INT64_MAX - 1);
static_assert(static_cast<std::int64_t>(double_double(INT64_MIN)) == INT64_MIN);
static_assert(static_cast<std::uint64_t>(double_double(UINT64_MAX)) == UINT64_MAX);
static_assert(static_cast<int>(double_double(-7) / 2) == -3);
static_assert(double_double(3037000499) * 3037000499 == std::int64_t{3037000499} * 3037000499);
static_assert(double_double(INT64_MAX) < 0x1p63 && double_double(INT64_MAX) > INT64_MAX - 1);
static_assert(double_double(1) + unlimited == unlimited && -double_double(unlimited) < INT64_MIN);

// Integers of all lengths, of which every second one is negative.
std::int64_t integer(std::mt19937_64& random) {
    const auto x = static_cast<std::int64_t>(random() >> (1 + random() % 63));
    return random() % 2 == 0 ? x : -x;
}

}  // namespace

TEST_CASE("double_double: sums, differences, products and halves of integers are exact") {
    std::mt19937_64 random(1);
    for (int i = 0; i != 100'000; ++i) {
        const std::int64_t a = integer(random) / 2;
        const std::int64_t b = integer(random) / 2;
        REQUIRE(static_cast<std::int64_t>(double_double(a)) == a);
        REQUIRE(double_double(a) + b == a + b);
        REQUIRE(double_double(a) - b == a - b);
        REQUIRE((double_double(a) < b) == (a < b));
        const auto c = static_cast<std::int32_t>(a);
        const auto d = static_cast<std::int32_t>(b);
        REQUIRE(double_double(c) * d == std::int64_t{c} * d);
        REQUIRE(static_cast<std::int64_t>(double_double(a) / 2) == a / 2);
        if (b != 0) REQUIRE(wide::trunc(double_double(a / b * b) / b) == a / b);
    }
}

TEST_CASE("double_double: what is no number is as a double is") {
    CHECK(wide::isinf(double_double(unlimited) * 2));
    CHECK(double_double(1) / unlimited == 0);
    CHECK(double_double(0x1p1023) * 4 == unlimited);
    CHECK(wide::floor(double_double(-unlimited)) == -unlimited);
    CHECK(wide::nearbyint(double_double(unlimited)) == unlimited);
    const double_double undefined = double_double(unlimited) - unlimited;
    CHECK(!(undefined == undefined));
    CHECK(!(undefined < 0 || undefined >= 0));
}

#if LDBL_MANT_DIG >= 64

TEST_CASE("double_double: functions give what those of long double give") {
    std::mt19937_64 random(2);
    for (int i = 0; i != 100'000; ++i) {
        const long double x =
            std::ldexp(static_cast<long double>(integer(random)), -static_cast<int>(random() % 64));
        const double_double y(x);
        REQUIRE(static_cast<long double>(y) == x);
        REQUIRE(wide::floor(y) == std::floor(x));
        REQUIRE(wide::ceil(y) == std::ceil(x));
        REQUIRE(wide::trunc(y) == std::trunc(x));
        REQUIRE(wide::nearbyint(y) == std::nearbyint(x));
        REQUIRE(wide::abs(y) == std::abs(x));
        REQUIRE(wide::ldexp(y, 7) == std::ldexp(x, 7));
        REQUIRE(wide::fmod(y, 2) == std::fmod(x, 2.0L));
        REQUIRE(static_cast<float>(y) == static_cast<float>(static_cast<double>(x)));
    }
    CHECK(wide::pow(double_double(3), 39) == std::pow(3.0L, 39.0L));
    CHECK(wide::pow(double_double(-3), 39) == -std::pow(3.0L, 39.0L));
    CHECK(wide::exp2(double_double(63)) == 0x1p63);
}

#endif
