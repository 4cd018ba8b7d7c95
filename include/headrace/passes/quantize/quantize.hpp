// SPDX-License-Identifier: MIT
// Defines headrace::tabulate_passes and headrace::quantize_passes: from quantized programs to integers.
#ifndef HEADRACE_PASSES_QUANTIZE_QUANTIZE_HPP
#define HEADRACE_PASSES_QUANTIZE_QUANTIZE_HPP

#include <headrace/passes/properties.hpp>

namespace headrace {

/// Before functions are decomposed. Quantizers repeat nodes for each reader: what is merged here cannot be
/// merged any more once each reader has its own RESCALE.
template <class Evaluator>
using tabulate_passes = pass_list<canonicalize_quantization, tabulate_functions,
                                  fold_quantized_constants<Evaluator>, merge_duplicates>;

/// After they are; what decompositions computed from constants is folded first.
template <class Evaluator>
using quantize_passes = pass_list<fold_quantized_constants<Evaluator>, lower_quantized, fuse_rescales,
                                  quantize_interface, decompose_quantization>;

}  // namespace headrace

#endif
