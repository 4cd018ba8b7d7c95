// SPDX-License-Identifier: MIT
// Tests the table from names to values.
#include <catch2/catch.hpp>

#include <deque>
#include <string>

#include <headrace/base/name_table.hpp>

using namespace headrace;

TEST_CASE("name_table: finds what was added, and adds a name once") {
    name_table<int> table;
    CHECK(table.find("a") == nullptr);
    CHECK(table.try_emplace("a", 1).second);
    CHECK_FALSE(table.try_emplace("a", 2).second);
    CHECK(table.try_emplace("", 3).second);
    CHECK(*table.find("a") == 1);
    CHECK(*table.find("") == 3);
    CHECK(table.find("b") == nullptr);
    CHECK(table.size() == 2);
}

TEST_CASE("name_table: grows, whether room was reserved or not") {
    const bool is_reserved = GENERATE(false, true);
    std::deque<std::string> names;  // owns the names; the table does not
    name_table<std::size_t> table;
    if (is_reserved) table.reserve(1000);
    for (std::size_t i = 0; i != 3000; ++i) {
        names.push_back("name" + std::to_string(i));
        REQUIRE(table.find(names.back()) == nullptr);
        REQUIRE(*table.try_emplace(names.back(), i).first == i);
    }
    for (std::size_t i = 0; i != names.size(); ++i) CHECK(*table.find(names[i]) == i);
    CHECK(table.size() == names.size());
}
