// SPDX-License-Identifier: MIT
// Defines headrace::composite_passes: from the composite functions that torch.export keeps whole to ops that
// passes, kernels and quantizers handle.
#ifndef HEADRACE_PASSES_DECOMPOSE_COMPOSITE_HPP
#define HEADRACE_PASSES_DECOMPOSE_COMPOSITE_HPP

#include <headrace/passes/properties.hpp>
#ifdef HEADRACE_DEFINES_PASSES
#include <headrace/passes/decompose/decompose_bags.hpp>
#include <headrace/passes/decompose/decompose_diagonals.hpp>
#include <headrace/passes/decompose/decompose_distances.hpp>
#include <headrace/passes/decompose/decompose_extrema.hpp>
#include <headrace/passes/decompose/decompose_gradients.hpp>
#include <headrace/passes/decompose/decompose_losses.hpp>
#include <headrace/passes/decompose/decompose_products.hpp>
#include <headrace/passes/decompose/decompose_quantiles.hpp>
#include <headrace/passes/decompose/decompose_scatter_reduction.hpp>
#include <headrace/passes/decompose/decompose_searches.hpp>
#include <headrace/passes/decompose/decompose_special.hpp>
#include <headrace/passes/decompose/decompose_tables.hpp>
#endif

namespace headrace {

/// Ordered so that no pass makes an op that an earlier one decomposes.
using composite_passes = pass_list<decompose_losses, decompose_class_losses, decompose_distances,
    decompose_diagonals, decompose_products, decompose_searches, decompose_extrema, decompose_quantiles,
    decompose_gradients, decompose_scatter_reduction, decompose_bags, decompose_tables, decompose_special>;

}  // namespace headrace

#endif
