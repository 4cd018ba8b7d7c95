// SPDX-License-Identifier: MIT
// Defines the tokens of a graph's text and the cursor that reads them.
#ifndef HEADRACE_IO_TEXT_CURSOR_HPP
#define HEADRACE_IO_TEXT_CURSOR_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/text/elements.hpp>

namespace headrace::detail::graph_text {

[[nodiscard]] constexpr bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Words name ops, arguments, types and outputs: aten.conv2d.default, aten::relu.out.
[[nodiscard]] constexpr bool is_in_word(char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == ':';
}
[[nodiscard]] constexpr bool is_word(std::string_view text) {
    return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), is_in_word);
}
/// True for characters that a value's name may have without quotes.
[[nodiscard]] constexpr bool is_in_name(char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '-';
}
[[nodiscard]] constexpr bool is_plain_name(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_in_name);
}

/// Appends text in quotes, on one line: characters that do not print become hexadecimal escapes.
inline void append_quoted(std::pmr::string& out, std::string_view text) {
    out += '"';
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find_first_of("\"\\", at), text.size());
        append_printable(out, text.substr(at, end - at));
        if (end != text.size()) (out += '\\') += text[end];
        at = end + 1;
    }
    out += '"';
}

/// A position in a text. A missing token is a failure that says where it is missing and what was expected.
class cursor {
public:
    cursor(std::string_view text, std::string_view name) : text_(text), name_(name) {}

    /// Skips white space and comments, and returns the position of the next token.
    [[nodiscard]] std::size_t next() {
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
    [[nodiscard]] bool at_end() { return next() == text_.size(); }
    [[nodiscard]] char peek() { return at_end() ? '\0' : text_[at_]; }
    [[nodiscard]] bool accept(char c) {
        if (at_end() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void expect(char c, std::string_view where) {
        if (!accept(c)) fail_here(std::string("expected '") + c + "' " + std::string(where));
    }
    [[nodiscard]] bool at_word() { return is_letter(peek()); }
    [[nodiscard]] bool accept_word(std::string_view word) {
        if (peek_word() != word) return false;
        at_ += word.size();
        return true;
    }
    /// Takes a word that is followed by '=', with the '='.
    [[nodiscard]] std::optional<std::string_view> accept_argument_name() {
        const std::size_t first = next();
        const std::string_view found = peek_word();
        at_ += found.size();
        if (!found.empty() && accept('=')) return found;
        at_ = first;
        return std::nullopt;
    }
    [[nodiscard]] std::string_view word(std::string_view what) {
        const std::string_view found = peek_word();
        if (found.empty()) fail_here("expected " + std::string(what));
        at_ += found.size();
        return found;
    }
    /// Takes the characters of a value's name that needs no quotes; there may be none.
    [[nodiscard]] std::string_view name_here() {
        const std::size_t first = at_;
        while (at_ != text_.size() && is_in_name(text_[at_])) ++at_;
        return text_.substr(first, at_ - first);
    }
    [[nodiscard]] bool accept_here(char c) {
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    [[nodiscard]] bool quote_is_here() const { return at_ != text_.size() && text_[at_] == '"'; }
    /// Takes a number, true, false, inf, nan or hexadecimal digits; the caller checks which.
    [[nodiscard]] std::string_view literal(std::string_view what) {
        const std::size_t first = next();
        while (at_ != text_.size() && is_in_literal(first)) ++at_;
        if (first == at_) fail_here("expected " + std::string(what));
        return text_.substr(first, at_ - first);
    }
    /// Takes a literal, or a bracketed list whatever it holds.
    [[nodiscard]] std::string_view raw(std::string_view what) {
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
    /// Takes a string in quotes, which must end on its line.
    [[nodiscard]] std::string quoted(std::string_view what) {
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
    /// Takes `[1, 2]`, or other brackets.
    [[nodiscard]] std::vector<std::int64_t> integers(char open, char close) {
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

    [[noreturn]] void fail_here(const std::string& message) {
        const std::size_t at = next();
        fail(at, at == text_.size() ? message + "; the text ends here" : message);
    }
    /// Columns are counted in characters, from 1, as editors do.
    [[noreturn]] void fail(std::size_t at, const std::string& message) const {
        const std::string_view before = text_.substr(0, at);
        const auto line = 1 + std::ranges::count(before, '\n');
        const std::string_view in_line = before.substr(before.rfind('\n') + 1);
        const auto column = 1 + std::ranges::count_if(in_line, [](char c) {
            return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
        });
        fail_malformed(
            std::string(name_) + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + message);
    }

private:
    [[nodiscard]] std::string_view peek_word() {
        const std::size_t first = next();
        if (first == text_.size() || !is_letter(text_[first])) return {};
        std::size_t end = first;
        while (end != text_.size() && is_in_word(text_[end])) ++end;
        return text_.substr(first, end - first);
    }
    // A sign is first, or follows the e of an exponent.
    [[nodiscard]] bool is_in_literal(std::size_t first) const {
        const char c = text_[at_];
        if (is_letter(c) || is_digit(c) || c == '.') return true;
        if (c != '-' && c != '+') return false;
        return at_ == first || ((text_[at_ - 1] | 0x20) == 'e' && !is_letter(text_[first]));
    }
    // Ends on the escape's last character.
    char escaped() {
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

    std::string_view text_;
    std::string_view name_;
    std::size_t at_ = 0;
};

}  // namespace headrace::detail::graph_text

#endif
