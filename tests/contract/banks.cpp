// SPDX-License-Identifier: MIT
// Tests which banks of memory a contract fits in.
#include <catch2/catch.hpp>

#include <type_traits>

#include "../support/small_contract.hpp"

using namespace headrace;

namespace {

using enum memory_use;

struct banked : small_contract {
    struct on_device {
        static constexpr std::string_view core = "cortex-m4";
        static constexpr std::uint64_t arena_bytes = 300, state_bytes = 16, constant_bytes = 120,
                                       stack_bytes = 84;
    };
};

template <std::uint64_t Fast, std::uint64_t Slow, std::uint64_t Flash>
using three = banks<bank<"dtcm", Fast, arena, state, stack, constants>, bank<"sram", Slow, arena, state>,
    bank<"flash", Flash, constants>>;

static_assert(1_KiB == 1024 && 2_MiB == 2 << 20);
static_assert(fits<three<400, 0, 120>, banked>);
static_assert(fits<three<100, 300, 120>, banked>);
static_assert(fits<three<520, 0, 0>, banked>);
static_assert(fits<three<504, 0, 16>, banked>);
static_assert(std::is_same_v<misfit<three<299, 0, 120>, banked>,
    bank_too_small<"dtcm", arena, needs_bytes<300>, has_bytes<299>>>);
static_assert(std::is_same_v<misfit<three<83, 300, 120>, banked>,
    bank_too_small<"dtcm", stack, needs_bytes<84>, has_bytes<83>>>);
static_assert(
    std::is_same_v<misfit<three<400, 0, 119>, banked>, banks_too_small<needs_bytes<520>, has_bytes<519>>>);
static_assert(
    std::is_same_v<misfit<three<399, 0, 120>, banked>, banks_too_small<needs_bytes<520>, has_bytes<519>>>);
static_assert(
    std::is_same_v<misfit<banks<bank<"sram", 4096, arena, state, stack>>, banked>, no_bank_holds<constants>>);

// A target of an NPU asks for the lowered part's figures.
template <std::uint64_t Bytes>
struct board_with_banks : ethos_u55 {
    using memory_map = banks<bank<"sram", Bytes, arena>, bank<"flash", 2000, constants>>;
};
static_assert(fits<board_with_banks<1000>, small_contract>);
static_assert(std::is_same_v<misfit<board_with_banks<999>, small_contract>,
    bank_too_small<"sram", arena, needs_bytes<1000>, has_bytes<999>>>);
struct core_with_banks : core_target<"cortex-m4"> {
    using memory_map = three<400, 0, 120>;
};
static_assert(fits<core_with_banks, banked>);

}  // namespace

TEST_CASE("banks that a model fits in") { CHECK(fits<three<400, 0, 120>, banked>); }
