// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/file/json.hpp.

#include <headrace/io/file/json.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include <simdjson.h>

#include <headrace/base/printable.hpp>

namespace headrace {

std::string in_quotes(std::string_view text) {
    constexpr std::size_t longest = 80;
    return "'" + std::string(printable(text, longest)) + "'";
}

std::string_view json_cursor::skip() {
    space();
    const char* first = at_;
    std::size_t depth = 0;
    do {
        if (at_ == end_) broken("a value");
        const char c = *at_;
        if (c == '"') {
            string();
        } else if (c == '{' || c == '[') {
            ++depth;
            ++at_;
        } else if (c == '}' || c == ']') {
            if (depth == 0) broken("a value");
            --depth;
            ++at_;
        } else if (depth != 0) {
            ++at_;
        } else {
            scalar_text();
        }
    } while (depth != 0);
    if (first == at_) broken("a value");
    return {first, static_cast<std::size_t>(at_ - first)};
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

void json_cursor::scalar_text() {
    while (at_ != end_ && *at_ != ',' && *at_ != '}' && *at_ != ']' && *at_ != ' ' && *at_ != '\n' &&
        *at_ != '\r' && *at_ != '\t' && *at_ != '"') {
        ++at_;
    }
}

std::string_view json_cursor::string() {
    const char* first = at_;
    if (at_ == end_ || *at_ != '"') broken("a string");
    ++at_;
    for (;;) {
        while (end_ - at_ >= 8) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, at_, sizeof eight);
            if ((has_byte(eight, '"') | has_byte(eight, '\\')) != 0) break;
            at_ += 8;
        }
        while (at_ != end_ && *at_ != '"' && *at_ != '\\') ++at_;
        if (at_ == end_) broken("a closing quote");
        if (*at_++ == '"') return {first, static_cast<std::size_t>(at_ - first)};
        if (at_ == end_) broken("a closing quote");
        ++at_;
    }
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
