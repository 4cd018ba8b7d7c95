// SPDX-License-Identifier: MIT
// Defines the functions of headrace/run/planned_check.hpp.

#include <headrace/run/planned_check.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/zip.hpp>

#include <headrace/base/text.hpp>
#include <headrace/run/execution.hpp>

namespace headrace {

result<void> check_planned_execution(
    const graph& g, planning_options planning, std::span<const tensor> inputs, const own_operators& own) {
    planning.bytes_of = &executed_bytes;
    planning.alignment = std::max<std::uint64_t>(planning.alignment, 8);
    HEADRACE_TRY(plan, make_memory_plan(g, planning));
    HEADRACE_TRY(verify_plan(g, plan));
    HEADRACE_TRY(expected, execute(g, inputs, own));
    HEADRACE_TRY(got, execute_planned(g, plan, inputs, own));
    for (const auto& [i, outputs] : ranges::views::enumerate(ranges::views::zip(expected, got))) {
        if (!std::ranges::equal(outputs.first.bytes(), outputs.second.bytes()))
            return invalid({"output ", i, " is not the same when the model runs in planned memory"});
    }
    return {};
}

}  // namespace headrace
