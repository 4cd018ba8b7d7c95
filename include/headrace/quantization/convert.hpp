// SPDX-License-Identifier: MIT
// Defines headrace::insert_quantization, which writes the chosen parameters into a graph.
#ifndef HEADRACE_QUANTIZATION_CONVERT_HPP
#define HEADRACE_QUANTIZATION_CONVERT_HPP

#include <span>
#include <string>
#include <vector>

#include <headrace/base/error.hpp>
#include <headrace/quantization/quantization_points.hpp>

namespace headrace {

/// What was quantized, and what one should know of it.
struct quantization_summary {
    std::size_t points = 0;             ///< tensors that are quantized
    std::size_t constants = 0;          ///< of them, those that are integers in the model now
    std::vector<std::string> warnings;  ///< each names a tensor
    /// Inputs of which some numbers stand for infinity: masks of scores.
    std::vector<std::string> mask_inputs{};
};

/// Puts quantize and dequantize nodes at the points; `parameters` has those of each group, by its key. A
/// constant becomes integers; a bias, integers by the product of the scales of its layer's input and weight,
/// saturated where it does not fit.
void insert_quantization(graph& g, const quantization_groups& groups,
                         std::span<const quantization_point> points, std::span<const qparams> parameters,
                         quantization_summary& summary);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/quantization/convert_definition.hpp>
#endif

#endif
