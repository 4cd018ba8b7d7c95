// SPDX-License-Identifier: MIT
// Declares the standard passes, their lists and the standard pipeline: enough for proofs, and to run the
// pipeline in programs that link headrace::compiled. Other programs include passes/definitions.hpp to run
// passes.
#ifndef HEADRACE_PASSES_PASSES_HPP
#define HEADRACE_PASSES_PASSES_HPP

#include <headrace/passes/decompose/decompose.hpp>
#include <headrace/passes/fold/fold.hpp>
#include <headrace/passes/layout/layout.hpp>
#include <headrace/passes/legalize/legalize.hpp>
#include <headrace/passes/normalize/normalize.hpp>
#include <headrace/passes/standard_lowering.hpp>

#endif
