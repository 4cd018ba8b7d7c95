// SPDX-License-Identifier: MIT
// Tests the messages about refused nodes.
#include <catch2/catch.hpp>

#include <headrace/show/refusal_lines.hpp>

using namespace headrace;

TEST_CASE("equal refusals share a line from the fourth on", "[refusal_lines]") {
    std::vector<diagnostic> refusals;
    for (const char* name : {"a", "b", "c", "d", "e"})
        refusals.push_back({name, "aten.tan.default", "no table"});
    refusals.insert(refusals.begin() + 1, {"x", "aten.sin.default", "no table"});
    refusals.push_back({"forged\nerror: y", "aten.tan.default", "too large"});
    CHECK(refusal_lines(refusals) ==
        std::vector<std::string>{"a, b, c and 2 more (aten.tan.default): no table",
            "x (aten.sin.default): no table", "forged\\x0aerror: y (aten.tan.default): too large"});
    CHECK(refusal_lines({}).empty());
}
