// SPDX-License-Identifier: MIT
// Includes the definitions of the passes of headrace::decompose_passes.
#ifndef HEADRACE_PASSES_DECOMPOSE_DEFINITIONS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DEFINITIONS_HPP

#include <headrace/passes/decompose/composite_definitions.hpp>
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
#include <headrace/passes/npu/convolution_groups.hpp>

#endif
