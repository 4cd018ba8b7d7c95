// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/elements.hpp.

#include <headrace/io/text/elements.hpp>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <span>
#include <string>
#include <string_view>

#include <headrace/base/dtype.hpp>
#include <headrace/base/float_format.hpp>

namespace headrace::text {

namespace {

void append_integer(std::pmr::string& out, std::integral auto number) {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

bool element_packer::add(std::string_view text) {
    switch (type_) {
        case dtype::boolean:
            return (text == "true" || text == "false") && put(text == "true", 1);
        case dtype::int4:
            return add_nibble(text);
        case dtype::float64:
            return add_number<double>(text);
        case dtype::float32:
            return add_number<float>(text);
        case dtype::uint64:
            return add_number<std::uint64_t>(text);
        case dtype::float16:
        case dtype::bfloat16:
        case dtype::float8_e4m3:
        case dtype::float8_e5m2:
            return add_narrow_float(text);
        default:
            return add_integer(text);
    }
}

template <class Number>
bool element_packer::put(Number number, std::size_t width) {
    const auto* first = reinterpret_cast<const std::byte*>(&number);
    bytes_.insert(bytes_.end(), first, first + width);
    ++count_;
    return true;
}

template <class Number>
bool element_packer::add_number(std::string_view text) {
    Number number{};
    return number_in(text, number) && put(number, sizeof number);
}

bool element_packer::add_nibble(std::string_view text) {
    int number = 0;
    if (!number_in(text, number) || number < -8 || number > 7) return false;
    const auto nibble = static_cast<std::byte>(number & 15);
    if (count_ % 2 == 0) return put(nibble, 1);
    bytes_.back() |= nibble << 4;
    ++count_;
    return true;
}

bool element_packer::add_narrow_float(std::string_view text) {
    double number = 0;
    return number_in(text, number) && put(encode_float(number, format_of(type_)), traits_of(type_).bits / 8U);
}

bool element_packer::add_integer(std::string_view text) {
    const dtype_traits& traits = traits_of(type_);
    if (traits.bits == 0 || traits.category == dtype_category::complex) return false;
    std::int64_t number = 0;
    if (!number_in(text, number)) return false;
    const bool is_signed = type_ == dtype::shape || is_signed_integral(type_);
    if (traits.bits < 64) {
        const std::int64_t limit = std::int64_t{1} << (traits.bits - (is_signed ? 1 : 0));
        if (number >= limit || number < (is_signed ? -limit : 0)) return false;
    }
    return put(number, traits.bits / 8U);
}

namespace {

template <class Number>
[[nodiscard]] Number load(const std::byte* at) {
    Number number{};
    std::memcpy(&number, at, sizeof number);
    return number;
}

/// Loads an integer of up to eight bytes, little-endian.
[[nodiscard]] std::int64_t load_integer(const std::byte* at, unsigned bits, bool is_signed) {
    std::uint64_t number = 0;
    std::memcpy(&number, at, bits / 8U);
    const unsigned unused = 64 - bits;
    return is_signed ? static_cast<std::int64_t>(number << unused) >> unused
                     : static_cast<std::int64_t>(number);
}

}  // namespace

void append_element(std::pmr::string& out, std::span<const std::byte> bytes, dtype type, std::uint64_t i) {
    const unsigned bits = traits_of(type).bits;
    const std::byte* at = bytes.data() + i * bits / 8;
    switch (type) {
        case dtype::boolean:
            out += *at == std::byte{0} ? "false" : "true";
            break;
        case dtype::int4: {
            const auto nibble = static_cast<int>(*at >> (i % 2 * 4) & std::byte{15});
            append_integer(out, nibble < 8 ? nibble : nibble - 16);
            break;
        }
        case dtype::float64:
            append_floating(out, load<double>(at));
            break;
        case dtype::float32:
            append_floating(out, load<float>(at));
            break;
        case dtype::uint64:
            append_integer(out, load<std::uint64_t>(at));
            break;
        case dtype::float16:
        case dtype::bfloat16:
        case dtype::float8_e4m3:
        case dtype::float8_e5m2:
            append_floating(out,
                static_cast<float>(decode_float(
                    static_cast<std::uint32_t>(load_integer(at, bits, false)), format_of(type))));
            break;
        default:
            append_integer(out, load_integer(at, bits, type == dtype::shape || is_signed_integral(type)));
    }
}

namespace {

void append_hexadecimal(std::pmr::string& out, std::span<const std::byte> bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    out += "0x";
    for (const std::byte b : bytes) {
        const auto byte = std::to_integer<unsigned>(b);
        (out += digits[byte / 16]) += digits[byte % 16];
    }
}

}  // namespace

void append_elements(
    std::pmr::string& out, std::span<const std::byte> bytes, dtype type, std::uint64_t count) {
    const std::size_t begin = out.size();
    element_packer again(type);
    bool exact = !is_complex(type);
    out += '[';
    for (std::uint64_t i = 0; i != count && exact; ++i) {
        if (i != 0) out += ", ";
        const std::size_t first = out.size();
        append_element(out, bytes, type, i);
        exact = again.add(std::string_view(out).substr(first));
    }
    out += ']';
    if (exact && std::ranges::equal(again.bytes(), bytes)) return;
    out.resize(begin);
    append_hexadecimal(out, bytes);
}

}  // namespace headrace::text
