// SPDX-License-Identifier: MIT
// Defines headrace::composite_passes and decompose_passes: from compound ATen ops to simple ones.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_HPP

#include <boost/mp11/algorithm.hpp>

#include <headrace/passes/properties.hpp>
#ifdef HEADRACE_DEFINES_PASSES
#include <headrace/passes/decompose/activations.hpp>
#include <headrace/passes/decompose/arithmetic.hpp>
#include <headrace/passes/decompose/comparisons.hpp>
#include <headrace/passes/decompose/convolution.hpp>
#include <headrace/passes/decompose/indexing.hpp>
#include <headrace/passes/decompose/losses.hpp>
#include <headrace/passes/decompose/matmul.hpp>
#include <headrace/passes/decompose/normalization.hpp>
#include <headrace/passes/decompose/norms.hpp>
#include <headrace/passes/decompose/pooling.hpp>
#include <headrace/passes/decompose/powers.hpp>
#include <headrace/passes/decompose/products.hpp>
#include <headrace/passes/decompose/rearrangements.hpp>
#include <headrace/passes/decompose/recurrent.hpp>
#include <headrace/passes/decompose/resampling.hpp>
#include <headrace/passes/decompose/scans.hpp>
#include <headrace/passes/decompose/scatter.hpp>
#include <headrace/passes/decompose/searches.hpp>
#include <headrace/passes/decompose/sorting.hpp>
#include <headrace/passes/decompose/special.hpp>
#include <headrace/passes/decompose/statistics.hpp>
#include <headrace/passes/decompose/tables.hpp>
#include <headrace/passes/decompose/trigonometric.hpp>
#include <headrace/passes/merge/merge_linear_maps.hpp>
#include <headrace/passes/npu/convolution_groups.hpp>
#endif

namespace headrace {

/// Ordered so that no pass makes an op that an earlier one decomposes.
using composite_passes = pass_list<decompose_losses, decompose_class_losses, decompose_distances,
    decompose_diagonals, decompose_products, decompose_searches, decompose_extrema, decompose_quantiles,
    decompose_gradients, decompose_scatter_reduction, decompose_bags, decompose_tables, decompose_special>;

using decompose_passes = boost::mp11::mp_append<composite_passes,
    pass_list<decompose_einsum, decompose_rearrangements, decompose_normalization, decompose_recurrent,
        decompose_attention, decompose_bicubic, decompose_sampling, decompose_matmul, merge_linear_maps,
        decompose_batch_norm, join_groups, decompose_grouped_convolution, decompose_transposed_volumes,
        decompose_volumes, decompose_adaptive_pooling, decompose_dilated_pooling, decompose_stack,
        decompose_roll, decompose_repeats, decompose_shuffles, decompose_blocks, decompose_partial_writes,
        decompose_windows, decompose_as_strided, decompose_topk, decompose_sort, decompose_cumprod,
        decompose_var, decompose_mean, decompose_gelu, decompose_sigmoids, decompose_rectifiers,
        decompose_elu, decompose_softmax, decompose_fused_arithmetic, decompose_division, decompose_pow,
        decompose_norms, decompose_exponentials, decompose_hyperbolic, decompose_trigonometric,
        decompose_erfinv, decompose_rounding, decompose_predicates, decompose_masks, decompose_limits,
        decompose_comparisons>>;

}  // namespace headrace

#endif
