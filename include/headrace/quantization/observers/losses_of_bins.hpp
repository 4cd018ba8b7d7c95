// SPDX-License-Identifier: MIT
// Declares headrace::losses_of_bins, the error that quantization causes in each bin of a histogram.
#ifndef HEADRACE_QUANTIZATION_OBSERVERS_LOSSES_OF_BINS_HPP
#define HEADRACE_QUANTIZATION_OBSERVERS_LOSSES_OF_BINS_HPP

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
[[nodiscard]] float level_of(float x, double level, double last);

/// Computes the loss of each bin, taking numbers to be spread evenly within it; each is mapped to the middle
/// of its level (torchao, HistogramObserver._compute_quantization_error).
void losses_of_bins(std::span<const float> counts, const quantized_bins& bins, std::span<float> losses);

}  // namespace headrace::detail

#endif
