// SPDX-License-Identifier: MIT
// Includes the definitions of the passes of headrace::decompose_passes.
#ifndef HEADRACE_PASSES_DECOMPOSE_DEFINITIONS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DEFINITIONS_HPP

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
#include <headrace/passes/npu/convolution_groups.hpp>

#endif
