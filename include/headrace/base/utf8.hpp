// SPDX-License-Identifier: MIT
// Defines headrace::is_utf8.
#ifndef HEADRACE_BASE_UTF8_HPP
#define HEADRACE_BASE_UTF8_HPP

#include <cstddef>
#include <string_view>

namespace headrace {

/// True if the text is valid UTF-8 (RFC 3629): no overlong form, no surrogate, nothing above U+10FFFF.
[[nodiscard]] constexpr bool is_utf8(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    for (std::size_t i = 0; i != text.size();) {
        const unsigned char first = byte(i);
        if (first < 0x80) {
            ++i;
            continue;
        }
        if (first < 0xc2 || first > 0xf4) return false;
        const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        if (text.size() - i < length) return false;
        // After some first bytes, the second byte has a narrower range.
        const unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
        const unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
        if (byte(i + 1) < low || byte(i + 1) > high) return false;
        for (std::size_t k = 2; k < length; ++k) {
            if (byte(i + k) < 0x80 || byte(i + k) > 0xbf) return false;
        }
        i += length;
    }
    return true;
}

}  // namespace headrace

#endif
