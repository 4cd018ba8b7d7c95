// SPDX-License-Identifier: MIT
// Defines headrace::legalize_passes: from simple ATen ops to TOSA.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_HPP

#include <headrace/passes/properties.hpp>
#ifdef HEADRACE_DEFINES_PASSES
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

namespace headrace {

using legalize_passes = pass_list<legalize_control_flow, legalize_creation, legalize_cast, legalize_unary,
    legalize_clamp, legalize_binary, legalize_comparison, legalize_logical, legalize_bitwise, legalize_where,
    legalize_views, legalize_convolution, legalize_pooling, legalize_matmul, legalize_resize, legalize_concat,
    legalize_permutes, legalize_expand, legalize_slices, legalize_splits, legalize_pad, legalize_flip,
    legalize_sums, legalize_products, legalize_limits, legalize_any_all, legalize_argmax, legalize_cumsum,
    legalize_gather, legalize_scatter, legalize_index, legalize_index_put, legalize_one_hot>;

}  // namespace headrace

#endif
