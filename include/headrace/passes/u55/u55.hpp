// SPDX-License-Identifier: MIT
// Defines headrace::u55_passes: from TOSA's integer profile to the subset that Ethos-U55 supports.
#ifndef HEADRACE_PASSES_U55_U55_HPP
#define HEADRACE_PASSES_U55_U55_HPP

#include <headrace/passes/properties.hpp>
#ifdef HEADRACE_DEFINES_PASSES
#include <headrace/passes/fold/redundancies.hpp>
#include <headrace/passes/u55/blend_conditions.hpp>
#include <headrace/passes/u55/expand_bits.hpp>
#include <headrace/passes/u55/expand_indices.hpp>
#include <headrace/passes/u55/expand_moves.hpp>
#include <headrace/passes/u55/expand_resize.hpp>
#include <headrace/passes/u55/expand_windows.hpp>
#include <headrace/passes/u55/number_booleans.hpp>
#include <headrace/passes/u55/stage_broadcasts.hpp>
#endif

namespace headrace {

/// Run after constants are folded, since known values determine what must be computed. Each pass makes ops
/// that the passes after it lower: first conditions, then indices, then booleans, bits and layouts. Copies of
/// constants come last, since folding would undo them.
using u55_passes = pass_list<blend_conditions, expand_gather, expand_extrema, number_booleans, expand_bits,
    expand_resize, expand_windows, rescale_before_moving, expand_moves, stage_broadcasts>;

}  // namespace headrace

#endif
