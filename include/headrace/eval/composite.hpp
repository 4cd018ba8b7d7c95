// SPDX-License-Identifier: MIT
// Declares headrace::eval::evaluate_decomposed.
#ifndef HEADRACE_EVAL_COMPOSITE_HPP
#define HEADRACE_EVAL_COMPOSITE_HPP

#include <headrace/eval/evaluation.hpp>

namespace headrace::eval {

/// Runs the decomposition of a node whose op is trait::composite.
void evaluate_decomposed(evaluation& e);

}  // namespace headrace::eval

#endif
