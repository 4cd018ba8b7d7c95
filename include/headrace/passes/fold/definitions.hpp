// SPDX-License-Identifier: MIT
// Includes the definitions of the passes of headrace::fold_passes.
#ifndef HEADRACE_PASSES_FOLD_DEFINITIONS_HPP
#define HEADRACE_PASSES_FOLD_DEFINITIONS_HPP

#include <headrace/passes/fold/fold_constants.hpp>
#include <headrace/passes/fold/redundancies.hpp>

#endif
