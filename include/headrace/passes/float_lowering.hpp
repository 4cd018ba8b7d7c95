// SPDX-License-Identifier: MIT
// Defines headrace::float_lowering, the standard pipeline from exported float programs to TOSA.
#ifndef HEADRACE_PASSES_FLOAT_LOWERING_HPP
#define HEADRACE_PASSES_FLOAT_LOWERING_HPP

#include <headrace/op/dim_order_ops.hpp>
#include <headrace/op/higher_order.hpp>
#include <headrace/pass/algebra.hpp>
#include <headrace/passes/decompose/decompose.hpp>
#include <headrace/passes/fold/fold.hpp>
#include <headrace/passes/layout/layout.hpp>
#include <headrace/passes/legalize/legalize.hpp>
#include <headrace/passes/normalize/narrow_int64.hpp>
#include <headrace/passes/normalize/normalize.hpp>

namespace headrace {

/// From ATen as torch.export leaves it, in training or core form, to TOSA 1.0. `Evaluator` computes constants; see
/// headrace::fold_constants.
template <class Evaluator>
struct float_lowering
    : pipeline_of<from<aten::dialect>, to<tosa::dialect, aten::dialect>, normalize_passes, decompose_passes,
                  pass_list<narrow_int64>, legalize_passes, layout_passes, fold_passes<Evaluator>,
                  pass_list<ensure_distinct_outputs>> {};

}  // namespace headrace

#endif
