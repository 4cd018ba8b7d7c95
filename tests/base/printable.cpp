// SPDX-License-Identifier: MIT
// Tests that text from files cannot control a terminal.
#include <catch2/catch.hpp>

#include <string>

#include <headrace/base/printable.hpp>

using namespace headrace;

TEST_CASE("what people can read stays as it is", "[printable]") {
    for (const std::string text : {"", "conv2d_1", "a\\b \"c\"", "é 漢字 … 🙂", "models/größe.pt2"}) {
        CHECK(printable(text) == std::pmr::string(text));
    }
}

TEST_CASE("what would command a terminal is escaped", "[printable]") {
    CHECK(printable("a\x1b[31mb") == "a\\x1b[31mb");
    CHECK(printable("x\nerror: y\r\t") == "x\\x0aerror: y\\x0d\\x09");
    CHECK(printable(std::string("\0\x7f", 2)) == "\\x00\\x7f");
    CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");           // CSI as one character
    CHECK(printable("\xe2\x80\xae") == "\\xe2\\x80\\xae");  // right to left from here on
    CHECK(printable("\xe2\x80\x8b\xef\xbb\xbf") == "\\xe2\\x80\\x8b\\xef\\xbb\\xbf");  // these have no width
    CHECK(printable("\xf3\xa0\x81\x81") == "\\xf3\\xa0\\x81\\x81");                    // a tag
}

TEST_CASE("bytes that are not UTF-8 are escaped", "[printable]") {
    CHECK(printable("\xff\xc3") == "\\xff\\xc3");
    CHECK(printable("\xc3\xa9\xc3(") == "\xc3\xa9\\xc3(");
    CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // half of a surrogate pair
    CHECK(printable("\xc0\x80") == "\\xc0\\x80");           // overlong
}

TEST_CASE("the middle of long text is left out, and no character is cut", "[printable]") {
    CHECK(printable("0123456789", 10) == "0123456789");
    CHECK(printable("0123456789a", 10) == "01234...6789a");
    CHECK(printable("éééééé", 5) == "é...é");
    CHECK(printable(std::string(1'000'000, 'x')).size() == max_printed_name + 3);
    CHECK(printable(std::string(1'000'000, '\x80')).size() < 5 * max_printed_name);
}
