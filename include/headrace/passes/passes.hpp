// SPDX-License-Identifier: MIT
// Includes the standard pipeline and all its passes. A file that wants a few passes does better to include
// those; passes/executorch_lowering.hpp has the pipeline for ExecuTorch's host kernels.
#ifndef HEADRACE_PASSES_PASSES_HPP
#define HEADRACE_PASSES_PASSES_HPP

#include <headrace/passes/decompose/decompose.hpp>
#include <headrace/passes/fold/fold.hpp>
#include <headrace/passes/layout/layout.hpp>
#include <headrace/passes/legalize/legalize.hpp>
#include <headrace/passes/normalize/normalize.hpp>
#include <headrace/passes/standard_lowering.hpp>
#if !defined(HEADRACE_COMPILED) || defined(HEADRACE_DEFINE_PASSES)
#include <headrace/passes/layout/remaining_transposes.hpp>
#endif

#endif
