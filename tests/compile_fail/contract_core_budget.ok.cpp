// SPDX-License-Identifier: MIT
// Defines a microcontroller with too little memory for a model as a C++ type.
// EXPECT: target_does_not_take_model<
// EXPECT: over_budget<headrace::budget::memory, headrace::needs_bytes<25>, headrace::has_bytes<24>>

#include "../support/small_contract.hpp"

using namespace headrace;

struct kws : small_contract {
    struct on_device {
        static constexpr std::string_view core = "cortex-m4";
        static constexpr std::uint64_t arena_bytes = 20, state_bytes = 5, constant_bytes = 7;
    };
};
struct board : core_target<"cortex-m4"> {
    static constexpr std::uint64_t memory = 25;
};
static_assert(fits<board, kws>);
