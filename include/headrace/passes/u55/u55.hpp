// SPDX-License-Identifier: MIT
// Defines headrace::u55_passes: from TOSA's integer profile to what Ethos-U55 has of it.
#ifndef HEADRACE_PASSES_U55_U55_HPP
#define HEADRACE_PASSES_U55_U55_HPP

#include <headrace/passes/properties.hpp>
#if !defined(HEADRACE_COMPILED) || defined(HEADRACE_DEFINE_PASSES)
#include <headrace/passes/fold/merge_duplicates.hpp>
#include <headrace/passes/u55/blend_conditions.hpp>
#include <headrace/passes/u55/expand_bits.hpp>
#include <headrace/passes/u55/expand_extrema.hpp>
#include <headrace/passes/u55/expand_gather.hpp>
#include <headrace/passes/u55/expand_moves.hpp>
#include <headrace/passes/u55/expand_resize.hpp>
#include <headrace/passes/u55/expand_windows.hpp>
#include <headrace/passes/u55/number_booleans.hpp>
#include <headrace/passes/u55/rescale_before_moving.hpp>
#endif

namespace headrace {

/// After constants are folded, as what is known decides what has to be computed. Each pass makes what the
/// ones after it lower: first conditions, then indices, then booleans, bits and layouts.
using u55_passes = pass_list<blend_conditions, expand_gather, expand_extrema, number_booleans, expand_bits,
                             expand_resize, expand_windows, rescale_before_moving, expand_moves>;

}  // namespace headrace

#endif
