// SPDX-License-Identifier: MIT
// Declares headrace::layer_runner, which runs a model and keeps values of its layers.
#ifndef HEADRACE_COMPARE_LAYER_RUNNER_HPP
#define HEADRACE_COMPARE_LAYER_RUNNER_HPP

#include <functional>
#include <span>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Is given a value of a layer before others read it, and may replace it.
using layer_visitor = std::function<void(value v, tensor& t)>;

/// Runs a graph and keeps selected values of it and of the delegates that it calls.
class layer_runner {
public:
    /// The graph must outlive it.
    layer_runner(const graph& g, std::span<const value> wanted);
    /// Returns the wanted values, in order. May be called from several threads at once.
    [[nodiscard]] result<std::vector<tensor>> run(std::span<const tensor> inputs) const;
    /// Shows the wanted values to the visitor, and returns the graph's outputs.
    [[nodiscard]] result<std::vector<tensor>> run(
        std::span<const tensor> inputs, const layer_visitor& visit) const;

private:
    const graph& graph_;
    std::vector<value> wanted_;
};

}  // namespace headrace

#endif
