// SPDX-License-Identifier: MIT
// Defines headrace::printable, which makes text from a file safe to show in messages and listings.
#ifndef HEADRACE_BASE_PRINTABLE_HPP
#define HEADRACE_BASE_PRINTABLE_HPP

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/base/utf8.hpp>

namespace headrace {

inline constexpr std::size_t max_printed_name = 200;
inline constexpr std::size_t max_printed_message = 4000;

namespace detail {

// Returns the length in bytes of the valid UTF-8 character that begins there; 0 if there is none.
[[nodiscard]] constexpr std::size_t character_length(std::string_view text, std::size_t at) {
    for (std::size_t length = 1; length <= std::min<std::size_t>(4, text.size() - at); ++length) {
        if (is_utf8(text.substr(at, length))) return length;
    }
    return 0;
}

// False for controls and for characters that reorder, join or hide others: Unicode 15, categories Cc and Cf,
// in the ranges that could make one name look like another.
[[nodiscard]] constexpr bool is_shown_as_it_is(std::string_view character) {
    const auto byte = [&](std::size_t i) -> char32_t { return static_cast<unsigned char>(character[i]); };
    char32_t code = byte(0);
    if (character.size() > 1) code &= 0x7fU >> character.size();
    for (std::size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3fU);
    const auto is_in = [&](char32_t first, char32_t last) { return first <= code && code <= last; };
    return !(code < 0x20 || is_in(0x7f, 0x9f) || code == 0xad || code == 0x61c || is_in(0x200b, 0x200f) ||
        is_in(0x2028, 0x202e) || is_in(0x2060, 0x206f) || code == 0xfeff || is_in(0xfff9, 0xfffb) ||
        is_in(0xe0000, 0xe007f));
}

void append_printable(std::pmr::string& out, std::string_view text);

}  // namespace detail

/// Returns text from a model or a user in a form that is safe on a terminal: control characters, escape
/// sequences, line breaks, marks that reorder text, and bytes that are not UTF-8 become hexadecimal escapes,
/// so that it cannot move the cursor or look like a message. Text longer than `max` bytes loses its middle.
[[nodiscard]] std::pmr::string printable(std::string_view text, std::size_t max = max_printed_name);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/base/printable_definition.hpp>
#endif

#endif
