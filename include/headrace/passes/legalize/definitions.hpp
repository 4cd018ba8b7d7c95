// SPDX-License-Identifier: MIT
// Includes the definitions of the passes of headrace::legalize_passes.
#ifndef HEADRACE_PASSES_LEGALIZE_DEFINITIONS_HPP
#define HEADRACE_PASSES_LEGALIZE_DEFINITIONS_HPP

#include <headrace/passes/legalize/legalize_any_all.hpp>
#include <headrace/passes/legalize/legalize_argmax.hpp>
#include <headrace/passes/legalize/legalize_binary.hpp>
#include <headrace/passes/legalize/legalize_bitwise.hpp>
#include <headrace/passes/legalize/legalize_cast.hpp>
#include <headrace/passes/legalize/legalize_clamp.hpp>
#include <headrace/passes/legalize/legalize_comparison.hpp>
#include <headrace/passes/legalize/legalize_concat.hpp>
#include <headrace/passes/legalize/legalize_control_flow.hpp>
#include <headrace/passes/legalize/legalize_convolution.hpp>
#include <headrace/passes/legalize/legalize_creation.hpp>
#include <headrace/passes/legalize/legalize_cumsum.hpp>
#include <headrace/passes/legalize/legalize_expand.hpp>
#include <headrace/passes/legalize/legalize_flip.hpp>
#include <headrace/passes/legalize/legalize_gather.hpp>
#include <headrace/passes/legalize/legalize_index.hpp>
#include <headrace/passes/legalize/legalize_index_put.hpp>
#include <headrace/passes/legalize/legalize_limits.hpp>
#include <headrace/passes/legalize/legalize_logical.hpp>
#include <headrace/passes/legalize/legalize_matmul.hpp>
#include <headrace/passes/legalize/legalize_one_hot.hpp>
#include <headrace/passes/legalize/legalize_pad.hpp>
#include <headrace/passes/legalize/legalize_permutes.hpp>
#include <headrace/passes/legalize/legalize_pooling.hpp>
#include <headrace/passes/legalize/legalize_products.hpp>
#include <headrace/passes/legalize/legalize_resize.hpp>
#include <headrace/passes/legalize/legalize_scatter.hpp>
#include <headrace/passes/legalize/legalize_slices.hpp>
#include <headrace/passes/legalize/legalize_splits.hpp>
#include <headrace/passes/legalize/legalize_sums.hpp>
#include <headrace/passes/legalize/legalize_unary.hpp>
#include <headrace/passes/legalize/legalize_views.hpp>
#include <headrace/passes/legalize/legalize_where.hpp>

#endif
