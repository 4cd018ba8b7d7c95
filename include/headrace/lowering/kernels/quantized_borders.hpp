// SPDX-License-Identifier: MIT
// Declares functions that simplify the quantize and dequantize nodes between parts of a program.
#ifndef HEADRACE_LOWERING_KERNELS_QUANTIZED_BORDERS_HPP
#define HEADRACE_LOWERING_KERNELS_QUANTIZED_BORDERS_HPP

#include <vector>

#include <headrace/ir/graph.hpp>

namespace headrace {

/// Removes each quantize of a value that was dequantized alike, in a graph and in those nested in it: it
/// gives the integers unchanged.
void remove_requantization(graph& g);

/// Merges equal quantize nodes of one value, in a graph and in those nested in it: a quantizer repeats them
/// for each reader.
void merge_quantizers(graph& g);
/// Merges equal dequantize nodes of one value likewise.
void merge_dequantizers(graph& g);

/// Computes with integers where nodes only choose among real numbers that were dequantized alike, and whose
/// result is quantized so again: moves, gathers and writes by index. Returns the origins of these nodes.
std::vector<const provenance*> choose_integers(graph& g);

/// Gives the readers of a dequantize that are outside of `inside`, by node id, a dequantize of their own if
/// the node is inside and others read it, too.
void separate_dequantizers(graph& g, const std::vector<bool>& inside);

}  // namespace headrace

#endif
