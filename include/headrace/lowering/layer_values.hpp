// SPDX-License-Identifier: MIT
// Declares headrace::layer_values_of: the values of a model that layers compute.
#ifndef HEADRACE_LOWERING_LAYER_VALUES_HPP
#define HEADRACE_LOWERING_LAYER_VALUES_HPP

#include <string>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/ir/signature.hpp>

namespace headrace {

/// What a layer computes, and where its numbers are as the model goes on with them.
struct layer_value {
    std::string name;                  ///< as a listing shows it
    value real;                        ///< what the layer's node gives
    value stored;                      ///< behind a quantize node if one reads it, else the same
    interface_quantization numbers{};  ///< what the integers in `stored` stand for; scale 0: not known
    bool is_output = false;            ///< of the model
};

/// The values of a graph and of the delegates that it calls, in order: inputs, outputs, and what nodes
/// compute from inputs. Left out is what only moves elements, quantizes or dequantizes them, or writes to
/// buffers of the program.
[[nodiscard]] std::vector<layer_value> layer_values_of(const graph& g);

/// Does the graph, or a delegate that it calls, hold operators of TOSA?
[[nodiscard]] bool is_lowered(const graph& g);
/// Does the graph hold quantize or dequantize nodes?
[[nodiscard]] bool is_quantized_program(const graph& g);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/lowering/layer_values_definition.hpp>
#endif

#endif
