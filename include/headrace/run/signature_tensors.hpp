// SPDX-License-Identifier: MIT
// Declares headrace::inputs_for, headrace::rounded_inputs and headrace::outputs_of, which convert tensors
// between the signature of the exported program and that of the lowered graph.
#ifndef HEADRACE_RUN_SIGNATURE_TENSORS_HPP
#define HEADRACE_RUN_SIGNATURE_TENSORS_HPP

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <headrace/eval/tensor.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/signature.hpp>

namespace headrace {

/// The permutation of NCHW images to NHWC.
inline constexpr std::array<std::size_t, 4> to_channels_last{0, 2, 3, 1};

/// Quantizes real numbers as an annotation of the signature says.
[[nodiscard]] tensor quantized(const tensor& real, const signature_quantization& by, dtype type);

/// Converts the exported program's inputs to those of the graph: to its layout, quantized as its annotations
/// say, and in its dtypes, since a lowering narrows int64.
[[nodiscard]] std::vector<tensor> inputs_for(const graph& g, std::span<const tensor> exported);

/// Returns the exported program's inputs rounded as inputs_for rounds them: the program's outputs for these
/// are the reference for the graph's. Nothing if the graph's inputs are not quantized.
[[nodiscard]] std::optional<std::vector<tensor>> rounded_inputs(
    const graph& g, std::span<const tensor> exported);

/// Converts the graph's outputs to those of the exported program: to its layout, unsigned if its are,
/// dequantized, and in its dtypes.
[[nodiscard]] std::vector<tensor> outputs_of(const graph& g, std::vector<tensor> given);

/// Returns the quantization step of each output of an exported program, 0 for an output without one.
[[nodiscard]] std::vector<double> output_steps(const graph& g);

/// Returns the largest difference between two lists of tensors, beyond the granted amount of each, relative
/// to 1 + the magnitude of the element in `a`. NaN equals NaN; infinite if shapes differ.
[[nodiscard]] double largest_difference(
    std::span<const tensor> a, std::span<const tensor> b, std::span<const double> granted = {});

}  // namespace headrace

#endif
