// SPDX-License-Identifier: MIT
// Defines a board with too little memory for its model.
// EXPECT: target_does_not_take_model<
// EXPECT: over_budget<headrace::budget::memory, headrace::needs_bytes<1000>, headrace::has_bytes<999>>

#include "../support/small_contract.hpp"

using namespace headrace;

struct board : ethos_u55 {
    static constexpr std::uint64_t memory = 999;
};
static_assert(fits<board, small_contract>);
