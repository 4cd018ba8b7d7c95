// SPDX-License-Identifier: MIT
// Tests the cursor over JSON text: its results, and that broken text is an error wherever it breaks.

#include <catch2/catch.hpp>

#include <memory_resource>
#include <string>
#include <vector>

#include <headrace/io/file/json.hpp>

using namespace headrace;

namespace {

/// Returns the keys and the texts of values that a cursor finds, or the message.
std::string members_of(std::string_view text) {
    std::string out;
    try {
        json_cursor cursor(text);
        cursor.members(
            [&](std::string_view key) { out += std::string(key) + "=" + std::string(cursor.skip()) + ";"; });
        cursor.finish();
    } catch (const failure& f) {
        return std::string(f.what.message);
    }
    return out;
}

}  // namespace

TEST_CASE("members and elements are walked over without a look inside", "[json]") {
    CHECK(members_of("{}") == "");
    CHECK(members_of(" { \"a\" : 1 , \"b\":[1,{\"c\":\"]}\"}] }\n") == "a=1;b=[1,{\"c\":\"]}\"}];");
    CHECK(members_of(R"({"a\"b":"c\\","d":null})") == R"(a\"b="c\\";d=null;)");
    // Quotes and escapes at every position in the eight bytes that are examined together.
    for (std::size_t length = 0; length != 20; ++length) {
        const std::string text = "\"" + std::string(length, 'x') + "\\\"y\"";
        CHECK(members_of("{\"k\":" + text + "}") == "k=" + text + ";");
    }
    std::vector<std::string> found;
    json_cursor cursor("[ 1, [2, 3] ,\"four\" ]");
    cursor.elements([&] { found.emplace_back(cursor.skip()); });
    cursor.finish();
    CHECK(found == std::vector<std::string>{"1", "[2, 3]", "\"four\""});
}

TEST_CASE("text that ends too early, or goes on, is broken", "[json]") {
    const std::string whole = R"({"a":[1,{"b":"c"}],"d":2})";
    CHECK(members_of(whole) == R"(a=[1,{"b":"c"}];d=2;)");
    for (std::size_t cut = 0; cut != whole.size(); ++cut)
        CHECK(members_of(whole.substr(0, cut)).starts_with("broken JSON: "));
    CHECK(members_of(whole + "}") == "broken JSON: its end is missing");
    CHECK(members_of("[]") == "broken JSON: an object is missing");
    CHECK(members_of("{a:1}") == "broken JSON: a string is missing");
    CHECK(members_of(R"({"a" 1})") == "broken JSON: ':' is missing");
    CHECK(members_of(R"({"a":1 "b":2})") == "broken JSON: ',' or a closing bracket is missing");
    CHECK(members_of(R"({"a":})") == "broken JSON: a value is missing");
}

TEST_CASE("depth costs no stack", "[json]") {
    const std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
    CHECK(members_of("{\"a\":" + deep + "}").size() == deep.size() + 3);
}

TEST_CASE("pieces are parsed, and keys decoded where they must be", "[json]") {
    std::pmr::monotonic_buffer_resource arena;
    json_parser parser(&arena);
    const std::string_view text = R"({"kéy": 3, "number": 1.5})";
    const simdjson::padded_string padded(text);
    const auto object = parser.parse_object(padded);
    CHECK(json_get<double>(object, "number") == 1.5);
    CHECK_THROWS_AS(json_get<std::int64_t>(object, "absent"), failure);
    CHECK_THROWS_AS(json_get<std::string_view>(object, "number"), failure);
    const simdjson::padded_string key(std::string_view(R"("a\u0062c")"));
    CHECK(parser.text({key.data() + 1, key.size() - 2}) == "abc");
    const simdjson::padded_string list(std::string_view("[1]"));
    CHECK_THROWS_AS(parser.parse_object(list), failure);
    const simdjson::padded_string nested(std::string_view(std::string(100, '[') + std::string(100, ']')));
    CHECK_THROWS_AS(parser.parse(nested), failure);
}

TEST_CASE("what a message quotes is short and printable", "[json]") {
    CHECK(in_quotes("plain") == "'plain'");
    CHECK(in_quotes("a\nb") == R"('a\x0ab')");
    CHECK(in_quotes(std::string(200, 'x')).size() == 80 + 5);
}
