// SPDX-License-Identifier: MIT
// Tests lookup in tables with open addressing.
#include <catch2/catch.hpp>

#include <array>

#include <headrace/base/slots.hpp>

using namespace headrace;

TEST_CASE("find_slot: begins where the hash says, and goes on behind the last slot at the first") {
    constexpr std::array<int, 4> slots{7, 0, 0, 5};
    const auto find = [&](std::uint64_t hash, int wanted) {
        return find_slot(
            slots.size(), hash, [&](std::size_t at) { return slots[at] == 0 || slots[at] == wanted; });
    };
    CHECK(find(3, 5) == 3);
    CHECK(find(3, 7) == 0);
    CHECK(find(3, 9) == 1);
    CHECK(find(2, 5) == 2);
    CHECK(find(4 * 1000 + 3, 7) == 0);
}
