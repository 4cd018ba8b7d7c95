// SPDX-License-Identifier: MIT
// Declares the standard passes, their lists and the standard pipeline: what proofs need, and what runs it in
// programs that link headrace::compiled. Others include passes/definitions.hpp where they run passes.
#ifndef HEADRACE_PASSES_PASSES_HPP
#define HEADRACE_PASSES_PASSES_HPP

#include <headrace/passes/decompose/decompose.hpp>
#include <headrace/passes/fold/fold.hpp>
#include <headrace/passes/layout/layout.hpp>
#include <headrace/passes/legalize/legalize.hpp>
#include <headrace/passes/normalize/normalize.hpp>
#include <headrace/passes/standard_lowering.hpp>

#endif
