// SPDX-License-Identifier: MIT
// Defines headrace::annotate_quantization, which decides what is quantized.
#ifndef HEADRACE_QUANTIZATION_ANNOTATE_HPP
#define HEADRACE_QUANTIZATION_ANNOTATE_HPP

#include <headrace/quantization/quantization_config.hpp>
#include <headrace/quantization/quantization_groups.hpp>

namespace headrace {

/// Which operands and results are quantized, after the rules of PyTorch's quantizer for TOSA (ExecuTorch,
/// backends/arm/quantizer):
/// - a convolution or linear layer, with the relu or hardtanh from 0 that follows it: input, weight, bias and
///   the last result; functions and arithmetic: every operand and the result; poolings: both alike;
/// - ops that only move numbers, or choose among them, take part if something beside them does; then all
///   connected ones share their parameters;
/// - readers of one tensor share the parameters that its producer gave it, if they have the same scheme.
/// Only float32 is quantized. Nested regions are not looked into. Each constant must have one reader.
[[nodiscard]] quantization_groups annotate_quantization(const graph& g, const quantization_config& config);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/quantization/annotate_definition.hpp>
#endif

#endif
