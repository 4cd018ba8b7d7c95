// SPDX-License-Identifier: MIT
// Defines headrace::normalize_passes: from exported ATen to fewer forms of ATen.
#ifndef HEADRACE_PASSES_NORMALIZE_NORMALIZE_HPP
#define HEADRACE_PASSES_NORMALIZE_NORMALIZE_HPP

#include <headrace/passes/properties.hpp>
#ifdef HEADRACE_DEFINES_PASSES
#include <headrace/passes/decompose/arithmetic.hpp>
#include <headrace/passes/decompose/complex.hpp>
#include <headrace/passes/normalize/casts_and_copies.hpp>
#include <headrace/passes/normalize/functionalize.hpp>
#include <headrace/passes/normalize/narrow_types.hpp>
#include <headrace/passes/normalize/regions.hpp>
#include <headrace/passes/normalize/variants.hpp>
#include <headrace/passes/normalize/widen_unsigned.hpp>
#include <headrace/passes/normalize/windows.hpp>
#endif

namespace headrace {

using normalize_passes = pass_list<inline_regions, move_constants_into_regions, functionalize,
    canonicalize_variants, decompose_complex, canonicalize_arithmetic, canonicalize_casts, canonicalize_fills,
    remove_noop, hoist_casts, scalars_to_tensors, decompose_add_sub_alpha, canonicalize_convolutions,
    canonicalize_pooling>;

}  // namespace headrace

#endif
