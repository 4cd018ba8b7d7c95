// SPDX-License-Identifier: MIT
// Includes the definitions of the passes of headrace::normalize_passes.
#ifndef HEADRACE_PASSES_NORMALIZE_DEFINITIONS_HPP
#define HEADRACE_PASSES_NORMALIZE_DEFINITIONS_HPP

#include <headrace/passes/decompose/arithmetic.hpp>
#include <headrace/passes/normalize/canonicalize_arithmetic.hpp>
#include <headrace/passes/normalize/canonicalize_casts.hpp>
#include <headrace/passes/normalize/canonicalize_convolutions.hpp>
#include <headrace/passes/normalize/canonicalize_fills.hpp>
#include <headrace/passes/normalize/canonicalize_pooling.hpp>
#include <headrace/passes/normalize/canonicalize_variants.hpp>
#include <headrace/passes/normalize/functionalize.hpp>
#include <headrace/passes/normalize/hoist_casts.hpp>
#include <headrace/passes/normalize/inline_regions.hpp>
#include <headrace/passes/normalize/move_constants_into_regions.hpp>
#include <headrace/passes/normalize/remove_noop.hpp>
#include <headrace/passes/normalize/scalars_to_tensors.hpp>

#endif
