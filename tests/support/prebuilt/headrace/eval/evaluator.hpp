// SPDX-License-Identifier: MIT
// Stands before include/headrace/eval/evaluator.hpp in the include path of tests that execute graphs: the same
// functions, compiled once in support/evaluator.cpp, since all kernels take long to compile and tests are many.
#ifndef HEADRACE_EVAL_EVALUATOR_HPP
#define HEADRACE_EVAL_EVALUATOR_HPP

#include <span>
#include <vector>

#include <headrace/eval/evaluation.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/builtin.hpp>
#include <headrace/infer/dim_order_ops.hpp>
#include <headrace/infer/higher_order.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {
struct memory_plan;
}

namespace headrace::prebuilt {

[[nodiscard]] result<std::vector<eval::tensor>> evaluate_node(const node& n,
                                                              std::span<const eval::tensor> operands);
[[nodiscard]] result<std::vector<eval::tensor>> run_graph(const graph& g,
                                                          std::span<const eval::tensor> inputs);
[[nodiscard]] result<std::vector<eval::tensor>> run_planned(const graph& g, const memory_plan& plan,
                                                            std::span<const eval::tensor> inputs);

}  // namespace headrace::prebuilt

namespace headrace::eval {
using prebuilt::evaluate_node;
using prebuilt::run_graph;
using prebuilt::run_planned;
}  // namespace headrace::eval

namespace headrace {
using prebuilt::evaluate_node;
using prebuilt::run_graph;
using prebuilt::run_planned;
}  // namespace headrace

#endif
