// SPDX-License-Identifier: MIT
// Includes the definitions of the passes of headrace::composite_passes.
#ifndef HEADRACE_PASSES_DECOMPOSE_COMPOSITE_DEFINITIONS_HPP
#define HEADRACE_PASSES_DECOMPOSE_COMPOSITE_DEFINITIONS_HPP

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
