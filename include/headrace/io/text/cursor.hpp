// SPDX-License-Identifier: MIT
// Defines the tokens of a graph's text and the cursor that reads them.
#ifndef HEADRACE_IO_TEXT_CURSOR_HPP
#define HEADRACE_IO_TEXT_CURSOR_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>


namespace headrace::text {

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
void append_quoted(std::pmr::string& out, std::string_view text);

/// A position in a text. A missing token is a failure that says where it is missing and what was expected.
class cursor {
public:
    cursor(std::string_view text, std::string_view name) : text_(text), name_(name) {}

    /// Skips white space and comments, and returns the position of the next token.
    [[nodiscard]] std::size_t next();
    [[nodiscard]] bool at_end() { return next() == text_.size(); }
    [[nodiscard]] char peek() { return at_end() ? '\0' : text_[at_]; }
    [[nodiscard]] bool accept(char c);
    void expect(char c, std::string_view where) {
        if (!accept(c)) fail_here(std::string("expected '") + c + "' " + std::string(where));
    }
    [[nodiscard]] bool at_word() { return is_letter(peek()); }
    [[nodiscard]] bool accept_word(std::string_view word);
    /// Takes a word that is followed by '=', with the '='.
    [[nodiscard]] std::optional<std::string_view> accept_argument_name();
    [[nodiscard]] std::string_view word(std::string_view what);
    /// Takes the characters of a value's name that needs no quotes; there may be none.
    [[nodiscard]] std::string_view name_here();
    [[nodiscard]] bool accept_here(char c);
    [[nodiscard]] bool quote_is_here() const { return at_ != text_.size() && text_[at_] == '"'; }
    /// Takes a number, true, false, inf, nan or hexadecimal digits; the caller checks which.
    [[nodiscard]] std::string_view literal(std::string_view what);
    /// Takes a literal, or a bracketed list whatever it holds.
    [[nodiscard]] std::string_view raw(std::string_view what);
    /// Takes a string in quotes, which must end on its line.
    [[nodiscard]] std::string quoted(std::string_view what);
    /// Takes `[1, 2]`, or other brackets.
    [[nodiscard]] std::vector<std::int64_t> integers(char open, char close);

    [[noreturn]] void fail_here(const std::string& message);
    /// Columns are counted in characters, from 1, as editors do.
    [[noreturn]] void fail(std::size_t at, const std::string& message) const;

private:
    [[nodiscard]] std::string_view peek_word();
    // A sign is first, or follows the e of an exponent.
    [[nodiscard]] bool is_in_literal(std::size_t first) const;
    // Ends on the escape's last character.
    char escaped();

    std::string_view text_;
    std::string_view name_;
    std::size_t at_ = 0;
};

}  // namespace headrace::text

#endif
