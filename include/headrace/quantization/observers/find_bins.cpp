// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/observers/find_bins.hpp.

#include <headrace/quantization/observers/find_bins.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace headrace::detail {

// Loops with a known trip count are vectorized.

value_range limits_of(std::span<const float> numbers) {
    constexpr std::size_t lanes = 16;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    std::array<float, lanes> lowest;
    std::array<float, lanes> highest;
    std::array<float, lanes> undefined;  // stays 0 unless a number is NaN
    lowest.fill(infinity);
    highest.fill(-infinity);
    undefined.fill(0);
    const std::size_t whole = numbers.size() - numbers.size() % lanes;
    for (std::size_t i = 0; i != whole; i += lanes) {
        const float* x = numbers.data() + i;
        for (std::size_t l = 0; l != lanes; ++l) lowest[l] = x[l] < lowest[l] ? x[l] : lowest[l];
        for (std::size_t l = 0; l != lanes; ++l) highest[l] = x[l] > highest[l] ? x[l] : highest[l];
        for (std::size_t l = 0; l != lanes; ++l) undefined[l] = x[l] == x[l] ? undefined[l] : x[l];
    }
    for (const float x : numbers.subspan(whole)) {
        lowest[0] = x < lowest[0] ? x : lowest[0];
        highest[0] = x > highest[0] ? x : highest[0];
        undefined[0] = x == x ? undefined[0] : x;
    }
    for (const float x : undefined) {
        if (std::isnan(x)) return {x, x};
    }
    return {*std::ranges::min_element(lowest), *std::ranges::max_element(highest)};
}

HEADRACE_FOR_AVX2 value_range limits_of_fused(std::span<const float> numbers) { return limits_of(numbers); }

void find_bins(std::span<const float> numbers, value_range range, int bins, std::span<int> at) {
    constexpr std::size_t lanes = 32;
    const float width = range.highest - range.lowest;
    const auto count = static_cast<float>(bins);
    const auto last = static_cast<float>(bins - 1);
    // Compared before it is converted, so that any number has a valid bin.
    const auto bin_of = [&](float x) {
        const float bin = (x - range.lowest) * count / width;
        return static_cast<int>(bin < last ? bin : last);
    };
    const std::size_t whole = numbers.size() - numbers.size() % lanes;
    for (std::size_t i = 0; i != whole; i += lanes) {
        const float* x = numbers.data() + i;
        int* bins_of = at.data() + i;
        for (std::size_t l = 0; l != lanes; ++l) bins_of[l] = bin_of(x[l]);
    }
    for (std::size_t i = whole; i != numbers.size(); ++i) at[i] = bin_of(numbers[i]);
}

HEADRACE_FOR_AVX2 void find_bins_fused(
    std::span<const float> numbers, value_range range, int bins, std::span<int> at) {
    find_bins(numbers, range, bins, at);
}
}  // namespace headrace::detail
