// SPDX-License-Identifier: MIT
// Includes the standard passes, their lists and the standard pipeline; with headrace::compiled, which has
// their code, only their declarations.
#ifndef HEADRACE_PASSES_PASSES_HPP
#define HEADRACE_PASSES_PASSES_HPP

#include <headrace/passes/standard_lowering.hpp>

#endif
