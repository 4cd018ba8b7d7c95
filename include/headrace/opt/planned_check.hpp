// SPDX-License-Identifier: MIT
// Defines headrace::check_planned_execution, which executes a graph in the memory of a plan.
#ifndef HEADRACE_OPT_PLANNED_CHECK_HPP
#define HEADRACE_OPT_PLANNED_CHECK_HPP

#include <algorithm>
#include <cstdint>
#include <span>

#include <headrace/base/text.hpp>
#include <headrace/memory/memory_plan.hpp>
#include <headrace/run/execution.hpp>

namespace headrace {

/// Plans memory as `planning` says and executes the graph in it. An error names the first output whose bytes
/// differ from an execution without a plan. Kernels have wider elements than files for a few dtypes, so the
/// executed plan is a separate one, which counts in executed_bytes().
[[nodiscard]] inline result<void> check_planned_execution(const graph& g, planning_options planning,
    std::span<const tensor> inputs, const own_operators& own = {}) {
    planning.bytes_of = &executed_bytes;
    planning.alignment = std::max<std::uint64_t>(planning.alignment, 8);
    HEADRACE_TRY(plan, make_memory_plan(g, planning));
    HEADRACE_TRY(verify_plan(g, plan));
    HEADRACE_TRY(expected, execute(g, inputs, own));
    HEADRACE_TRY(got, execute_planned(g, plan, inputs, own));
    for (std::size_t i = 0; i != expected.size(); ++i) {
        if (!std::ranges::equal(expected[i].bytes(), got[i].bytes()))
            return invalid({"output ", i, " is not the same when the model runs in planned memory"});
    }
    return {};
}

}  // namespace headrace

#endif
