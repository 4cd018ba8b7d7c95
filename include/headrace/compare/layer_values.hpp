// SPDX-License-Identifier: MIT
// Declares headrace::layer_values_of: the values of a model that layers compute.
#ifndef HEADRACE_COMPARE_LAYER_VALUES_HPP
#define HEADRACE_COMPARE_LAYER_VALUES_HPP

#include <string>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/ir/signature.hpp>

namespace headrace {

/// The value that a layer computes, and its stored form in the model.
struct layer_value {
    std::string name;                  ///< as a listing shows it
    value real;                        ///< the result of the layer's node
    value stored;                      ///< the result of a quantize node that reads it; else equal to `real`
    signature_quantization numbers{};  ///< quantization of the integers in `stored`; scale 0: unknown
    bool is_output = false;            ///< of the model
};

/// Returns the values of a graph and of the delegates that it calls, in order: inputs, outputs, and results
/// computed from inputs. Nodes that only move, quantize or dequantize elements, or write to buffers of the
/// program, are left out.
[[nodiscard]] std::vector<layer_value> layer_values_of(const graph& g);

/// True if the graph, or a delegate that it calls, has operators of TOSA.
[[nodiscard]] bool is_lowered(const graph& g);
/// True if the graph has quantize or dequantize nodes.
[[nodiscard]] bool is_quantized_program(const graph& g);

}  // namespace headrace

#endif
