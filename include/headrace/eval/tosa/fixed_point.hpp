// SPDX-License-Identifier: MIT
// Defines the fixed-point arithmetic of TOSA.
#ifndef HEADRACE_EVAL_TOSA_FIXED_POINT_HPP
#define HEADRACE_EVAL_TOSA_FIXED_POINT_HPP

#include <algorithm>
#include <bit>
#include <cstdint>

#include <headrace/eval/element.hpp>
#include <headrace/eval/map.hpp>

namespace headrace::eval {

/// The numbers that an integer dtype holds, signed or reinterpreted as unsigned.
struct integer_range {
    std::int64_t lowest, highest;
};
[[nodiscard]] inline integer_range range_of_type(dtype t, bool as_unsigned) {
    const int bits = traits_of(t).bits;
    if (bits >= 64) return {INT64_MIN, INT64_MAX};
    if (as_unsigned) return {0, (std::int64_t{1} << bits) - 1};
    return {-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
}

/// apply_scale_32 and apply_scale_16 of the specification.
struct fixed_point_scale {
    std::int64_t multiplier, shift;
};
[[nodiscard]] inline std::int64_t apply_scale(std::int64_t x, const fixed_point_scale& s, bool double_round) {
    const std::int64_t shift = std::clamp<std::int64_t>(s.shift, 1, 62);
    std::int64_t round = std::int64_t{1} << (shift - 1);
    if (double_round && shift > 31) round += x >= 0 ? std::int64_t{1} << 30 : -(std::int64_t{1} << 30);
    return plus()(times()(x, s.multiplier), round) >> shift;
}
/// reciprocal_scale of the specification, for dividing by a count.
[[nodiscard]] inline fixed_point_scale reciprocal_scale(std::int64_t count) {
    const int k = 32 - std::countl_zero(static_cast<std::uint32_t>(count - 1));
    return {(((std::int64_t{1} << 30) + 1) << k) / count, 30 + k};
}

}  // namespace headrace::eval

#endif
