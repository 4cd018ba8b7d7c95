// SPDX-License-Identifier: MIT
// Includes the definitions of the passes of headrace/passes/normalize.
#ifndef HEADRACE_PASSES_NORMALIZE_DEFINITIONS_HPP
#define HEADRACE_PASSES_NORMALIZE_DEFINITIONS_HPP

#include <headrace/passes/decompose/arithmetic.hpp>
#include <headrace/passes/normalize/casts_and_copies.hpp>
#include <headrace/passes/normalize/functionalize.hpp>
#include <headrace/passes/normalize/narrow_types.hpp>
#include <headrace/passes/normalize/regions.hpp>
#include <headrace/passes/normalize/variants.hpp>
#include <headrace/passes/normalize/widen_unsigned.hpp>
#include <headrace/passes/normalize/windows.hpp>

#endif
