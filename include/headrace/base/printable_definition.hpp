// SPDX-License-Identifier: MIT
// Defines the functions of base/printable.hpp.
#ifndef HEADRACE_BASE_PRINTABLE_DEFINITION_HPP
#define HEADRACE_BASE_PRINTABLE_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/base/compiled.hpp>

namespace headrace {

namespace detail {

HEADRACE_INLINE void append_printable(std::pmr::string& out, std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    for (std::size_t i = 0; i != text.size();) {
        const std::size_t length = character_length(text, i);
        const bool shown = length != 0 && is_shown_as_it_is(text.substr(i, length));
        for (const char c : text.substr(i, std::max<std::size_t>(length, 1))) {
            const auto byte = static_cast<unsigned char>(c);
            if (shown) {
                out += c;
            } else {
                ((out += "\\x") += digits[byte / 16]) += digits[byte % 16];
            }
        }
        i += std::max<std::size_t>(length, 1);
    }
}

}  // namespace detail

HEADRACE_INLINE std::pmr::string printable(std::string_view text, std::size_t max) {
    std::pmr::string out;
    const auto is_continuation = [&](std::size_t i) {
        return (static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U;
    };
    if (text.size() <= max) {
        detail::append_printable(out, text);
        return out;
    }
    std::size_t head = max / 2;
    std::size_t tail = text.size() - max / 2;
    for (int i = 0; i != 3 && head != 0 && is_continuation(head); ++i) --head;
    for (int i = 0; i != 3 && tail != text.size() && is_continuation(tail); ++i) ++tail;
    detail::append_printable(out, text.substr(0, head));
    out += "...";
    detail::append_printable(out, text.substr(tail));
    return out;
}

}  // namespace headrace

#endif
