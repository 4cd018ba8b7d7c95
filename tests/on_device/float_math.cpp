// SPDX-License-Identifier: MIT
// Checks that the functions of floats err by no more than their comments say, and treat NaN, infinities, -0
// and subnormal numbers as C does.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>

#include <catch2/catch.hpp>

#include <headrace/on_device/float_math.hpp>

namespace hr = headrace::on_device;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

/// The distance from the exact result in units of its last place; those of subnormal results are 2^-149.
double ulps(float got, double exact) {
    if (std::isnan(exact)) return std::isnan(got) ? 0 : 1e9;
    const auto rounded = static_cast<float>(exact);
    if (std::isinf(rounded) || std::isinf(got)) {
        const float largest = std::numeric_limits<float>::max();
        return got == rounded || (std::abs(exact) > 0.9999999 * largest && std::abs(got) >= largest) ? 0
                                                                                                     : 1e9;
    }
    if (exact == 0) return got == 0 && std::signbit(got) == std::signbit(exact) ? 0 : 1e9;
    const int exponent = std::max(std::ilogb(exact), -126);
    return std::abs(static_cast<double>(got) - exact) / std::ldexp(1.0, exponent - 23);
}

/// Numbers of all magnitudes and signs, in steps that are odd so that all low bits occur, and around the
/// ends.
template <class F>
void for_each_float(F f) {
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 1023) {
        f(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    std::mt19937 random(1);
    for (int i = 0; i != 1000000; ++i) {
        f(std::uniform_real_distribution<float>(-110, 110)(random));
        f(std::uniform_real_distribution<float>(-2, 2)(random));
        f(std::uniform_real_distribution<float>(-1000, 1000)(random));
    }
    for (const float x :
        {0.F, -0.F, 1.F, -1.F, inf, -inf, nan_value, 1e-45F, -1e-45F, 1.17549435e-38F, 88.7228F, 88.723F,
            -87.33F, -103.97F, -104.F, 4.F, 9.F, 9.1F, 0.625F, 0.93F, 3.4e38F, -3.4e38F}) {
        f(x);
    }
}
template <class F, class G>
double worst(const char* name, F f, G exact) {
    double most = 0;
    float at = 0;
    for_each_float([&](float x) {
        const double off = ulps(f(x), exact(static_cast<double>(x)));
        if (off > most) {
            most = off;
            at = x;
        }
    });
    std::printf("%s: %.3f ulp at %.9g\n", name, most, static_cast<double>(at));
    return most;
}

}  // namespace

TEST_CASE("Functions of floats err by little") {
    CHECK(worst("exp", hr::exp, [](double x) { return std::exp(x); }) < 1);
    CHECK(worst("log", hr::log, [](double x) { return std::log(x); }) < 1);
    CHECK(worst("sin", hr::sin, [](double x) { return std::sin(x); }) < 1.5);
    CHECK(worst("cos", hr::cos, [](double x) { return std::cos(x); }) < 1.5);
    CHECK(worst("tanh", hr::tanh, [](double x) { return std::tanh(x); }) < 2);
    CHECK(
        worst("sigmoid", hr::sigmoid, [](double x) { return x < -700 ? 0 : 1 / (1 + std::exp(-x)); }) < 2.5);
    CHECK(worst("erf", hr::erf, [](double x) { return std::erf(x); }) < 1.5);
    CHECK(worst("rsqrt", hr::rsqrt, [](double x) { return 1 / std::sqrt(x); }) < 1.5);
    CHECK(worst("reciprocal", hr::reciprocal, [](double x) { return 1 / x; }) <= 0.5);
}

TEST_CASE("Rounding is exact") {
    for_each_float([](float x) {
        if (std::isnan(x)) return;
        const auto same = [](float a, float b) {
            return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
        };
        if (!same(hr::floor(x), std::floor(x)) || !same(hr::ceil(x), std::ceil(x)) ||
            !same(hr::round_to_even(x), std::nearbyint(x))) {
            FAIL(x);
        }
    });
    for (const float x :
        {0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F, 8388607.5F, 8388606.5F, -8388607.5F, 0.49999997F}) {
        CHECK(hr::round_to_even(x) == std::nearbyint(x));
    }
    CHECK(std::isnan(hr::floor(nan_value)));
    CHECK(std::isnan(hr::ceil(nan_value)));
}

TEST_CASE("Powers err by little") {
    std::mt19937 random(2);
    double most = 0;
    const auto check = [&](float a, float b) {
        const double exact = std::pow(static_cast<double>(a), static_cast<double>(b));
        const double off = ulps(hr::pow(a, b), exact);
        if (off >= 1) FAIL(a << " ^ " << b << " = " << hr::pow(a, b) << ", not " << exact);
        most = std::max(most, off);
    };
    for (int i = 0; i != 2000000; ++i) {
        const float a = std::exp(std::uniform_real_distribution<float>(-20, 20)(random));
        check(a, std::uniform_real_distribution<float>(-6, 6)(random));
        check(1 + std::uniform_real_distribution<float>(-0.01F, 0.01F)(random),
            std::uniform_real_distribution<float>(-9000, 9000)(random));
        check(-a, static_cast<float>(static_cast<int>(random() % 11) - 5));
        check(std::bit_cast<float>(static_cast<std::uint32_t>(random())),
            std::bit_cast<float>(static_cast<std::uint32_t>(random())));
    }
    const float special[]{0.F, -0.F, 1.F, -1.F, 2.F, -2.F, 3.F, -3.F, 0.5F, -0.5F, inf, -inf, 1e30F, 1e-45F,
        16777215.F, -16777215.F, 16777216.F, nan_value};
    for (const float a : special) {
        for (const float b : special) check(a, b);
    }
    std::printf("pow: %.3f ulp\n", most);
}

static_assert(
    hr::exp(0) == 1 && hr::log(1) == 0 && hr::sin(0) == 0 && hr::cos(0) == 1 && hr::pow(2, 10) == 1024);
static_assert(hr::exp(200) == inf && hr::exp(-200) == 0 && hr::log(0) == -inf && hr::sigmoid(0) == 0.5F);
static_assert(hr::floor(-0.5F) == -1 && hr::ceil(0.5F) == 1 && hr::round_to_even(2.5F) == 2);
