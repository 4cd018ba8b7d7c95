// SPDX-License-Identifier: MIT
// Defines headrace::text_of, headrace::number_text and headrace::counted_text.
#ifndef HEADRACE_BASE_TEXT_HPP
#define HEADRACE_BASE_TEXT_HPP

#include <charconv>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory_resource>
#include <string>
#include <string_view>

namespace headrace {

/// Returns a number in decimal digits. The library's strings are std::pmr::string and its lists pmr_vector:
/// they allocate from std::pmr::get_default_resource(), so a program without a heap can choose the memory.
[[nodiscard]] std::pmr::string number_text(std::integral auto number) {
    char digits[std::numeric_limits<decltype(number)>::digits10 + 2];
    return {digits, std::to_chars(digits, digits + sizeof(digits), number).ptr};
}
/// Returns a number with six significant digits.
[[nodiscard]] std::pmr::string number_text(std::floating_point auto number) {
    char digits[16];  // sign, digits, point, and an exponent of five characters
    return {
        digits, std::to_chars(digits, digits + sizeof(digits), number, std::chars_format::general, 6).ptr};
}

/// A part of a text: characters, which it does not own, or an integer in decimal digits. Other numbers need
/// number_text, because their formatting would be linked into each program and needs a heap on Cortex-M.
class text_part {
public:
    text_part(std::string_view text) : text_(text) {}
    text_part(const char* text) : text_(text) {}
    text_part(const std::string& text) : text_(text) {}
    text_part(const std::pmr::string& text) : text_(text) {}
    text_part(char c) : kind_(kind::character), number_(static_cast<unsigned char>(c)) {}
    text_part(std::signed_integral auto number)
        : kind_(number < 0 ? kind::negative : kind::number), number_(static_cast<std::uint64_t>(number)) {}
    text_part(std::unsigned_integral auto number) : kind_(kind::number), number_(number) {}
    text_part(bool) = delete;

    void append_to(std::pmr::string& out) const;

private:
    enum class kind : unsigned char { text, character, number, negative };
    kind kind_ = kind::text;
    std::string_view text_{};
    std::uint64_t number_ = 0;
};

/// Concatenates the parts: text_of({"axis ", axis, " of ", shape_text(s)}).
[[nodiscard]] std::pmr::string text_of(std::initializer_list<text_part> parts);

/// Returns "1 input", "2 inputs".
[[nodiscard]] std::pmr::string counted_text(std::integral auto number, std::string_view one) {
    return text_of({number, " ", one, number == 1 ? "" : "s"});
}

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/base/text_definition.hpp>
#endif

#endif
