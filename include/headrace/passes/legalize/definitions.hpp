// SPDX-License-Identifier: MIT
// Includes the definitions of the passes of headrace::legalize_passes.
#ifndef HEADRACE_PASSES_LEGALIZE_DEFINITIONS_HPP
#define HEADRACE_PASSES_LEGALIZE_DEFINITIONS_HPP

#include <headrace/passes/legalize/control_flow.hpp>
#include <headrace/passes/legalize/convolution.hpp>
#include <headrace/passes/legalize/elementwise.hpp>
#include <headrace/passes/legalize/gather_scatter.hpp>
#include <headrace/passes/legalize/reduction.hpp>
#include <headrace/passes/legalize/shape.hpp>
#include <headrace/passes/legalize/slicing.hpp>
#include <headrace/passes/legalize/tensor_indices.hpp>

#endif
