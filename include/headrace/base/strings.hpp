// SPDX-License-Identifier: MIT
// Defines headrace::join_text and headrace::shortest_text.
#ifndef HEADRACE_BASE_STRINGS_HPP
#define HEADRACE_BASE_STRINGS_HPP

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

#include <headrace/base/text.hpp>

namespace headrace {

/// Concatenates strings, characters and integers, as text_of does.
template <class... Parts>
[[nodiscard]] std::string join_text(const Parts&... parts) {
    return std::string(text_of({text_part(parts)...}));
}

/// Returns the fewest digits that read back as the same number, which must be finite: 0.1, 12, 1e-07. There
/// is no exponent from 0.0001 up to fifteen digits.
[[nodiscard]] inline std::string shortest_text(double number) {
    char text[32];
    const char* const end =
        std::to_chars(text, text + sizeof text, number, std::chars_format::scientific).ptr;
    const std::string_view all(text, static_cast<std::size_t>(end - text));
    const std::size_t e = all.find('e');
    int exponent = 0;
    const char* const sign = text + e + 1;
    std::from_chars(*sign == '+' ? sign + 1 : sign, end, exponent);
    constexpr int lowest_plain = -4;
    constexpr int highest_plain = 14;
    if (exponent < lowest_plain || exponent > highest_plain) return std::string(all);
    return {text, std::to_chars(text, text + sizeof text, number, std::chars_format::fixed).ptr};
}

}  // namespace headrace

#endif
