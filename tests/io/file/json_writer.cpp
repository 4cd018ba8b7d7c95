// SPDX-License-Identifier: MIT
// Tests JSON text, word for word.

#include <catch2/catch.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <headrace/io/file/json_writer.hpp>

using namespace headrace;

namespace {

std::string sample(json_style style) {
    json_writer w(style);
    w.begin_object();
    w.member("name", "x");
    w.member("sizes", std::vector<std::int64_t>{1, -2});
    w.begin_object("nothing");
    w.end_object();
    w.begin_array("rows");
    w.begin_object();
    w.member("is", true);
    w.end_object();
    w.value(nullptr);
    w.raw("{\"a\":1}");
    w.end_array();
    w.end_object();
    return std::move(w).text();
}

std::string text_of(double number) {
    json_writer w;
    w.value(number);
    return w.text();
}

std::string escaped(std::string_view text) {
    std::string out;
    append_json(out, text);
    return out;
}

}  // namespace

TEST_CASE("each member is on a line of its own, or all are on one", "[json_writer]") {
    CHECK(sample(json_style::compact) ==
        R"({"name":"x","sizes":[1,-2],"nothing":{},"rows":[{"is":true},null,{"a":1}]})");
    CHECK(sample(json_style::indented) == R"({
 "name": "x",
 "sizes": [
  1,
  -2
 ],
 "nothing": {},
 "rows": [
  {
   "is": true
  },
  null,
  {"a":1}
 ]
})");
}

TEST_CASE("a floating-point number is told from an integer, and no JSON is not written", "[json_writer]") {
    CHECK(text_of(1) == "1.0");
    CHECK(text_of(0.25) == "0.25");
    CHECK(text_of(1e-7) == "1e-07");
    CHECK(text_of(std::numeric_limits<double>::infinity()) == "null");
    CHECK(text_of(std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("strings are escaped", "[json_writer]") {
    CHECK(escaped("a\"b\\c") == R"("a\"b\\c")");
    CHECK(escaped("a\nb") == "\"a\\u000ab\"");
    CHECK(escaped("\xc3\xa4") == "\"\xc3\xa4\"");
    CHECK(escaped("\xc3\xa4\xff") == "\"???\"");
}
