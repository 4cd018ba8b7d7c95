// SPDX-License-Identifier: MIT
// Defines headrace::c_string_literal and headrace::is_c_identifier, for generated C and C++.
#ifndef HEADRACE_IO_FILE_C_TEXT_HPP
#define HEADRACE_IO_FILE_C_TEXT_HPP

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace headrace {

/// Returns text as a string literal of C, C++ and the GNU assembler. Octal escapes always have three digits,
/// so that a following digit is never read as part of one. Question marks are escaped: they could begin a
/// trigraph.
[[nodiscard]] inline std::string c_string_literal(std::string_view text) {
    std::string literal = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            literal += {'\\', c};
        } else if (c == '\n') {
            literal += "\\n";
        } else if (byte >= 0x20 && byte < 0x7f && c != '?') {
            literal += c;
        } else {
            const auto digit = [&](unsigned shift) { return static_cast<char>('0' + (byte >> shift & 7U)); };
            literal += {'\\', digit(6), digit(3), digit(0)};
        }
    }
    return literal + '"';
}

/// Returns text for a comment: characters that could end it, or continue the line, become underscores.
[[nodiscard]] inline std::string c_comment(std::string_view text) {
    std::string all(text);
    std::ranges::replace_if(
        all, [](char c) { return c < ' ' || c > '~' || c == '\\' || c == '?'; }, '_');
    return all;
}

[[nodiscard]] constexpr bool is_c_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
[[nodiscard]] constexpr bool is_c_digit(char c) { return c >= '0' && c <= '9'; }

namespace detail {

// Keywords of C++, macros that compilers define in their default mode, and the library's namespace.
inline constexpr std::string_view reserved_words[] = {"alignas", "alignof", "and", "and_eq", "asm", "auto",
    "bitand", "bitor", "bool", "break", "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class",
    "co_await", "co_return", "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr",
    "constinit", "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "headrace", "if", "inline",
    "int", "linux", "long", "main", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
    "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires",
    "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "std", "struct",
    "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename",
    "union", "unix", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq"};

}  // namespace detail

/// True if the name can be that of a struct or a variable in any C or C++ program. Names with two underscores
/// in a row are reserved.
[[nodiscard]] constexpr bool is_c_identifier(std::string_view name) {
    if (name.empty() || !is_c_letter(name.front()) || name.find("__") != std::string_view::npos) return false;
    const bool spelled =
        std::ranges::all_of(name, [](char c) { return is_c_letter(c) || is_c_digit(c) || c == '_'; });
    return spelled && std::ranges::find(detail::reserved_words, name) == std::end(detail::reserved_words);
}

}  // namespace headrace

#endif
