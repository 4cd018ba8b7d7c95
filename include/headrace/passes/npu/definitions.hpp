// SPDX-License-Identifier: MIT
// Includes the definitions of the passes of headrace::npu_passes.
#ifndef HEADRACE_PASSES_NPU_DEFINITIONS_HPP
#define HEADRACE_PASSES_NPU_DEFINITIONS_HPP

#include <headrace/passes/npu/channel_selections.hpp>
#include <headrace/passes/npu/first_layers.hpp>
#include <headrace/passes/npu/quantized_arithmetic.hpp>
#include <headrace/passes/npu/strided_convolutions.hpp>
#include <headrace/passes/npu/transposes.hpp>

#endif
