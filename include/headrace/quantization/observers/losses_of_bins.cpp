// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/observers/losses_of_bins.hpp.

#include <headrace/quantization/observers/losses_of_bins.hpp>

#include <cstddef>
#include <span>

namespace headrace::detail {

float level_of(float x, double level, double last) {
    const double quotient = static_cast<double>(x) / level;
    const double positive = quotient > 0 ? quotient : 0;
    const double level_number = positive < last ? positive : last;
    return static_cast<float>(static_cast<int>(level_number));
}

void losses_of_bins(std::span<const float> counts, const quantized_bins& bins, std::span<float> losses) {
    constexpr std::size_t lanes = 64;                         // a constant trip count is vectorized
    const auto [start, bin, level, half, last_level] = bins;  // copies, which no store below can change
    const auto cubes = [](float density, float from, float to) {
        return density * ((to * to * to - from * from * from) / 3);
    };
    for (std::size_t i = 0; i + lanes <= counts.size(); i += lanes) {
        const float* count = counts.data() + i;
        float* loss = losses.data() + i;
        for (std::size_t l = 0; l != lanes; ++l) {
            const float begin = static_cast<float>(static_cast<int>(i + l) - start) * bin;
            const float end = begin + bin;
            const float first = level_of(begin, static_cast<double>(level), last_level);
            const float last = level_of(end, static_cast<double>(level), last_level);
            const float density = count[l] / bin;
            float norm = cubes(density, begin - (first + 0.5F) * level, half);
            norm += (last - first - 1) * cubes(density, -half, half);
            norm += cubes(density, -half, end - (last * level + half));
            loss[l] = norm;
        }
    }
}
}  // namespace headrace::detail
