// SPDX-License-Identifier: MIT
// Declares headrace::values_of_logarithms, and how these are stored.
#ifndef HEADRACE_QUANTIZATION_LOGARITHMS_LOGARITHM_OPERANDS_HPP
#define HEADRACE_QUANTIZATION_LOGARITHMS_LOGARITHM_OPERANDS_HPP

#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/quantization/quantization_config.hpp>
#include <headrace/quantization/quantization_groups.hpp>

namespace headrace {

/// Tells for each node, by id, if its result must not be rounded to 16 bits: one scale for loud and quiet
/// numbers would leave nothing of the quiet ones to a logarithm. These are values of nodes with int16
/// activations that only a logarithm reads, directly or by products with constant matrices, squares, sums,
/// clamps and moves; and a logarithm itself, if it is only multiplied by numbers or added to them.
[[nodiscard]] std::vector<bool> values_of_logarithms(const graph& g, const quantization_config& config);

/// Returns how a product of matrices that a logarithm reads is stored: in int32, 1 bit of which is left for
/// sums. The range has room for values of up to twice those of the samples.
[[nodiscard]] tensor_scheme scheme_of_32_bits(const tensor_scheme& activation);

/// Doubles the ranges of int16 logarithms, and of their sums, extremes and moves: numbers near 0 have
/// logarithms far below those of the samples. That costs one of 16 bits.
void widen_logarithms(const graph& g, quantization_groups& groups);

}  // namespace headrace

#endif
