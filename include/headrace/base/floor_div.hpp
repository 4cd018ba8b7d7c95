// SPDX-License-Identifier: MIT
// Defines headrace::floor_div.
#ifndef HEADRACE_BASE_FLOOR_DIV_HPP
#define HEADRACE_BASE_FLOOR_DIV_HPP

#include <cstdint>

namespace headrace {

/// Divides, rounding toward minus infinity; the divisor must be positive.
[[nodiscard]] constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}

}  // namespace headrace

#endif
