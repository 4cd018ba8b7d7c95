// SPDX-License-Identifier: MIT
// Defines headrace::decompose_passes: from compound ATen ops to simple ones.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_HPP

#include <headrace/passes/decompose/decompose_normalization.hpp>
#include <headrace/passes/decompose/decompose_recurrent.hpp>
#include <headrace/passes/decompose/decompose_attention.hpp>
#include <headrace/passes/decompose/decompose_matmul.hpp>
#include <headrace/passes/decompose/decompose_batch_norm.hpp>
#include <headrace/passes/decompose/decompose_grouped_convolution.hpp>
#include <headrace/passes/decompose/decompose_adaptive_pooling.hpp>
#include <headrace/passes/decompose/decompose_dilated_pooling.hpp>

namespace headrace {

using decompose_passes = pass_list<decompose_normalization, decompose_recurrent, decompose_attention, decompose_matmul, decompose_batch_norm, decompose_grouped_convolution, decompose_adaptive_pooling, decompose_dilated_pooling>;

}  // namespace headrace

#endif
