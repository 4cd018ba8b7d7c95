// SPDX-License-Identifier: MIT
// Includes all passes and the standard pipeline. A file that wants a few passes does better to include those.
#ifndef HEADRACE_PASSES_PASSES_HPP
#define HEADRACE_PASSES_PASSES_HPP

#include <headrace/passes/decompose/decompose.hpp>
#include <headrace/passes/executorch/saturate_quantization.hpp>
#include <headrace/passes/executorch/select_kernels.hpp>
#include <headrace/passes/executorch/spell_kernel_ops.hpp>
#include <headrace/passes/executorch_lowering.hpp>
#include <headrace/passes/fold/fold.hpp>
#include <headrace/passes/layout/layout.hpp>
#include <headrace/passes/layout/remaining_transposes.hpp>
#include <headrace/passes/legalize/legalize.hpp>
#include <headrace/passes/normalize/normalize.hpp>
#include <headrace/passes/standard_lowering.hpp>

#endif
