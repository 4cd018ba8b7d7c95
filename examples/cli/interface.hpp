// SPDX-License-Identifier: MIT
// What the caller of a graph does at its border: inputs in the types that it takes, outputs as real numbers.
#ifndef HEADRACE_EXAMPLES_CLI_INTERFACE_HPP
#define HEADRACE_EXAMPLES_CLI_INTERFACE_HPP

#include <span>
#include <vector>

#include <headrace/eval/tensor.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::cli {

/// The exported program's inputs as the graph takes them: quantized where its annotations say so, and in its
/// types, since a lowering narrows int64.
[[nodiscard]] std::vector<tensor> inputs_for(const graph& g, std::span<const tensor> exported);

/// What the graph gives, dequantized where its annotations say so.
[[nodiscard]] std::vector<tensor> outputs_of(const graph& g, std::vector<tensor> given);

/// The quantization step of each output, 0 where it has none.
[[nodiscard]] std::vector<double> output_steps(const graph& g);

}  // namespace headrace::cli

#endif
