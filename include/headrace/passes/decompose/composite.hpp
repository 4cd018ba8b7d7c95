// SPDX-License-Identifier: MIT
// Defines headrace::composite_passes: from the composite functions that torch.export keeps whole to ops that
// passes, kernels and quantizers handle.
#ifndef HEADRACE_PASSES_DECOMPOSE_COMPOSITE_HPP
#define HEADRACE_PASSES_DECOMPOSE_COMPOSITE_HPP

#include <headrace/passes/properties.hpp>

namespace headrace {

/// Ordered so that no pass makes an op that an earlier one decomposes.
using composite_passes = pass_list<decompose_losses, decompose_class_losses, decompose_distances,
    decompose_diagonals, decompose_products, decompose_searches, decompose_extrema, decompose_quantiles,
    decompose_gradients, decompose_scatter_reduction, decompose_bags, decompose_tables, decompose_special>;

}  // namespace headrace

#endif
