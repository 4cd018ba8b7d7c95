// SPDX-License-Identifier: MIT
// Declares headrace::quantization_judge, which measures what a configuration costs a network in accuracy.
#ifndef HEADRACE_QUANTIZATION_QUANTIZATION_JUDGE_HPP
#define HEADRACE_QUANTIZATION_QUANTIZATION_JUDGE_HPP

#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/quantization/quantize_graph.hpp>

namespace headrace {

/// Quantizes copies of a graph, and judges each by its outputs. Every fourth sample judges, the others set
/// the ranges; all samples do both if there are fewer than eight.
class quantization_judge {
public:
    quantization_judge(const graph& g, const sample_source& samples, pass_context::node_inference infer,
        const parallel_for& in_parallel);

    /// Computes the outputs to compare with.
    [[nodiscard]] result<void> prepare();
    /// Returns the mean of the outputs' SQNR in decibels, 200 at most.
    [[nodiscard]] result<double> judge(const quantization_config& config) const;

private:
    const graph& graph_;
    pass_context::node_inference infer_;
    sample_source for_ranges_;
    sample_source judging_;
    const parallel_for& in_parallel_;
    std::vector<std::vector<tensor>> expected_;
};

}  // namespace headrace

#endif
