// SPDX-License-Identifier: MIT
// Defines headrace::losses_of_bins, the error that quantization causes in each bin of a histogram.
#ifndef HEADRACE_QUANTIZATION_OBSERVERS_LOSSES_OF_BINS_HPP
#define HEADRACE_QUANTIZATION_OBSERVERS_LOSSES_OF_BINS_HPP

#include <cstddef>
#include <span>

namespace headrace::detail {

/// Bins that are quantized to levels; the first level begins at bin `start`.
struct quantized_bins {
    int start;
    float bin, level, half_level;  ///< widths
    double last_level;
};

/// Floor division as Python and PyTorch do it in float32. The quotient of two float32 numbers, computed in
/// double, is never rounded up to a whole number above it: it differs from that number by more than double's
/// last bit.
[[nodiscard]] inline float level_of(float x, double level, double last) {
    const double quotient = static_cast<double>(x) / level;
    const double positive = quotient > 0 ? quotient : 0;
    const double level_number = positive < last ? positive : last;
    return static_cast<float>(static_cast<int>(level_number));
}

/// Computes the loss of each bin, taking numbers to be spread evenly within it; each is mapped to the middle
/// of its level (torchao, HistogramObserver._compute_quantization_error).
inline void losses_of_bins(
    std::span<const float> counts, const quantized_bins& bins, std::span<float> losses) {
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

#endif
