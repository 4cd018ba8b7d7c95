// SPDX-License-Identifier: MIT
// What the caller of a graph does at its border: inputs in the types that it takes, outputs as real numbers.
#ifndef HEADRACE_EXAMPLES_CLI_INTERFACE_HPP
#define HEADRACE_EXAMPLES_CLI_INTERFACE_HPP

#include <span>
#include <string_view>
#include <vector>

#include <headrace/eval/tensor.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/signature.hpp>

namespace headrace::cli {

/// Makes the pipeline give the graph inputs and outputs of four axes channels-last (NHWC).
void ask_for_channels_last(graph& g);

/// Has a tensor of that rank at that placeholder or output node its channels last, other than when it was
/// exported?
[[nodiscard]] bool is_channels_last(const node& n, std::size_t rank);

/// An input or an output, under the exported program's name for it.
struct interface_tensor {
    std::string_view name;
    const tensor_meta& meta;
    const interface_quantization* quantization;  ///< null where numbers are the user's own
    bool channels_last;
};
[[nodiscard]] std::vector<interface_tensor> interface_inputs(const graph& g);
[[nodiscard]] std::vector<interface_tensor> interface_outputs(const graph& g);

/// The exported program's inputs as the graph takes them: quantized where its annotations say so, and in its
/// types, since a lowering narrows int64, and layouts.
[[nodiscard]] std::vector<tensor> inputs_for(const graph& g, std::span<const tensor> exported);

/// What the graph gives as the exported program would: dequantized, and in its layout.
[[nodiscard]] std::vector<tensor> outputs_of(const graph& g, std::vector<tensor> given);

/// The quantization step of each output, 0 where it has none.
[[nodiscard]] std::vector<double> output_steps(const graph& g);

}  // namespace headrace::cli

#endif
