// SPDX-License-Identifier: MIT
// Defines headrace::point_runner, which runs a graph and keeps some of its values.
#ifndef HEADRACE_QUANTIZATION_OBSERVERS_POINT_RUNNER_HPP
#define HEADRACE_QUANTIZATION_OBSERVERS_POINT_RUNNER_HPP

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/eval/fold.hpp>
#include <headrace/quantization/observers/observe.hpp>
#include <headrace/quantization/parallel_for.hpp>
#include <headrace/quantization/quantization_points.hpp>

namespace headrace {

/// Runs a graph and keeps the values of some points. Results common to all samples are computed once.
class point_runner {
public:
    point_runner(const graph& g, std::span<const quantization_point> points);

    [[nodiscard]] result<std::vector<tensor>> run(std::span<const tensor> inputs) const;

    /// Calls `use(i, values)` with the values of the points in sample i, for each i below `count`, in any
    /// order and on any threads.
    template <class Use>
    [[nodiscard]] result<void> run_samples(const sample_source& samples, std::size_t count,
        const parallel_for& in_parallel, const Use& use) const {
        return try_each(count, in_parallel, [&](std::size_t i) -> result<void> {
            HEADRACE_TRY(inputs, samples.inputs(i));
            HEADRACE_TRY(values, run(inputs));
            use(i, std::as_const(values));
            return {};
        });
    }

private:
    using node_results = std::vector<tensor>;

    [[nodiscard]] result<node_results> evaluate(const node& n, const std::vector<node_results>& values) const;
    [[nodiscard]] const tensor& value_of(value v, const std::vector<node_results>& values) const {
        const bool is_constant = is<builtin::constant>(*v.producer);
        return (is_constant ? constants_ : values)[v.producer->id][v.result];
    }

    const graph& graph_;
    std::span<const quantization_point> points_;
    std::vector<node_results> constants_;  // by node id
    std::vector<std::size_t> readers_;     // of a node's results, by node id
};

}  // namespace headrace

#endif
