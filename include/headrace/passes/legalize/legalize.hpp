// SPDX-License-Identifier: MIT
// Defines headrace::legalize_passes: from simple ATen ops to TOSA.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_HPP

#include <headrace/passes/legalize/legalize_unary.hpp>
#include <headrace/passes/legalize/legalize_views.hpp>
#include <headrace/passes/legalize/legalize_convolution.hpp>
#include <headrace/passes/legalize/legalize_pooling.hpp>
#include <headrace/passes/legalize/legalize_matmul.hpp>
#include <headrace/passes/legalize/legalize_resize.hpp>

namespace headrace {

using legalize_passes = pass_list<legalize_unary, legalize_views, legalize_convolution, legalize_pooling, legalize_matmul, legalize_resize>;

}  // namespace headrace

#endif
