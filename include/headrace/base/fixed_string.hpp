// SPDX-License-Identifier: MIT
// Defines headrace::fixed_string, text as a template argument.
#ifndef HEADRACE_BASE_FIXED_STRING_HPP
#define HEADRACE_BASE_FIXED_STRING_HPP

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headrace {

/// A string that can be a template argument, such as the name of an op.
template <std::size_t N>
struct fixed_string {
    char text[N]{};

    consteval fixed_string(const char (&literal)[N]) {
        for (std::size_t i = 0; i != N; ++i) text[i] = literal[i];
    }
    /// Keeps as much of `longer` as fits.
    explicit consteval fixed_string(std::string_view longer) {
        for (std::size_t i = 0; i + 1 < N && i != longer.size(); ++i) text[i] = longer[i];
    }

    [[nodiscard]] constexpr std::string_view view() const { return {text, N - 1}; }
};

/// FNV-1a, 64 bits. Names are compared by it at compile time and looked up by it at run time.
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 14695981039346656037U;
    const char* at = text.data();  // a loop over iterators takes the compiler twice as long
    for (std::size_t left = text.size(); left != 0; --left)
        hash = (hash ^ static_cast<unsigned char>(*at++)) * 1099511628211U;
    return hash;
}

}  // namespace headrace

#endif
