// SPDX-License-Identifier: MIT
// Defines headrace::legalize_passes: from simple ATen ops to TOSA.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_HPP

#include <headrace/passes/legalize/legalize_unary.hpp>
#include <headrace/passes/legalize/legalize_views.hpp>

namespace headrace {

using legalize_passes = pass_list<legalize_unary, legalize_views>;

}  // namespace headrace

#endif
