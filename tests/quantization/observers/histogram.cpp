// SPDX-License-Identifier: MIT
// Tests histogram. The expected values were computed by torchao 0.18's HistogramObserver.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <headrace/quantization/observers/find_bins.hpp>
#include <headrace/quantization/observers/histogram.hpp>
#include <headrace/quantization/observers/losses_of_bins.hpp>
#include <headrace/quantization/observers/widen_bins.hpp>

using namespace headrace;

namespace {

/// Returns number i of sample s, before further changes: between -3.94 and 3.94.
float number(int s, int i) { return static_cast<float>((i * i * 7 + i * 3 + s * 131) % 1009 - 504) / 128; }

histogram of_samples(const std::function<float(int s, int i)>& f) {
    constexpr int samples = 6;
    constexpr int numbers = 300;
    histogram h;
    for (int s = 0; s != samples; ++s) {
        std::vector<float> sample;
        for (int i = 0; i != numbers; ++i) sample.push_back(f(s, i));
        h.feed(sample);
    }
    return h;
}

}  // namespace

TEST_CASE("numbers that are spread evenly keep nearly all of their range") {
    const histogram h = of_samples(number);
    CHECK(h.range() == value_range{-3.9375F, 3.9296875F});
    CHECK(h.least_loss(256) == value_range{-0x1.f8p+1F, 0x1.f6822p+1F});
}

TEST_CASE("a range that grows with each sample is counted anew, bit for bit") {
    const histogram h = of_samples([](int s, int i) { return number(s, i) * static_cast<float>(1 + s); });
    CHECK(h.least_loss(256) == value_range{-0x1.7ap+4F, 0x1.78e198p+4F});
}

TEST_CASE("a long tail is cut where that loses least") {
    const auto seventh = [](int s, int i) {
        const double u = static_cast<double>(number(s, i));
        return static_cast<float>(u * u * u * u * u * u * u / 1024);
    };
    CHECK(of_samples(seventh).least_loss(256) == value_range{-0x1.ca8ec6p+3F, 0x1.b7c642p+3F});
}

TEST_CASE("a single outlier") {
    const auto outlier = [](int s, int i) { return s == 3 && i == 5 ? 40.0F : number(s, i); };
    const histogram h = of_samples(outlier);
    CHECK(h.least_loss(256) == value_range{-0x1.f8p+1F, 0x1.3fd41p+5F});
    CHECK(h.percentile(99.9).highest < 4.1F);
    CHECK(h.percentile(100).highest == 40);
}

TEST_CASE("a constant, and then other numbers") {
    histogram h;
    h.feed(std::vector<float>(7, 2.5F));
    CHECK(h.range() == value_range{2.5F, 2.5F});
    std::vector<float> ramp;
    for (int i = 0; i != 40; ++i) ramp.push_back(static_cast<float>(i) / 8);
    h.feed(ramp);
    CHECK(h.least_loss(256) == value_range{0, 0x1.37d9p+2F});
}

TEST_CASE("numbers that mean infinity and empty tensors are left out") {
    histogram h;
    h.feed({});
    CHECK(h.empty());
    h.feed(std::vector<float>{1, INFINITY, -INFINITY, NAN, 2});
    CHECK(h.range() == value_range{1, 2});
    constexpr float lowest = std::numeric_limits<float>::lowest();  // the number that masks use for -infinity
    h.feed(std::vector<float>{lowest, 4, -lowest, 3});
    CHECK(h.range() == value_range{1, 4});
}

TEST_CASE("the range of numbers, and what has none") {
    const float infinite = std::numeric_limits<float>::infinity();
    const float undefined = std::numeric_limits<float>::quiet_NaN();
    CHECK(range_of({}).range.empty());
    const observed_range plain = range_of(std::vector<float>{3, -2, 0, 1, 7});
    CHECK(plain.range == value_range{-2, 7});
    CHECK(plain.undefined + plain.infinite == 0);
    const observed_range mixed =
        range_of(std::vector<float>{3, undefined, -2, infinite, undefined, -infinite});
    CHECK(mixed.range == value_range{-2, 3});
    CHECK(mixed.undefined == 2);
    CHECK(mixed.infinite == 2);
    CHECK(range_of(std::vector<float>(9, undefined)).range.empty());
}

