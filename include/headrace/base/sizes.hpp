// SPDX-License-Identifier: MIT
// Defines headrace::sizes, shapes, axes and strides as a span, and their arithmetic, which saturates.
#ifndef HEADRACE_BASE_SIZES_HPP
#define HEADRACE_BASE_SIZES_HPP

#include <cstdint>
#include <span>

namespace headrace {

/// Sizes, as a span: what shapes, axes and strides are passed as.
using sizes = std::span<const std::int64_t>;

/// Products and sums of sizes stop at the bounds of 63 bits instead of overflowing.
/// infer/shape_builder.hpp refuses those.
[[nodiscard]] constexpr std::int64_t saturating_mul(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? ((a < 0) == (b < 0) ? INT64_MAX : INT64_MIN) : product;
}
[[nodiscard]] constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}
[[nodiscard]] constexpr std::int64_t saturating_sub(std::int64_t a, std::int64_t b) {
    std::int64_t difference = 0;
    return __builtin_sub_overflow(a, b, &difference) ? (a < 0 ? INT64_MIN : INT64_MAX) : difference;
}

/// Number of elements; saturates.
[[nodiscard]] constexpr std::int64_t element_count(sizes shape) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count = saturating_mul(count, size);
    return count;
}

}  // namespace headrace

#endif
