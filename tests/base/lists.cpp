// SPDX-License-Identifier: MIT
// Tests of list arguments.

#include <catch2/catch.hpp>

#include <vector>

#include <headrace/base/lists.hpp>

using namespace headrace;

static_assert(std::is_trivially_copyable_v<int_list> && std::is_trivially_copyable_v<list<double>>);
static_assert(int_list{}.empty() && int_list{1, 2, 3}.size() == 3 && int_list{1, 2, 3}.back() == 3);
static_assert(!int_list{1, 2, 3, 4, 5, 6}.is_view());
static_assert(int_list{1, 2} == int_list{1, 2} && !(int_list{1, 2} == int_list{1, 3}));

TEST_CASE("up to six integers lie in the object, more are a view", "[lists]") {
    std::vector<std::int64_t> items{1, 2, 3, 4, 5, 6};
    const int_list inside(items);
    items[0] = 9;
    CHECK(inside[0] == 1);
    items.push_back(7);
    const int_list view(items);
    CHECK(view.is_view());
    CHECK(view.data() == items.data());
    const int_list copy = view;
    CHECK(copy == view);
}

TEST_CASE("lists compare by their elements", "[lists]") {
    const std::vector<double> a{1, 2}, b{1, 2}, c{1};
    CHECK(list<double>(a) == list<double>(b));
    CHECK_FALSE(list<double>(a) == list<double>(c));
    CHECK(list<double>() == list<double>());
    CHECK(list<double>(a)[1] == 2);
}
