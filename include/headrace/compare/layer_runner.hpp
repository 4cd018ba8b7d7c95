// SPDX-License-Identifier: MIT
// Declares headrace::layer_runner, which runs a model and keeps values of its layers.
#ifndef HEADRACE_COMPARE_LAYER_RUNNER_HPP
#define HEADRACE_COMPARE_LAYER_RUNNER_HPP

#include <span>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Runs a graph and keeps selected values of it and of the delegates that it calls.
class layer_runner {
public:
    /// The graph must outlive it.
    layer_runner(const graph& g, std::span<const value> wanted);
    /// Returns the wanted values, in order. May be called from several threads at once.
    [[nodiscard]] result<std::vector<tensor>> run(std::span<const tensor> inputs) const;

private:
    struct kept_values;
    [[nodiscard]] result<std::vector<tensor>> run_region(
        const graph& g, std::span<const tensor> inputs, kept_values& kept) const;

    const graph& graph_;
    std::vector<value> wanted_;
};

}  // namespace headrace

#endif
