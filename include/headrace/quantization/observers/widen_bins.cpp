// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/observers/widen_bins.hpp.

#include <headrace/quantization/observers/widen_bins.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

namespace headrace::detail {

namespace {

// Equally spaced numbers, as torch.linspace rounds them on machines with a fused multiply-add.
struct spaced_numbers {
    value_range range;
    int count;
    float step = (range.highest - range.lowest) / static_cast<float>(count - 1);

    [[nodiscard]] float operator[](int i) const {
        return i < count / 2 ? std::fma(step, static_cast<float>(i), range.lowest)
                             : std::fma(-step, static_cast<float>(count - 1 - i), range.highest);
    }
};

}  // namespace

void add_parts(std::span<const float> weights, std::span<const int> first, std::span<float> sums) {
    constexpr std::size_t lanes = 4;
    constexpr unsigned parts = 16;
    const auto weight = [&](int part) { return weights[static_cast<unsigned>(part) / parts]; };
    for (std::size_t t = 0; t != sums.size(); t += lanes) {
        const int* begin = &first[t];
        int common = begin[1] - begin[0];
        for (std::size_t l = 1; l != lanes; ++l) common = std::min(common, begin[l + 1] - begin[l]);
        std::array<float, lanes> sum{};
        for (int k = 0; k != common; ++k) {
// A loop would keep the sums in memory, and each addition would wait for a store.
#pragma GCC unroll 4
            for (std::size_t l = 0; l != lanes; ++l) sum[l] += weight(begin[l] + k);
        }
        for (std::size_t l = 0; l != lanes; ++l) {
            for (int k = begin[l] + common; k != begin[l + 1]; ++k) sum[l] += weight(k);
            sums[t + l] = sum[l];
        }
    }
}

void find_first_parts(value_range from, value_range to, std::span<int> first) {
    constexpr int parts = 16;
    const int bins = static_cast<int>(first.size()) - 1;
    const int end = bins * parts;
    const spaced_numbers begins{from, end + 1};
    const spaced_numbers edges{to, bins + 1};
    const float half_part = 0.5F * (from.highest - from.lowest) / static_cast<float>(end);
    const auto middle = [&](int j) { return begins[j] + half_part; };
    int j = 0;
    for (int t = 1; t != bins; ++t) {
        const float edge = edges[t];
        // A guess, corrected below by the rounded numbers.
        const float guess = (edge - half_part - from.lowest) / begins.step;
        const int begin = j;
        j = guess >= static_cast<float>(end)    ? end
            : guess > static_cast<float>(begin) ? static_cast<int>(guess)
                                                : begin;
        while (j != end && middle(j) < edge) ++j;
        while (j != begin && edge <= middle(j - 1)) --j;
        first[static_cast<std::size_t>(t)] = j;
    }
    first.front() = 0;
    first.back() = end;
}

HEADRACE_FOR_AVX2 void find_first_parts_fused(value_range from, value_range to, std::span<int> first) {
    find_first_parts(from, to, first);
}
}  // namespace headrace::detail
