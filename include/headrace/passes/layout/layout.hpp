// SPDX-License-Identifier: MIT
// Defines headrace::layout_passes: fewer transposes and reshapes, and outputs as TOSA wants them.
#ifndef HEADRACE_PASSES_LAYOUT_LAYOUT_HPP
#define HEADRACE_PASSES_LAYOUT_LAYOUT_HPP

#include <headrace/passes/layout/ensure_distinct_outputs.hpp>
#include <headrace/passes/layout/fuse_clamps.hpp>
#include <headrace/passes/layout/fuse_reshapes.hpp>
#include <headrace/passes/layout/fuse_transposes.hpp>
#include <headrace/passes/layout/merge_transposed_axes.hpp>
#include <headrace/passes/layout/remove_noop_layout.hpp>
#include <headrace/passes/layout/sink_transposes.hpp>
#include <headrace/passes/layout/sort_topologically.hpp>

namespace headrace {

using layout_passes =
    pass_list<sort_topologically, remove_noop_layout, fuse_clamps, fuse_reshapes, fuse_transposes,
              sink_transposes, fuse_transposes, merge_transposed_axes, fuse_reshapes>;

}  // namespace headrace

#endif
