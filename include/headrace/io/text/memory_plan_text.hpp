// SPDX-License-Identifier: MIT
// Declares headrace::memory_plan_text, a memory plan as a table for people.
#ifndef HEADRACE_IO_TEXT_MEMORY_PLAN_TEXT_HPP
#define HEADRACE_IO_TEXT_MEMORY_PLAN_TEXT_HPP

#include <cstddef>
#include <string>

#include <headrace/memory/memory_plan.hpp>

namespace headrace {

/// Returns the title of a memory: the model's own, or that of a delegate that a host graph calls.
[[nodiscard]] std::string title_of_memory(const memory_plan& plan, std::size_t memory);

/// Returns for each memory its peak in bytes, next to the lower bound of any plan, and a line for each tensor
/// in it: offset, bytes, the first and the last step at which it is live, name and type.
[[nodiscard]] std::string memory_plan_text(const graph& g, const memory_plan& plan);

}  // namespace headrace

#endif
