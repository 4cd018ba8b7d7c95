// SPDX-License-Identifier: MIT
// Describes a board whose bank is too small for the arena of a model.
// EXPECT: target_does_not_take_model<
// EXPECT: bank_too_small<
// EXPECT: headrace::memory_use::arena, headrace::needs_bytes<20480>, headrace::has_bytes<

#include "../support/small_contract.hpp"

using namespace headrace;

struct kws : small_contract {
    struct on_device {
        static constexpr std::string_view core = "cortex-m4";
        static constexpr std::uint64_t arena_bytes = 20 << 10, state_bytes = 512, constant_bytes = 30 << 10;
    };
};
using board = banks<bank<"dtcm", 24_KiB, memory_use::arena, memory_use::state, memory_use::stack>,
    bank<"flash", 1_MiB, memory_use::constants>>;
static_assert(fits<board, kws>);
