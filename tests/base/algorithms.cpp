// SPDX-License-Identifier: MIT
// Tests the core's own algorithms over ranges.
#include <catch2/catch.hpp>

#include <array>
#include <string_view>

#include <headrace/base/algorithms.hpp>
#include <headrace/base/pmr_vector.hpp>

using namespace headrace;

constexpr std::array three{1, 2, 3};

static_assert(any_of(three, [](int i) { return i > 2; }) && !any_of(three, [](int i) { return i > 3; }));
static_assert(contains(three, 1) && !contains(three, 4) && !contains(std::array<int, 0>{}, 1));
static_assert(same_items(three, std::array{1, 2, 3}) && !same_items(three, std::array{1, 2}) &&
    !same_items(three, std::array{1, 2, 4}));

TEST_CASE("reverse: puts the last item first") {
    const auto reversed = [](pmr_vector<int> items) {
        reverse(items);
        return items;
    };
    CHECK(reversed({}) == pmr_vector<int>{});
    CHECK(reversed({1}) == pmr_vector<int>{1});
    CHECK(reversed({1, 2}) == pmr_vector<int>{2, 1});
    CHECK(reversed({1, 2, 3}) == pmr_vector<int>{3, 2, 1});
}
