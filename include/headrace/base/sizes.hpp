// SPDX-License-Identifier: MIT
// Defines headrace::sizes, a span of sizes, axes or strides, and saturating arithmetic on sizes.
#ifndef HEADRACE_BASE_SIZES_HPP
#define HEADRACE_BASE_SIZES_HPP

#include <cstdint>
#include <span>

namespace headrace {

/// The parameter type for shapes, axes and strides.
using sizes = std::span<const std::int64_t>;

/// Products and sums of sizes saturate at the bounds of int64 instead of overflowing; infer/shape_builder.hpp
/// refuses such sizes.
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

/// Returns the number of elements; saturates.
[[nodiscard]] constexpr std::int64_t element_count(sizes shape) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count = saturating_mul(count, size);
    return count;
}

}  // namespace headrace

#endif
