// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/file/json.hpp.

#include <headrace/io/file/json.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include <simdjson.h>
#include <boost/endian/conversion.hpp>

#include <headrace/base/printable.hpp>

namespace headrace {

std::string in_quotes(std::string_view text) {
    constexpr std::size_t longest = 80;
    return "'" + std::string(printable(text, longest)) + "'";
}

std::string_view json_cursor::skip() {
    space();
    const char* const first = at_;
    const char* at = at_;
    std::size_t depth = 0;
    do {
        if (at == end_) broken("a value");
        const char c = *at;
        if (c == '"') {
            at = end_of_string(at);
        } else if (c == '{' || c == '[') {
            ++depth;
            ++at;
        } else if (c == '}' || c == ']') {
            if (depth == 0) broken("a value");
            --depth;
            ++at;
        } else if (depth != 0) {
            ++at;
        } else {
            at = end_of_scalar(at);
        }
    } while (depth != 0);
    at_ = at;
    if (first == at) broken("a value");
    return {first, static_cast<std::size_t>(at - first)};
}

void json_cursor::finish() {
    space();
    if (at_ != end_) broken("its end");
}

void json_cursor::open(char bracket, const char* what) {
    space();
    if (at_ == end_ || *at_++ != bracket) broken(what);
}

bool json_cursor::closes(char bracket) {
    space();
    if (at_ == end_ || *at_ != bracket) return false;
    ++at_;
    return true;
}

bool json_cursor::goes_on(char bracket) {
    if (closes(bracket)) return false;
    if (at_ == end_ || *at_++ != ',') broken("',' or a closing bracket");
    return true;
}

const char* json_cursor::end_of_scalar(const char* at) const {
    constexpr std::string_view ends = ",}] \n\r\t\"";
    return std::find_first_of(at, end_, ends.begin(), ends.end());
}

// Keys are short: their ends are found without a call. Most of the text is in long strings, with many escapes.
const char* json_cursor::find_quote(const char* at) const {
    constexpr int words = 2;
    for (int i = 0; i != words && end_ - at >= 8; ++i, at += 8) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, at, sizeof eight);
        const std::uint64_t found = has_byte(boost::endian::little_to_native(eight), '"');
        if (found != 0) return at + std::countr_zero(found) / 8;
    }
    const void* const found = std::memchr(at, '"', static_cast<std::size_t>(end_ - at));
    return found == nullptr ? end_ : static_cast<const char*>(found);
}

const char* json_cursor::end_of_string(const char* first) const {
    if (first == end_ || *first != '"') broken("a string");
    for (const char* at = first + 1;; ++at) {
        at = find_quote(at);
        if (at == end_) broken("a closing quote");
        const char* escapes = at;
        while (escapes[-1] == '\\') --escapes;
        if ((at - escapes) % 2 == 0) return at + 1;
    }
}

std::string_view json_cursor::string() {
    const char* const first = at_;
    at_ = end_of_string(first);
    return {first, static_cast<std::size_t>(at_ - first)};
}

padded_text::padded_text(std::span<const std::byte> text, std::span<const std::byte> around) {
    const auto behind = static_cast<std::size_t>(around.data() + around.size() - (text.data() + text.size()));
    if (behind >= simdjson::SIMDJSON_PADDING) {
        view_ = {reinterpret_cast<const char*>(text.data()), text.size()};
    } else {
        copy_ = simdjson::padded_string(reinterpret_cast<const char*>(text.data()), text.size());
        view_ = copy_;
    }
}

json_parser::json_parser(std::pmr::memory_resource* arena) : arena_(arena) {
    constexpr std::size_t first_capacity = 1024;
    if (parser_.allocate(first_capacity, deepest) != simdjson::SUCCESS) throw std::bad_alloc();
}

simdjson::dom::element json_parser::parse(std::string_view piece) {
    simdjson::dom::element parsed;
    const auto failed = parser_.parse(piece.data(), piece.size(), false).get(parsed);
    if (failed) fail_malformed(std::string("broken JSON: ") + simdjson::error_message(failed));
    return parsed;
}

simdjson::dom::object json_parser::parse_object(std::string_view piece) {
    simdjson::dom::object parsed;
    if (parse(piece).get(parsed))
        fail_malformed("a JSON object is missing, where " + in_quotes(piece) + " stands");
    return parsed;
}

std::string_view json_parser::text(std::string_view raw) {
    if (raw.find('\\') == std::string_view::npos) return raw;
    std::string_view decoded;
    if (parse({raw.data() - 1, raw.size() + 2}).get(decoded)) fail_malformed("broken JSON: a key is missing");
    char* copy = static_cast<char*>(arena_->allocate(decoded.size() + 1, 1));
    std::memcpy(copy, decoded.data(), decoded.size());
    return {copy, decoded.size()};
}

}  // namespace headrace
