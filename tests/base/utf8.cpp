// SPDX-License-Identifier: MIT
// Tests that valid UTF-8 is distinguished from other bytes.
#include <catch2/catch.hpp>

#include <string_view>

#include <headrace/base/utf8.hpp>

using namespace headrace;

TEST_CASE("UTF-8 is told from other bytes", "[utf8]") {
    for (const std::string_view sound : {"", "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
             "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "a\xc3\xa4z"})
        CHECK(is_utf8(sound));
    for (const std::string_view broken : {"\x80", "\xc1\x80", "\xc2", "\xc2z", "\xe0\x9f\x80", "\xed\xa0\x80",
             "\xe1\x80", "\xf0\x8f\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"})
        CHECK_FALSE(is_utf8(broken));
}
