// SPDX-License-Identifier: MIT
// Includes passes/passes.hpp and, unless headrace::compiled provides their code, the definitions of the
// standard passes, at ten times the compile time.
#ifndef HEADRACE_PASSES_DEFINITIONS_HPP
#define HEADRACE_PASSES_DEFINITIONS_HPP

#ifndef HEADRACE_COMPILED
#include <headrace/passes/decompose/definitions.hpp>
#include <headrace/passes/fold/definitions.hpp>
#include <headrace/passes/layout/definitions.hpp>
#include <headrace/passes/layout/remaining_transposes.hpp>
#include <headrace/passes/legalize/definitions.hpp>
#include <headrace/passes/normalize/definitions.hpp>
#include <headrace/passes/npu/definitions.hpp>
#include <headrace/passes/quantize/definitions.hpp>
#include <headrace/passes/quantize/quantized_storage.hpp>
#include <headrace/passes/u55/definitions.hpp>
#endif
#include <headrace/passes/passes.hpp>

#endif
