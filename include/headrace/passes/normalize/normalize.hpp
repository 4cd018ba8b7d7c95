// SPDX-License-Identifier: MIT
// Defines headrace::normalize_passes: from ATen as exported to fewer kinds of ATen.
#ifndef HEADRACE_PASSES_NORMALIZE_NORMALIZE_HPP
#define HEADRACE_PASSES_NORMALIZE_NORMALIZE_HPP

#include <headrace/passes/normalize/canonicalize_variants.hpp>
#include <headrace/passes/normalize/scalars_to_tensors.hpp>
#include <headrace/passes/normalize/canonicalize_convolutions.hpp>
#include <headrace/passes/normalize/canonicalize_pooling.hpp>

namespace headrace {

using normalize_passes = pass_list<canonicalize_variants, scalars_to_tensors, canonicalize_convolutions, canonicalize_pooling>;

}  // namespace headrace

#endif
