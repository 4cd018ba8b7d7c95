// SPDX-License-Identifier: MIT
// Defines headrace::legalize_passes: from simple ATen ops to TOSA.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_HPP

#include <headrace/passes/properties.hpp>
#ifdef HEADRACE_DEFINES_PASSES
#include <headrace/passes/legalize/control_flow.hpp>
#include <headrace/passes/legalize/convolution.hpp>
#include <headrace/passes/legalize/elementwise.hpp>
#include <headrace/passes/legalize/gather_scatter.hpp>
#include <headrace/passes/legalize/reduction.hpp>
#include <headrace/passes/legalize/shape.hpp>
#include <headrace/passes/legalize/slicing.hpp>
#include <headrace/passes/legalize/tensor_indices.hpp>
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
