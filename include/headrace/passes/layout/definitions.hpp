// SPDX-License-Identifier: MIT
// Includes the definitions of the passes of headrace::layout_passes and headrace::settling_passes.
#ifndef HEADRACE_PASSES_LAYOUT_DEFINITIONS_HPP
#define HEADRACE_PASSES_LAYOUT_DEFINITIONS_HPP

#include <headrace/passes/finish/ensure_distinct_outputs.hpp>
#include <headrace/passes/finish/sort_topologically.hpp>
#include <headrace/passes/fold/fold_constants.hpp>
#include <headrace/passes/fold/redundancies.hpp>
#include <headrace/passes/layout/choose_layouts.hpp>
#include <headrace/passes/layout/moving_ops.hpp>
#include <headrace/passes/npu/channel_selections.hpp>
#include <headrace/passes/npu/convolution_groups.hpp>
#include <headrace/passes/npu/strided_convolutions.hpp>

#endif
