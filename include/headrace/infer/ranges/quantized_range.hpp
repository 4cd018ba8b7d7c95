// SPDX-License-Identifier: MIT
// Defines headrace::require_quantized_range, which checks the range of quantized values of a dtype.
#ifndef HEADRACE_INFER_RANGES_QUANTIZED_RANGE_HPP
#define HEADRACE_INFER_RANGES_QUANTIZED_RANGE_HPP

#include <cstdint>

#include <headrace/base/result.hpp>
#include <headrace/infer/preconditions.hpp>

namespace headrace {

namespace detail {

/// The least and the greatest number of an integer dtype; quantized floats have the range of int32.
struct integer_range {
    std::int64_t low;
    std::int64_t high;
};
[[nodiscard]] constexpr integer_range range_of_integers(dtype t) {
    const int bits = is_integral(t) ? traits_of(t).bits : 32;
    if (bits == 64) return {INT64_MIN, INT64_MAX};
    const bool is_signed = !is_integral(t) || is_signed_integral(t);
    const std::int64_t half = std::int64_t{1} << (bits - 1);
    return is_signed ? integer_range{-half, half - 1} : integer_range{0, 2 * half - 1};
}

}  // namespace detail

/// Refuses a range of quantized values that is empty or does not fit in the dtype.
[[nodiscard]] inline result<void> require_quantized_range(std::int64_t low, std::int64_t high, dtype type) {
    const detail::integer_range bounds = detail::range_of_integers(type);
    HEADRACE_TRY(require_between("quant_min", low, bounds.low, bounds.high));
    return require_between("quant_max", high, low, bounds.high);
}

}  // namespace headrace

#endif
