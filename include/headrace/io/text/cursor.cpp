// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/cursor.hpp.

#include <headrace/io/text/cursor.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/text/elements.hpp>

namespace headrace::text {

void append_quoted(std::pmr::string& out, std::string_view text) {
    out += '"';
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find_first_of("\"\\", at), text.size());
        detail::append_printable(out, text.substr(at, end - at));
        if (end != text.size()) (out += '\\') += text[end];
        at = end + 1;
    }
    out += '"';
}

std::size_t cursor::next() {
    while (at_ != text_.size()) {
        if (text_.substr(at_, 2) == "//") {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r') {
            ++at_;
        } else {
            break;
        }
    }
    return at_;
}

bool cursor::accept(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
}

bool cursor::accept_word(std::string_view word) {
    if (peek_word() != word) return false;
    at_ += word.size();
    return true;
}

std::optional<std::string_view> cursor::accept_argument_name() {
    const std::size_t first = next();
    const std::string_view found = peek_word();
    at_ += found.size();
    if (!found.empty() && accept('=')) return found;
    at_ = first;
    return std::nullopt;
}

std::string_view cursor::word(std::string_view what) {
    const std::string_view found = peek_word();
    if (found.empty()) fail_here("expected " + std::string(what));
    at_ += found.size();
    return found;
}

std::string_view cursor::name_here() {
    const std::size_t first = at_;
    while (at_ != text_.size() && is_in_name(text_[at_])) ++at_;
    return text_.substr(first, at_ - first);
}

bool cursor::accept_here(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
}

std::string_view cursor::literal(std::string_view what) {
    const std::size_t first = next();
    while (at_ != text_.size() && is_in_literal(first)) ++at_;
    if (first == at_) fail_here("expected " + std::string(what));
    return text_.substr(first, at_ - first);
}

std::string_view cursor::raw(std::string_view what) {
    if (peek() != '[') return literal(what);
    const std::size_t first = at_;
    std::size_t open = 0;
    while (at_ != text_.size()) {
        const char c = text_[at_++];
        open += c == '[';
        open -= c == ']';
        if (open == 0) return text_.substr(first, at_ - first);
    }
    fail(first, "the brackets are not closed");
}

std::string cursor::quoted(std::string_view what) {
    const std::size_t first = next();
    if (!accept_here('"')) fail_here("expected " + std::string(what) + " in quotes");
    std::string out;
    for (; at_ != text_.size() && text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\n') break;
        out += text_[at_] == '\\' ? escaped() : text_[at_];
    }
    if (!accept_here('"')) fail(first, "the string does not end on its line; write \\n for a line break");
    return out;
}

std::vector<std::int64_t> cursor::integers(char open, char close) {
    std::vector<std::int64_t> items;
    expect(open, "and integers");
    if (accept(close)) return items;
    do {
        const std::size_t first = next();
        if (!number_in(literal("an integer"), items.emplace_back())) fail(first, "expected an integer");
    } while (accept(','));
    expect(close, "or ',' after an integer");
    return items;
}

void cursor::fail_here(const std::string& message) {
    const std::size_t at = next();
    fail(at, at == text_.size() ? message + "; the text ends here" : message);
}

void cursor::fail(std::size_t at, const std::string& message) const {
    const std::string_view before = text_.substr(0, at);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::string_view in_line = before.substr(before.rfind('\n') + 1);
    const auto column = 1 + std::ranges::count_if(in_line, [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    });
    fail_malformed(
        std::string(name_) + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + message);
}

std::string_view cursor::peek_word() {
    const std::size_t first = next();
    if (first == text_.size() || !is_letter(text_[first])) return {};
    std::size_t end = first;
    while (end != text_.size() && is_in_word(text_[end])) ++end;
    return text_.substr(first, end - first);
}

bool cursor::is_in_literal(std::size_t first) const {
    const char c = text_[at_];
    if (is_letter(c) || is_digit(c) || c == '.') return true;
    if (c != '-' && c != '+') return false;
    return at_ == first || ((text_[at_ - 1] | 0x20) == 'e' && !is_letter(text_[first]));
}

char cursor::escaped() {
    const std::size_t first = at_++;
    const char c = at_ == text_.size() ? '\0' : text_[at_];
    if (c == '"' || c == '\\') return c;
    if (c == 'n') return '\n';
    if (c == 't') return '\t';
    std::uint8_t byte = 0;
    const std::string_view digits = text_.substr(std::min(at_ + 1, text_.size()), 2);
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (c != 'x' || failed != std::errc() || end != digits.data() + 2)
        fail(first, R"(unknown escape; write \", \\, \n, \t or \x41)");
    at_ += 2;
    return static_cast<char>(byte);
}

}  // namespace headrace::text
