// SPDX-License-Identifier: MIT
// Defines headrace::layout_passes, which remove transposes and reshapes, and make outputs as TOSA requires.
#ifndef HEADRACE_PASSES_LAYOUT_LAYOUT_HPP
#define HEADRACE_PASSES_LAYOUT_LAYOUT_HPP

#include <headrace/passes/properties.hpp>
#ifdef HEADRACE_DEFINES_PASSES
#include <headrace/passes/finish/finish.hpp>
#include <headrace/passes/fold/fold_constants.hpp>
#include <headrace/passes/fold/redundancies.hpp>
#include <headrace/passes/layout/choose_layouts.hpp>
#include <headrace/passes/layout/moving_ops.hpp>
#include <headrace/passes/layout/repeating.hpp>
#include <headrace/passes/npu/channel_selections.hpp>
#include <headrace/passes/npu/convolution_groups.hpp>
#include <headrace/passes/npu/mixed_heads.hpp>
#include <headrace/passes/npu/strided_convolutions.hpp>
#endif

namespace headrace {

/// Constants are folded before layouts are chosen, since weights take any layout.
using layout_passes = pass_list<sort_topologically, lay_out_interface, remove_noop_layout, broadcast_repeats,
    fuse_clamps, fuse_reshapes, fuse_transposes, read_blocks, select_by_convolution, split_convolutions,
    mix_heads, remove_dead_code, fold_constants, choose_layouts, crop_after_transpose,
    transpose_by_convolution, merge_transposed_axes>;

/// Folds weights that have been transposed or rearranged into constants again.
using cleanup_passes = pass_list<fuse_reshapes, remove_dead_code, fold_constants>;
using settling_passes [[deprecated("say cleanup_passes")]] = cleanup_passes;

}  // namespace headrace

#endif
