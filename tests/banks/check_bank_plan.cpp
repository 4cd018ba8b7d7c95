// SPDX-License-Identifier: MIT
// Tests that the checker finds each fault of a plan over banks.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <headrace/banks/check_bank_plan.hpp>

using namespace headrace;

namespace {

memory_bank bank_of(std::string name, std::uint64_t bytes, memory_use use) {
    memory_bank b{.name = std::move(name), .bytes = bytes};
    b.allow(use);
    return b;
}

const memory_map board{
    .banks = {bank_of("sram", 64, memory_use::arena), bank_of("flash", 64, memory_use::constants)}};
const banked_models three{.names = {"m"},
    .items = {{.name = "x", .bytes = 20, .first = 0, .last = 1},
        {.name = "y", .bytes = 20, .first = 1, .last = 2},
        {.name = "w", .use = memory_use::constants, .bytes = 20}}};

std::string fault_of(const std::vector<bank_place>& places) {
    const auto checked = check_bank_plan(three, board, places);
    return checked ? "" : std::string(checked.error().message);
}

}  // namespace

TEST_CASE("a plan's faults are found") {
    CHECK(fault_of({{0, 0}, {0, 32}, {1, 0}}).empty());
    CHECK(fault_of({{0, 0}, {0, 16}, {1, 0}}) ==
        "two that are live at the same time overlap: 'x' (arena, 20 bytes at 0 of bank 'sram') and 'y' (arena, "
        "20 bytes at 16 of bank 'sram')");
    CHECK(fault_of({{0, 0}, {0, 30}, {1, 0}}) ==
        "'y' (arena, 20 bytes at 30 of bank 'sram'): the offset is no multiple of 16");
    CHECK(fault_of({{0, 0}, {0, 48}, {1, 0}}) ==
        "'y' (arena, 20 bytes at 48 of bank 'sram'): the bank ends at 64");
    CHECK(
        fault_of({{0, 0}, {0, ~std::uint64_t{15}}, {1, 0}}).find("the bank ends at 64") != std::string::npos);
    CHECK(fault_of({{0, 0}, {1, 32}, {1, 0}}) ==
        "'y' (arena, 20 bytes at 32 of bank 'flash'): the bank may not hold arena");
    CHECK(fault_of({{0, 0}, {7, 32}, {1, 0}}) == "'y' lies in no bank");
    CHECK(fault_of({{0, 0}}) == "the plan has 1 places, the models have 3 tensors");
}
