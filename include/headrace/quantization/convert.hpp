// SPDX-License-Identifier: MIT
// Declares headrace::insert_quantization, which inserts the chosen parameters into a graph.
#ifndef HEADRACE_QUANTIZATION_CONVERT_HPP
#define HEADRACE_QUANTIZATION_CONVERT_HPP

#include <span>
#include <string>
#include <vector>

#include <headrace/base/error.hpp>
#include <headrace/quantization/quantization_points.hpp>

namespace headrace {

/// Counts of quantized tensors, and warnings about them.
struct quantization_summary {
    std::size_t points = 0;             ///< quantized tensors
    std::size_t constants = 0;          ///< the constants among them that the model now stores as integers
    std::vector<std::string> warnings;  ///< each names a tensor
    std::vector<std::string> lost{};    ///< infinities that become other numbers; each names its tensor
    /// Inputs some of whose elements stand for infinity: masks of scores.
    std::vector<std::string> mask_inputs{};
};

/// Inserts quantize and dequantize nodes at the points; `parameters` has those of each group, by its key.
/// Constants become integers. A bias is quantized by the product of the scales of its layer's input and
/// weight, and saturated.
void insert_quantization(graph& g, const quantization_groups& groups,
    std::span<const quantization_point> points, std::span<const qparams> parameters,
    quantization_summary& summary);

}  // namespace headrace

#endif
