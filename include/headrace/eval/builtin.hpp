// SPDX-License-Identifier: MIT
// Declares functions that run the graphs of a node: branches and loops.
#ifndef HEADRACE_EVAL_BUILTIN_HPP
#define HEADRACE_EVAL_BUILTIN_HPP

#include <headrace/eval/evaluation.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::eval {

void branch(evaluation& e, value condition, const graph* yes, const graph* no, list<value> operands);

/// Runs the body while the condition holds; all iterations share the operands `fixed`.
void loop(evaluation& e, const graph* condition, const graph* body, list<value> first, list<value> fixed);

}  // namespace headrace::eval

#endif
