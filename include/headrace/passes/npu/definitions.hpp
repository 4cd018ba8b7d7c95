// SPDX-License-Identifier: MIT
// Includes the definitions of the passes of headrace::npu_passes.
#ifndef HEADRACE_PASSES_NPU_DEFINITIONS_HPP
#define HEADRACE_PASSES_NPU_DEFINITIONS_HPP

#include <headrace/passes/npu/add_at_unit_scale.hpp>
#include <headrace/passes/npu/convolve_sums.hpp>
#include <headrace/passes/npu/copy_before_planes.hpp>
#include <headrace/passes/npu/halve_windows.hpp>
#include <headrace/passes/npu/join_patches.hpp>
#include <headrace/passes/npu/merge_selections.hpp>
#include <headrace/passes/npu/pair_columns.hpp>
#include <headrace/passes/npu/pool_maxima.hpp>
#include <headrace/passes/npu/read_last_column.hpp>
#include <headrace/passes/npu/remove_whole_clamps.hpp>
#include <headrace/passes/npu/stage_image.hpp>
#include <headrace/passes/npu/transpose_before_matmul.hpp>

#endif
