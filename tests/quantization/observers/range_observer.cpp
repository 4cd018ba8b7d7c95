// SPDX-License-Identifier: MIT
// Tests all observers with numbers of all magnitudes.
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <headrace/quantization/observers/range_observer.hpp>

using namespace headrace;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float largest = std::numeric_limits<float>::max();
constexpr float smallest = std::numeric_limits<float>::denorm_min();

/// Returns every power of four of a float32, and the neighbours of numbers at which formulas change.
std::vector<float> magnitudes() {
    std::vector<float> all{0, smallest, 1e-38F, 0x1p24F, std::nextafter(0x1p24F, infinity), 3e7F, 1e9F, 1e34F,
        std::nextafter(1e34F, infinity), largest};
    for (int e = -148; e < 128; e += 2) all.push_back(std::ldexp(1.0F, e));
    return all;
}

tensor_scheme scheme_of(observer_kind kind, dtype type) {
    tensor_scheme scheme{.observer = kind};
    if (type == dtype::int16)
        scheme = {.type = type, .lowest = -32767, .highest = 32767, .symmetric = true, .observer = kind};
    return scheme;
}

/// Returns a number after it is quantized and dequantized.
float kept(float x, const qparams& p, const tensor_scheme& scheme) {
    const std::int64_t q = quantized(x, static_cast<float>(1 / p.scale), p.zero_point, scheme);
    return static_cast<float>(q - p.zero_point) * static_cast<float>(p.scale);
}

void check_sound(const qparams& p, const tensor_scheme& scheme) {
    const auto scale = static_cast<float>(p.scale);
    CHECK(scale > 0);
    CHECK(std::isfinite(scale));
    CHECK(std::isfinite(1 / scale));
    CHECK(p.zero_point >= scheme.lowest);
    CHECK(p.zero_point <= scheme.highest);
    for (const std::int64_t q : {scheme.lowest, scheme.highest})
        CHECK(std::isfinite(static_cast<float>(q - p.zero_point) * scale));
}

}  // namespace

TEST_CASE("numbers of any magnitude have a range, whatever the observer") {
    const auto kind = GENERATE(observer_kind::histogram, observer_kind::min_max,
        observer_kind::moving_average, observer_kind::percentile, observer_kind::mean_square);
    const auto type = GENERATE(dtype::int8, dtype::int16);
    const tensor_scheme scheme = scheme_of(kind, type);
    for (const float x : magnitudes()) {
        for (const float sign : {1.0F, -1.0F}) {
            const float number = sign * x;
            range_observer same(scheme);  // one number, alone and again
            same.feed(std::vector<float>{number});
            same.feed(std::vector<float>(40, number));
            const qparams p = choose_qparams(same.range(), scheme);
            check_sound(p, scheme);
            const auto error = static_cast<double>(std::abs(kept(number, p, scheme) - number));
            INFO(number);
            CHECK(error <= std::max(static_cast<double>(x) * 0.01, scheme.smallest_scale));

            range_observer spread(scheme);  // a ramp up to it, then a wider one
            std::vector<float> ramp;
            for (int i = 0; i != 600; ++i) ramp.push_back(number * (static_cast<float>(i) / 600));
            spread.feed(ramp);
            for (float& r : ramp) r *= -0.5F;
            spread.feed(ramp);
            check_sound(choose_qparams(spread.range(), scheme), scheme);
        }
    }
}

TEST_CASE("large numbers keep the precision of small ones, whatever the observer") {
    const auto kind = GENERATE(observer_kind::histogram, observer_kind::min_max, observer_kind::percentile,
        observer_kind::mean_square);
    const tensor_scheme scheme = scheme_of(kind, dtype::int8);
    for (const int e : {-4, 0, 20, 40, 60, 100, 110}) {
        range_observer observer(scheme);
        std::vector<float> numbers;
        for (int i = -500; i != 500; ++i) numbers.push_back(std::ldexp(static_cast<float>(i) / 500, e));
        observer.feed(numbers);
        const qparams p = choose_qparams(observer.range(), scheme);
        CHECK(p.scale == Approx(std::ldexp(2.0 / 255, e)).epsilon(0.05));
    }
}

TEST_CASE("infinities and NaN leave the range of the other numbers, and are remembered") {
    const auto kind = GENERATE(observer_kind::histogram, observer_kind::min_max,
        observer_kind::moving_average, observer_kind::percentile, observer_kind::mean_square);
    const tensor_scheme scheme = scheme_of(kind, dtype::int8);
    range_observer observer(scheme);
    observer.feed(std::vector<float>{-infinity, NAN, -1, 1, infinity});
    check_sound(choose_qparams(observer.range(), scheme), scheme);
    CHECK(observer.range().highest <= 1.1F);
    CHECK(observer.lowest().number == -infinity);
    CHECK(observer.highest().number == infinity);
    CHECK(observer.undefined() == 1);
    for (const float x : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
        range_observer only(scheme);
        only.feed(std::vector<float>(5, x));
        check_sound(choose_qparams(only.range(), scheme), scheme);
    }
}

TEST_CASE("any range has parameters, even one that no observer gives") {
    const float numbers[] = {-infinity, -largest, -1, -smallest, 0, smallest, 1, largest, infinity, NAN};
    for (const float low : numbers) {
        for (const float high : numbers) {
            for (const dtype type : {dtype::int8, dtype::int16}) {
                tensor_scheme scheme = scheme_of(observer_kind::min_max, type);
                check_sound(choose_qparams({low, high}, scheme), scheme);
                scheme.smallest_scale = 0;
                check_sound(choose_qparams({low, high}, scheme), scheme);
            }
        }
    }
}
