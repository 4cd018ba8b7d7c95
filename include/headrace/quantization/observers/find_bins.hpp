// SPDX-License-Identifier: MIT
// Declares headrace::limits_of and headrace::find_bins, a histogram's loops over all the numbers it is fed.
#ifndef HEADRACE_QUANTIZATION_OBSERVERS_FIND_BINS_HPP
#define HEADRACE_QUANTIZATION_OBSERVERS_FIND_BINS_HPP

#include <span>

#include <headrace/base/cpu_features.hpp>
#include <headrace/quantization/tensor_scheme.hpp>

namespace headrace::detail {

// The second form of each function doubles the vector width.

/// Returns the smallest and the largest number; NaN if any number is.
[[nodiscard]] value_range limits_of(std::span<const float> numbers);
HEADRACE_FOR_AVX2 value_range limits_of_fused(std::span<const float> numbers);

/// Finds the bin of each number among equal bins over a range, which is not empty and contains them all.
void find_bins(std::span<const float> numbers, value_range range, int bins, std::span<int> at);
HEADRACE_FOR_AVX2 void find_bins_fused(
    std::span<const float> numbers, value_range range, int bins, std::span<int> at);

}  // namespace headrace::detail

#endif
