// SPDX-License-Identifier: MIT
// Declares headrace::execute and other functions that know every dialect at run time: kernels and inference
// rules.
#ifndef HEADRACE_RUN_EXECUTION_HPP
#define HEADRACE_RUN_EXECUTION_HPP

#include <cstdint>
#include <span>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/eval/fold.hpp>
#include <headrace/eval/own_operators.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

struct memory_plan;

/// Executes a graph of any dialects on the CPU; `own` has the ops of user-defined dialects. A tensor of 2^31
/// elements or more is an error.
[[nodiscard]] result<std::vector<tensor>> execute(
    const graph& g, std::span<const tensor> inputs, const own_operators& own = {});

/// Executes a graph in the memory of a plan, whose sizes must be those of executed_bytes().
[[nodiscard]] result<std::vector<tensor>> execute_planned(
    const graph& g, const memory_plan& plan, std::span<const tensor> inputs, const own_operators& own = {});

/// Returns the bytes of a tensor during execution, where a few dtypes have wider elements than in files.
[[nodiscard]] std::uint64_t executed_bytes(const tensor_meta& meta);

/// Makes a graph functional, so that it can be executed and its parts lowered alone: regions are inlined and
/// nothing is written in place. An error names the first node for which that is impossible.
[[nodiscard]] result<void> make_functional(graph& g);

/// Infers shapes and dtypes of any node, for passes that meet one without `val`.
[[nodiscard]] result<void> infer_node(const node& n, inference& out);

/// Lets passes infer and compute nodes of any of Headrace's dialects: `pass_context
/// context(standard_functions)`.
inline constexpr node_functions standard_functions{&infer_node, &eval::folding};

/// Returns an error if the context has no evaluator: a lowering would fold no constants, and say nothing.
[[nodiscard]] result<void> check_evaluator(const pass_context& context);

/// Infers the metadata that nodes of a graph lack. An error names the first value that is needed but whose
/// dtype and shape are neither given nor inferable: an input, or a result that is used.
[[nodiscard]] result<void> complete_metadata(graph& g);

/// Verifies that the metadata of each node agrees with its op: files may claim anything.
[[nodiscard]] result<void> verify_metadata(const graph& g);

}  // namespace headrace

#endif
