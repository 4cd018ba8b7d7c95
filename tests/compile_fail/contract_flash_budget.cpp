// SPDX-License-Identifier: MIT
// Defines a board with too little flash for its model.
// EXPECT: target_does_not_take_model<
// EXPECT: over_budget<headrace::budget::flash, headrace::needs_bytes<2000>, headrace::has_bytes<1999>>

#include "../support/small_contract.hpp"

using namespace headrace;

struct board : ethos_u85 {
    static constexpr std::uint64_t flash = 1999;
};
static_assert(fits<board, small_contract>);
