// SPDX-License-Identifier: MIT
// Defines headrace::tabulate_passes and headrace::quantize_passes: from quantized programs to integers.
#ifndef HEADRACE_PASSES_QUANTIZE_QUANTIZE_HPP
#define HEADRACE_PASSES_QUANTIZE_QUANTIZE_HPP

#include <headrace/passes/properties.hpp>
#ifdef HEADRACE_DEFINES_PASSES
#include <headrace/passes/decompose/quantization.hpp>
#include <headrace/passes/fold/fold_constants.hpp>
#include <headrace/passes/fold/redundancies.hpp>
#include <headrace/passes/quantize/lower_quantized.hpp>
#include <headrace/passes/quantize/quantized_boundaries.hpp>
#include <headrace/passes/quantize/quantized_storage.hpp>
#include <headrace/passes/quantize/rescaling.hpp>
#include <headrace/passes/quantize/tabulate_functions.hpp>
#endif

namespace headrace {

/// Passes that run before functions are decomposed. Quantizers repeat nodes for each reader; repeated nodes
/// can only be merged before each reader has its own RESCALE.
using tabulate_passes =
    pass_list<canonicalize_quantization, tabulate_functions, fold_quantized_constants, merge_duplicates>;

/// Passes that run after functions are decomposed; constants in the decompositions are folded first.
using quantize_passes = pass_list<fold_quantized_constants, lower_quantized, fuse_rescales,
    quantize_interface, decompose_quantization>;

}  // namespace headrace

#endif
