// SPDX-License-Identifier: MIT
// Includes the definitions of the passes of headrace::tabulate_passes and headrace::quantize_passes.
#ifndef HEADRACE_PASSES_QUANTIZE_DEFINITIONS_HPP
#define HEADRACE_PASSES_QUANTIZE_DEFINITIONS_HPP

#include <headrace/passes/decompose/quantization.hpp>
#include <headrace/passes/fold/fold_constants.hpp>
#include <headrace/passes/fold/redundancies.hpp>
#include <headrace/passes/quantize/lower_quantized.hpp>
#include <headrace/passes/quantize/quantized_boundaries.hpp>
#include <headrace/passes/quantize/quantized_storage.hpp>
#include <headrace/passes/quantize/rescaling.hpp>
#include <headrace/passes/quantize/tabulate_functions.hpp>

#endif
