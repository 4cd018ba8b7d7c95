// SPDX-License-Identifier: MIT
// Declares headrace::run_graph, headrace::run_planned and headrace::evaluate_node, which execute graphs of
#ifndef HEADRACE_EVAL_EVALUATOR_HPP
#define HEADRACE_EVAL_EVALUATOR_HPP

#include <span>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/own_operators.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {
struct memory_plan;
}

namespace headrace::eval {

/// Returns the values of a node's results for the given values of its operands, in the order of its operand
/// edges.
[[nodiscard]] result<std::vector<tensor>> evaluate_node(const node& n, std::span<const tensor> operands);

/// Returns the values of a graph's outputs for the given values of its inputs. A value is freed as soon as
/// its last user has run. `own` has the ops of user-defined dialects: `operators_of<my::dialect>` of
/// eval/evaluation.hpp.
[[nodiscard]] result<std::vector<tensor>> run_graph(
    const graph& g, std::span<const tensor> inputs, const own_operators& own = {});

/// Runs a graph with every tensor of the plan at its offset in one block per memory of the plan. The plan
/// must count in `eval::evaluated_bytes`. An incorrect plan gives incorrect results.
[[nodiscard]] result<std::vector<tensor>> run_planned(
    const graph& g, const memory_plan& plan, std::span<const tensor> inputs, const own_operators& own = {});

}  // namespace headrace::eval

namespace headrace {
using eval::evaluate_node;
using eval::run_graph;
using eval::run_planned;
}  // namespace headrace

#endif
