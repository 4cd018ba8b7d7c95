// SPDX-License-Identifier: MIT
// Defines headrace::number_text and headrace::counted_text.
#ifndef HEADRACE_BASE_TEXT_HPP
#define HEADRACE_BASE_TEXT_HPP

#include <charconv>
#include <concepts>
#include <limits>
#include <memory_resource>
#include <string>
#include <string_view>

namespace headrace {

/// A number in decimal digits. Texts of the library are std::pmr::string, as its lists are std::pmr::vector:
/// they take their memory where std::pmr::get_default_resource() says, so that a program without a heap can
/// choose.
[[nodiscard]] std::pmr::string number_text(std::integral auto number) {
    char digits[std::numeric_limits<decltype(number)>::digits10 + 2];
    return {digits, std::to_chars(digits, digits + sizeof(digits), number).ptr};
}
/// The same with six significant digits.
[[nodiscard]] std::pmr::string number_text(std::floating_point auto number) {
    char digits[16];  // sign, digits, point, and an exponent of five characters
    return {digits,
            std::to_chars(digits, digits + sizeof(digits), number, std::chars_format::general, 6).ptr};
}
/// "1 input", "2 inputs".
[[nodiscard]] std::pmr::string counted_text(std::integral auto number, std::string_view one) {
    return (number_text(number) + ' ').append(one) + (number == 1 ? "" : "s");
}

}  // namespace headrace

#endif
