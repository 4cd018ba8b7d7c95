// SPDX-License-Identifier: MIT
// Defines headrace::npu_passes, which rewrite graphs to equivalent operators that the target runs faster.
#ifndef HEADRACE_PASSES_NPU_NPU_HPP
#define HEADRACE_PASSES_NPU_NPU_HPP

#include <headrace/passes/properties.hpp>
#ifdef HEADRACE_DEFINES_PASSES
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

namespace headrace {

/// The order does not matter. Targets without preferences skip them all (target/preferences.hpp).
using npu_passes = pass_list<merge_selections, join_patches, halve_windows, stage_image, pair_columns,
    read_last_column, convolve_sums, pool_maxima, add_at_unit_scale, transpose_before_matmul,
    copy_before_planes, remove_whole_clamps>;

}  // namespace headrace

#endif
