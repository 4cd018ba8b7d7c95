// SPDX-License-Identifier: MIT
// Defines headrace::ceil_div.
#ifndef HEADRACE_BASE_CEIL_DIV_HPP
#define HEADRACE_BASE_CEIL_DIV_HPP

#include <cstdint>

namespace headrace {

/// Returns how many parts of `size` hold `n`; the last may be partly filled. Both must be positive.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t n, std::int64_t size) {
    return (n + size - 1) / size;
}

}  // namespace headrace

#endif
