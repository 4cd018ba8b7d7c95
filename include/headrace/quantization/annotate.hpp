// SPDX-License-Identifier: MIT
// Declares headrace::annotate_quantization, which decides which tensors are quantized.
#ifndef HEADRACE_QUANTIZATION_ANNOTATE_HPP
#define HEADRACE_QUANTIZATION_ANNOTATE_HPP

#include <headrace/quantization/quantization_config.hpp>
#include <headrace/quantization/quantization_groups.hpp>

namespace headrace {

/// Decides which operands and results are quantized, by the rules of PyTorch's quantizer for TOSA
/// (ExecuTorch, backends/arm/quantizer):
/// - a convolution or linear layer, with the relu or hardtanh from 0 that follows it: input, weight, bias and
///   the last result; functions and arithmetic: every operand and the result; pooling: input and result
///   alike;
/// - ops that only move or select elements are quantized if one of their neighbours is; all of them that are
///   connected then share their parameters;
/// - readers of one tensor share the parameters that its producer gave it, if they have the same scheme.
///
/// Unlike that quantizer, it gives the time steps of a recurrent network after the first the same parameters,
/// and so the same constants.
///
/// Only float32 is quantized. Nested regions are left as they are. Each constant must have one reader.
[[nodiscard]] quantization_groups annotate_quantization(const graph& g, const quantization_config& config);

/// True for convolutions and linear layers: ops with a weight and a bias.
[[nodiscard]] bool is_weighted_layer(const node& n);

}  // namespace headrace

#endif
