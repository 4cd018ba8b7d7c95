// SPDX-License-Identifier: MIT
// Tests of the names and literals of generated C.

#include <catch2/catch.hpp>

#include <headrace/io/file/c_text.hpp>

using namespace headrace;

TEST_CASE("a literal means the bytes that it was made from", "[c_text]") {
    CHECK(c_string_literal("x.y") == "\"x.y\"");
    CHECK(c_string_literal("a\"b\\c\n") == R"("a\"b\\c\n")");
    // Three digits, so that the 7 is not part of the escape; no trigraph.
    CHECK(c_string_literal("\x01"
                           "7?\xff") == R"("\0017\077\377")");
    CHECK(c_comment("a\\\n?b") == "a___b");
}

TEST_CASE("reserved words and names with two underscores are no identifiers", "[c_text]") {
    for (const char* good : {"a", "kws_dscnn", "X9", "model_1"}) CHECK(is_c_identifier(good));
    for (const char* bad :
        {"", "9a", "_a", "a__b", "a-b", "class", "linux", "headrace", "xor_eq", "\xc3\xa4"})
        CHECK_FALSE(is_c_identifier(bad));
}
