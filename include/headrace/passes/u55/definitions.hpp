// SPDX-License-Identifier: MIT
// Includes the definitions of the passes of headrace::u55_passes.
#ifndef HEADRACE_PASSES_U55_DEFINITIONS_HPP
#define HEADRACE_PASSES_U55_DEFINITIONS_HPP

#include <headrace/passes/fold/redundancies.hpp>
#include <headrace/passes/u55/blend_conditions.hpp>
#include <headrace/passes/u55/expand_bits.hpp>
#include <headrace/passes/u55/expand_indices.hpp>
#include <headrace/passes/u55/expand_moves.hpp>
#include <headrace/passes/u55/expand_resize.hpp>
#include <headrace/passes/u55/expand_windows.hpp>
#include <headrace/passes/u55/number_booleans.hpp>

#endif
