// SPDX-License-Identifier: MIT
// All standard passes, and the proof of the standard pipeline without the code that runs it.
#include <headrace/passes/passes.hpp>

static_assert(headrace::standard_lowering<>::supported.size() > 0);
