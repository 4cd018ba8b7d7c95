// SPDX-License-Identifier: MIT
// Tests texts that are assembled from parts.
#include <catch2/catch.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <headrace/base/error.hpp>
#include <headrace/base/text.hpp>

using namespace headrace;

static_assert(!std::constructible_from<text_part, bool> && !std::constructible_from<text_part, double>);

TEST_CASE("text_of: puts texts, characters and numbers one after the other") {
    const std::string own = "own";
    const std::pmr::string pooled = "pooled";
    CHECK(text_of({}).empty());
    CHECK(text_of({"a ", std::string_view("view"), ' ', own, " ", pooled}) == "a view own pooled");
    CHECK(text_of({std::int8_t{-7}, " ", std::uint8_t{200}, " ", 0, " ", std::size_t{9}}) == "-7 200 0 9");
    CHECK(text_of({INT64_MIN, " ", INT64_MAX, " ", UINT64_MAX}) ==
        "-9223372036854775808 9223372036854775807 18446744073709551615");
}

TEST_CASE("number_text: gives six digits of a number that is not an integer") {
    CHECK(number_text(0.1) == "0.1");
    CHECK(number_text(1.0F / 3) == "0.333333");
    CHECK(number_text(-1e30) == "-1e+30");
}

TEST_CASE("counted_text: knows one from several") {
    CHECK(counted_text(1, "input") == "1 input");
    CHECK(counted_text(0, "input") == "0 inputs");
    CHECK(counted_text(-2, "step") == "-2 steps");
}

TEST_CASE("errors: take their message whole or in parts") {
    CHECK(invalid("axis 3").message == "axis 3");
    // Two texts are two parts, not the begin and end of one.
    CHECK(malformed({"axis ", "three"}).message == "axis three");
    const error e = unsupported({"axis ", 3, " is named twice"}).in("node y");
    CHECK(e.kind == error_kind::unsupported);
    CHECK(e.message == "node y: axis 3 is named twice");
}
