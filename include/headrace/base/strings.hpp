// SPDX-License-Identifier: MIT
// Defines headrace::join_text and headrace::shortest_text.
#ifndef HEADRACE_BASE_STRINGS_HPP
#define HEADRACE_BASE_STRINGS_HPP

#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace headrace {

namespace detail {

inline void append_part(std::string& out, std::string_view part) { out += part; }
inline void append_part(std::string& out, char part) { out += part; }
template <std::integral Number>
    requires(!std::same_as<Number, char>)
void append_part(std::string& out, Number number) {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace detail

/// Concatenates strings, characters and integers.
template <class... Parts>
[[nodiscard]] std::string join_text(const Parts&... parts) {
    std::string out;
    (detail::append_part(out, parts), ...);
    return out;
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
