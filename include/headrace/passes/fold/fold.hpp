// SPDX-License-Identifier: MIT
// Defines headrace::fold_passes, which compute values that do not depend on inputs.
#ifndef HEADRACE_PASSES_FOLD_FOLD_HPP
#define HEADRACE_PASSES_FOLD_FOLD_HPP

#include <headrace/passes/properties.hpp>
#ifdef HEADRACE_DEFINES_PASSES
#include <headrace/passes/fold/fold_constants.hpp>
#include <headrace/passes/fold/redundancies.hpp>
#endif

namespace headrace {

/// Constants are computed by the context's evaluator; see headrace::fold_constants.
using fold_passes = pass_list<remove_dead_code, fold_constants, merge_equal_constants, merge_duplicates>;

}  // namespace headrace

#endif
