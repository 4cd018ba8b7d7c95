// SPDX-License-Identifier: MIT
// Defines how the elements of a constant are written to and read from a graph's text.
#ifndef HEADRACE_IO_TEXT_ELEMENTS_HPP
#define HEADRACE_IO_TEXT_ELEMENTS_HPP

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <headrace/base/dtype.hpp>

namespace headrace::text {

/// Reads the whole of `text` as a number; false if it is not a number, or does not fit.
template <class Number>
[[nodiscard]] bool number_in(std::string_view text, Number& number) {
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failed == std::errc() && end == text.data() + text.size();
}

/// Appends a number with a point or an exponent, so that 2.0 is not 2.
template <std::floating_point Number>
void append_floating(std::pmr::string& out, Number number) {
    char digits[32];
    const std::string_view shortest(
        digits, static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, number).ptr - digits));
    out += shortest;
    if (shortest.find_first_of(".en") == std::string_view::npos) out += ".0";
}

/// Packs elements that are added one by one, as text.
class element_packer {
public:
    explicit element_packer(dtype type) : type_(type) {}

    /// Returns false if the text is not an element of the type.
    [[nodiscard]] bool add(std::string_view text);
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
    [[nodiscard]] std::uint64_t count() const { return count_; }

private:
    template <class Number>
    bool put(Number number, std::size_t width);
    template <class Number>
    bool add_number(std::string_view text);
    bool add_nibble(std::string_view text);
    bool add_narrow_float(std::string_view text);
    bool add_integer(std::string_view text);

    dtype type_;
    std::vector<std::byte> bytes_;
    std::uint64_t count_ = 0;
};

void append_element(std::pmr::string& out, std::span<const std::byte> bytes, dtype type, std::uint64_t i);

/// Appends `[1.0, 2.5]`, or the bytes in hexadecimal if numbers would not give the same bits: complex
/// numbers, NaNs with a payload, booleans that are neither 0 nor 1.
void append_elements(
    std::pmr::string& out, std::span<const std::byte> bytes, dtype type, std::uint64_t count);

}  // namespace headrace::text

#endif
