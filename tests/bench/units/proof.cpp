// SPDX-License-Identifier: MIT
// All standard passes, and the proof of the standard pipeline without the code that runs it.
#include <headrace/passes/passes.hpp>

struct some_evaluator;  // never defined: nothing is run here
static_assert(headrace::standard_lowering<some_evaluator>::supported.size() > 0);
