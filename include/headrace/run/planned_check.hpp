// SPDX-License-Identifier: MIT
// Declares headrace::check_planned_execution, which executes a graph in the memory of a plan.
#ifndef HEADRACE_RUN_PLANNED_CHECK_HPP
#define HEADRACE_RUN_PLANNED_CHECK_HPP

#include <span>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/eval/own_operators.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/memory/memory_plan.hpp>

namespace headrace {

/// Plans memory as `planning` says and executes the graph in it. An error names the first output whose bytes
/// differ from an execution without a plan. Kernels have wider elements than files for a few dtypes, so the
/// executed plan is a separate one, which counts in executed_bytes().
[[nodiscard]] result<void> check_planned_execution(
    const graph& g, planning_options planning, std::span<const tensor> inputs, const own_operators& own = {});

/// The line for a check that has succeeded.
inline constexpr std::string_view verified_plan =
    "verified: executed in the planned memory, the outputs are those of an execution without a plan";

}  // namespace headrace

#endif
