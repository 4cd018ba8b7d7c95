// SPDX-License-Identifier: MIT
// Declares headrace::find_quantized_nodes, which finds the nodes that can compute with quantized integers.
#ifndef HEADRACE_LOWERING_KERNELS_QUANTIZED_NODES_HPP
#define HEADRACE_LOWERING_KERNELS_QUANTIZED_NODES_HPP

#include <string_view>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/partition/operator_support.hpp>
#include <headrace/partition/refusals.hpp>

namespace headrace {

/// The nodes of a graph that are computed between a dequantize and a quantize, and others.
struct quantized_nodes {
    std::vector<bool> inside{};  ///< by id: can be computed with integers
    refusal_reasons reasons{};   ///< of the nodes outside that compute something
};

/// The reason of a quantize or dequantize between integers and real numbers.
inline constexpr std::string_view border_reason =
    "it is between integers and what is computed in real numbers";

/// The reason of a quantize or dequantize whose integers have more than 8 bits, and of what it belongs to.
inline constexpr std::string_view width_reason = "the kernels for Cortex-M take integers of 8 bits";

/// Finds the nodes of one graph, without those nested in it, that can compute with quantized integers: all
/// real numbers that they read are dequantized or constant, and what they compute is quantized again, or is
/// the position of an extremum. Among these are the dequantize and the quantize, and nodes that move integers
/// of 8 bits between them. Nodes that `support` lacks or that are refused are outside.
[[nodiscard]] quantized_nodes find_quantized_nodes(
    const graph& g, const operator_support& support, const refusal_reasons& refused = {});

}  // namespace headrace

#endif
