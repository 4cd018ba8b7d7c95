// SPDX-License-Identifier: MIT
// Declares headrace::too_small_bank, the error of models that do not fit in the banks of a board.
#ifndef HEADRACE_BANKS_TOO_SMALL_BANK_HPP
#define HEADRACE_BANKS_TOO_SMALL_BANK_HPP

#include <headrace/banks/bank_plan.hpp>
#include <headrace/base/error.hpp>

namespace headrace {

/// Returns which bank lacks how many bytes when the items fill the others, and the largest tensors that are
/// live there at its fullest step.
[[nodiscard]] error too_small_bank(const banked_models& models, const memory_map& map);

}  // namespace headrace

#endif