TEST_CASE("a tensor is counted like its parts, however large") {
    std::vector<float> numbers{-4, 4};
    for (int i = 0; i != 3000; ++i) numbers.push_back(number(1, i));
    histogram whole;
    whole.feed(numbers);
    histogram parts;
    for (std::size_t first = 0; first < numbers.size(); first += 100)
        parts.feed(std::span(numbers).subspan(first, std::min<std::size_t>(100, numbers.size() - first)));
    CHECK(std::ranges::equal(whole.counts(), parts.counts()));
}

TEST_CASE("numbers go to the same bins, alone or in vectors, and ranges see each of them") {
    const int count = GENERATE(1, 15, 16, 31, 32, 33, 100);
    std::vector<float> numbers;
    for (int i = 0; i != count; ++i) numbers.push_back(number(2, i));
    const value_range range{-4, 4};
    std::vector<int> plain(numbers.size());
    std::vector<int> fused(numbers.size());
    detail::find_bins(numbers, range, histogram::bins, plain);
    if (cpu_has_avx2()) detail::find_bins_fused(numbers, range, histogram::bins, fused);
    CHECK((!cpu_has_avx2() || plain == fused));
    for (std::size_t i = 0; i != numbers.size(); ++i)
        CHECK(plain[i] == std::min(static_cast<int>((numbers[i] + 4) / 8 * 2048), 2047));

    for (float& x : numbers) {
        const float before = std::exchange(x, -100);
        CHECK(range_of(numbers).range.lowest == -100);
        x = 100;
        CHECK(range_of(numbers).range.highest == 100);
        x = std::numeric_limits<float>::quiet_NaN();
        CHECK(range_of(numbers).undefined == 1);
        x = before;
    }
    const auto [lowest, highest] = std::ranges::minmax(numbers);
    CHECK(detail::limits_of(numbers) == value_range{lowest, highest});
}
TEST_CASE("a level of a number is the quotient, rounded down as by fmod") {
    for (int i = -300; i != 300; ++i) {
        const float level = 0.1F + static_cast<float>(i + 300) / 77;
        const float exact = static_cast<float>(i % 17) * level;
        for (const float x : {exact, std::nextafter(exact, 1e9F), std::nextafter(exact, -1e9F)}) {
            const double rest = std::fmod(static_cast<double>(x), static_cast<double>(level));
            const double whole = std::round((static_cast<double>(x) - rest) / static_cast<double>(level));
            const double floored = whole - (rest < 0 ? 1 : 0);
            CHECK(static_cast<double>(detail::level_of(x, static_cast<double>(level), 15)) ==
                std::clamp(floored, 0.0, 15.0));
        }
    }
}
TEST_CASE("with and without fused instructions, new bins begin at the same parts of old ones") {
    const auto wide = GENERATE(value_range{-5, 5}, value_range{-4.1F, 3.97F}, value_range{-3.9375F, 400});
    const value_range narrow{-3.9375F, 3.9296875F};
    std::array<int, histogram::bins + 1> plain{};
    std::array<int, histogram::bins + 1> fused{};
    detail::find_first_parts(narrow, wide, plain);
    if (cpu_has_avx2()) {
        detail::find_first_parts_fused(narrow, wide, fused);
        CHECK(plain == fused);
    }
    CHECK(std::ranges::is_sorted(plain));
}

TEST_CASE("the range of least square error clips what is rare and far") {
    // 20,000 numbers within 1, two at 8: clipping these costs less than steps that are eight times as wide.
    std::vector<float> numbers;
    for (int i = 0; i != 20'000; ++i) numbers.push_back(static_cast<float>(i % 2001 - 1000) / 1000);
    numbers.push_back(1.3F);
    numbers.push_back(-1.3F);
    histogram h;
    h.feed(numbers);
    const tensor_scheme scheme{};
    const value_range range = h.least_square(scheme);
    CHECK(range.highest < 1.25F);
    CHECK(range.highest > 0.9F);
}
