// SPDX-License-Identifier: MIT
// Declares headrace::check_bank_plan, which shares no code with the planner.
#ifndef HEADRACE_BANKS_CHECK_BANK_PLAN_HPP
#define HEADRACE_BANKS_CHECK_BANK_PLAN_HPP

#include <span>

#include <headrace/banks/bank_plan.hpp>
#include <headrace/base/result.hpp>

namespace headrace {

/// Checks that each item is in a bank that may hold it, is aligned, ends within the bank, and shares no byte
/// with another that is live at the same time: pair by pair. The error names the item, or both.
[[nodiscard]] result<void> check_bank_plan(
    const banked_models& models, const memory_map& map, std::span<const bank_place> places);

}  // namespace headrace

#endif
