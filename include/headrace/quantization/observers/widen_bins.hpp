// SPDX-License-Identifier: MIT
// Declares how a histogram's counts are moved to bins of a wider range: headrace::find_first_parts and
// headrace::add_parts.
#ifndef HEADRACE_QUANTIZATION_OBSERVERS_WIDEN_BINS_HPP
#define HEADRACE_QUANTIZATION_OBSERVERS_WIDEN_BINS_HPP

#include <span>

#include <headrace/base/cpu_features.hpp>
#include <headrace/quantization/tensor_scheme.hpp>

namespace headrace::detail {

/// Sums the parts from first[t] to first[t + 1], where part j has the weight of bin j / 16. Computes four
/// sums at a time, since each addition waits for the one before it.
void add_parts(std::span<const float> weights, std::span<const int> first, std::span<float> sums);

/// Finds the first sixteenth of an old bin in each new bin, by the middles of the sixteenths; both middles
/// and bin edges are in ascending order.
void find_first_parts(value_range from, value_range to, std::span<int> first);

/// find_first_parts compiled with FMA.
HEADRACE_FOR_AVX2 void find_first_parts_fused(value_range from, value_range to, std::span<int> first);

}  // namespace headrace::detail

#endif
