// SPDX-License-Identifier: MIT
// Defines headrace::decompose_passes: from compound ATen ops to simple ones.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_HPP

#include <boost/mp11/algorithm.hpp>

#include <headrace/passes/decompose/composite.hpp>
#include <headrace/passes/properties.hpp>
#ifdef HEADRACE_DEFINES_PASSES
#include <headrace/passes/decompose/decompose_adaptive_pooling.hpp>
#include <headrace/passes/decompose/decompose_as_strided.hpp>
#include <headrace/passes/decompose/decompose_attention.hpp>
#include <headrace/passes/decompose/decompose_batch_norm.hpp>
#include <headrace/passes/decompose/decompose_bicubic.hpp>
#include <headrace/passes/decompose/decompose_blocks.hpp>
#include <headrace/passes/decompose/decompose_comparisons.hpp>
#include <headrace/passes/decompose/decompose_cumprod.hpp>
#include <headrace/passes/decompose/decompose_dilated_pooling.hpp>
#include <headrace/passes/decompose/decompose_division.hpp>
#include <headrace/passes/decompose/decompose_einsum.hpp>
#include <headrace/passes/decompose/decompose_elu.hpp>
#include <headrace/passes/decompose/decompose_erfinv.hpp>
#include <headrace/passes/decompose/decompose_exponentials.hpp>
#include <headrace/passes/decompose/decompose_fused_arithmetic.hpp>
#include <headrace/passes/decompose/decompose_gelu.hpp>
#include <headrace/passes/decompose/decompose_grouped_convolution.hpp>
#include <headrace/passes/decompose/decompose_hyperbolic.hpp>
#include <headrace/passes/decompose/decompose_limits.hpp>
#include <headrace/passes/decompose/decompose_masks.hpp>
#include <headrace/passes/decompose/decompose_matmul.hpp>
#include <headrace/passes/decompose/decompose_mean.hpp>
#include <headrace/passes/decompose/decompose_normalization.hpp>
#include <headrace/passes/decompose/decompose_norms.hpp>
#include <headrace/passes/decompose/decompose_partial_writes.hpp>
#include <headrace/passes/decompose/decompose_pow.hpp>
#include <headrace/passes/decompose/decompose_predicates.hpp>
#include <headrace/passes/decompose/decompose_rearrangements.hpp>
#include <headrace/passes/decompose/decompose_rectifiers.hpp>
#include <headrace/passes/decompose/decompose_recurrent.hpp>
#include <headrace/passes/decompose/decompose_repeats.hpp>
#include <headrace/passes/decompose/decompose_roll.hpp>
#include <headrace/passes/decompose/decompose_rounding.hpp>
#include <headrace/passes/decompose/decompose_sampling.hpp>
#include <headrace/passes/decompose/decompose_shuffles.hpp>
#include <headrace/passes/decompose/decompose_sigmoids.hpp>
#include <headrace/passes/decompose/decompose_softmax.hpp>
#include <headrace/passes/decompose/decompose_sort.hpp>
#include <headrace/passes/decompose/decompose_stack.hpp>
#include <headrace/passes/decompose/decompose_topk.hpp>
#include <headrace/passes/decompose/decompose_transposed_volumes.hpp>
#include <headrace/passes/decompose/decompose_trigonometric.hpp>
#include <headrace/passes/decompose/decompose_var.hpp>
#include <headrace/passes/decompose/decompose_volumes.hpp>
#include <headrace/passes/decompose/decompose_windows.hpp>
#include <headrace/passes/npu/join_groups.hpp>
#endif

namespace headrace {

using decompose_passes = boost::mp11::mp_append<composite_passes,
    pass_list<decompose_einsum, decompose_rearrangements, decompose_normalization, decompose_recurrent,
        decompose_attention, decompose_bicubic, decompose_sampling, decompose_matmul, decompose_batch_norm,
        join_groups, decompose_grouped_convolution, decompose_transposed_volumes, decompose_volumes,
        decompose_adaptive_pooling, decompose_dilated_pooling, decompose_stack, decompose_roll,
        decompose_repeats, decompose_shuffles, decompose_blocks, decompose_partial_writes, decompose_windows,
        decompose_as_strided, decompose_topk, decompose_sort, decompose_cumprod, decompose_var,
        decompose_mean, decompose_gelu, decompose_sigmoids, decompose_rectifiers, decompose_elu,
        decompose_softmax, decompose_fused_arithmetic, decompose_division, decompose_pow, decompose_norms,
        decompose_exponentials, decompose_hyperbolic, decompose_trigonometric, decompose_erfinv,
        decompose_rounding, decompose_predicates, decompose_masks, decompose_limits, decompose_comparisons>>;

}  // namespace headrace

#endif
