// SPDX-License-Identifier: MIT
// Declares headrace::observe_ranges, which runs a graph on samples and observes its values.
#ifndef HEADRACE_QUANTIZATION_OBSERVERS_OBSERVE_HPP
#define HEADRACE_QUANTIZATION_OBSERVERS_OBSERVE_HPP

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/quantization/observers/range_observer.hpp>
#include <headrace/quantization/parallel_for.hpp>
#include <headrace/quantization/quantization_points.hpp>

namespace headrace {

/// The calibration samples.
struct sample_source {
    std::size_t count = 0;
    /// Returns the inputs of sample i; may be called from several threads at once.
    std::function<result<std::vector<tensor>>(std::size_t)> inputs;
};

/// Runs the graph on each sample, and feeds each group the values of its points, by sample and in graph order
/// within a sample, regardless of parallelism: the observers are the same for any number of threads. For
/// values in `masks`, numbers that stand for infinity are left out. Returns one observer for each key; those
/// of keys that name no group stay empty.
[[nodiscard]] result<std::vector<range_observer>> observe_ranges(const graph& g,
    const quantization_groups& groups, std::span<const quantization_point> points,
    const sample_source& samples, const parallel_for& in_parallel = run_serially,
    std::span<const value> masks = {});

}  // namespace headrace

#endif
