// SPDX-License-Identifier: MIT
// Defines headrace::tuning, the phase of the passes that follow a target's preferences.
#ifndef HEADRACE_PASSES_NPU_TUNING_HPP
#define HEADRACE_PASSES_NPU_TUNING_HPP

#include <headrace/passes/tosa_only.hpp>

namespace headrace {

struct fuse_reshapes;
/// From TOSA to equivalent operators that the target runs faster. Layouts are chosen before, since they
/// determine which axis is the channels; weights rearranged here are folded afterwards.
struct tuning {
    using runs_after = pass_list<tosa_only, layouts_chosen>;
    using runs_before = pass_list<fuse_reshapes, constants_folded>;
    using invalidates = pass_list<constants_folded, no_dead_code, duplicates_merged, nodes_sorted>;
};

}  // namespace headrace

#endif
