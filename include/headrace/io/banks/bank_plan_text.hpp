// SPDX-License-Identifier: MIT
// Declares headrace::bank_plan_text, a plan over banks as tables for people.
#ifndef HEADRACE_IO_BANKS_BANK_PLAN_TEXT_HPP
#define HEADRACE_IO_BANKS_BANK_PLAN_TEXT_HPP

#include <string>

#include <headrace/banks/bank_plan.hpp>

namespace headrace {

/// Returns a line for each bank with the bytes in use, the lower bound and what it holds; the cycles of all
/// accesses; and a line for each tensor: bank, offset, bytes, lifetime, bytes accessed, name.
[[nodiscard]] std::string bank_plan_text(
    const banked_models& models, const memory_map& map, const bank_plan& plan);

}  // namespace headrace

#endif
