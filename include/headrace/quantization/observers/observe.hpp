// SPDX-License-Identifier: MIT
// Declares headrace::observe_ranges, which runs a graph on samples and observes its values.
#ifndef HEADRACE_QUANTIZATION_OBSERVERS_OBSERVE_HPP
#define HEADRACE_QUANTIZATION_OBSERVERS_OBSERVE_HPP

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/quantization/observers/range_observer.hpp>
#include <headrace/quantization/parallel_for.hpp>
#include <headrace/quantization/quantization_points.hpp>

namespace headrace {

/// The values that observers are fed at one point for one sample.
struct observed_values {
    observed_range range{};
    std::size_t count = 0;         ///< of numbers
    std::vector<float> numbers{};  ///< empty if the observer needs only their range
};

/// Values observed apart from the quantization, on other samples or machines. Fed in the order of the
/// samples, observers come out as from one run over all of them.
struct sample_statistics {
    /// Receives a text that tells the observed values, and how, before all others. An error ends the run.
    std::function<result<void>(std::string_view points)> begin{};
    /// Receives the values of each sample, in order; empty if samples are not executed.
    std::function<result<void>(std::vector<observed_values> values)> record{};
    /// Returns the values of sample i, instead of an execution; may be called from several threads at once.
    std::function<result<std::vector<observed_values>>(std::size_t)> recorded{};
};

/// The calibration samples.
struct sample_source {
    std::size_t count = 0;
    /// Returns the inputs of sample i; may be called from several threads at once.
    std::function<result<std::vector<tensor>>(std::size_t)> inputs;
    sample_statistics statistics{};
};

/// Runs the graph on each sample, and feeds each group the values of its points, by sample and in graph order
/// within a sample, regardless of parallelism: the observers are the same for any number of threads. For
/// values in `masks`, numbers that stand for infinity are left out. Returns one observer for each key; those
/// of keys that name no group stay empty. Values are recorded, or taken from a record, if the source says so.
[[nodiscard]] result<std::vector<range_observer>> observe_ranges(const graph& g,
    const quantization_groups& groups, std::span<const quantization_point> points,
    const sample_source& samples, const parallel_for& in_parallel = run_serially,
    std::span<const value> masks = {});

}  // namespace headrace

#endif
