// SPDX-License-Identifier: MIT
// Defines headrace::normalize_passes: from exported ATen to fewer forms of ATen.
#ifndef HEADRACE_PASSES_NORMALIZE_NORMALIZE_HPP
#define HEADRACE_PASSES_NORMALIZE_NORMALIZE_HPP

#include <headrace/passes/properties.hpp>
#ifdef HEADRACE_DEFINES_PASSES
#include <headrace/passes/decompose/decompose_add_sub_alpha.hpp>
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

namespace headrace {

using normalize_passes =
    pass_list<inline_regions, move_constants_into_regions, functionalize, canonicalize_variants,
        canonicalize_arithmetic, canonicalize_casts, canonicalize_fills, remove_noop, hoist_casts,
        scalars_to_tensors, decompose_add_sub_alpha, canonicalize_convolutions, canonicalize_pooling>;

}  // namespace headrace

#endif
