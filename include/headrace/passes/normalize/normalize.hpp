// SPDX-License-Identifier: MIT
// Defines headrace::normalize_passes: from exported ATen to fewer forms of ATen.
#ifndef HEADRACE_PASSES_NORMALIZE_NORMALIZE_HPP
#define HEADRACE_PASSES_NORMALIZE_NORMALIZE_HPP

#include <headrace/passes/properties.hpp>

namespace headrace {

using normalize_passes =
    pass_list<inline_regions, move_constants_into_regions, functionalize, canonicalize_variants,
        canonicalize_arithmetic, canonicalize_casts, canonicalize_fills, remove_noop, hoist_casts,
        scalars_to_tensors, decompose_add_sub_alpha, canonicalize_convolutions, canonicalize_pooling>;

}  // namespace headrace

#endif
