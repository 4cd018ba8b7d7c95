// SPDX-License-Identifier: MIT
// Defines headrace::u55's comparisons of INT32, which return 0 and 1 as INT32.
#ifndef HEADRACE_PASSES_U55_COMPARING_HPP
#define HEADRACE_PASSES_U55_COMPARING_HPP

#include <utility>

#include <headrace/passes/u55/int32.hpp>
#include <headrace/passes/u55/intervals.hpp>

namespace headrace::u55 {

using compare_ops = ops<tosa::add, tosa::sub, tosa::abs, tosa::clz, tosa::maximum, tosa::minimum,
    tosa::arithmetic_right_shift, tosa::logical_left_shift>;

/// True if a - b does not wrap around.
[[nodiscard]] inline bool difference_fits(value a, value b) {
    return interval_of(a).reach() + interval_of(b).reach() <= INT32_MAX;
}

/// 1 - truth.
inline value inverse(emit<ops<tosa::sub>> e, value truth) {
    return e.make<tosa::sub>(splat(e, 1, truth), truth);
}

inline value is_not_zero(emit<compare_ops> e, value v) {
    const interval known = interval_of(v);
    if (known.lies_in({0, 1})) return v;
    value number = v;
    if (known.least < 0) {
        number = known.least > INT32_MIN ? e.make<tosa::abs>(v)
                                         : e.make<tosa::sub>(splat(e, 32, v), e.make<tosa::clz>(v));
    }
    return e.make<tosa::minimum>(number, splat(e, 1, v));
}

/// Returns the upper and the lower 16 bits; the lower half is nonnegative. The shift rounds, so half of the
/// divisor is subtracted first, as far as that does not wrap around.
inline std::pair<value, value> halves(emit<compare_ops> e, value v) {
    constexpr std::int64_t half = 32768;
    const value by = splat(e, 16, v);
    const value least = splat(e, INT32_MIN + half, v);
    const value shifted = e.make<tosa::sub>(e.make<tosa::maximum>(v, least), splat(e, half, v));
    const value high = rounded_shift(e, shifted, by);
    return {high, e.make<tosa::sub>(v, e.make<tosa::logical_left_shift>(high, by))};
}

/// Returns a number with the sign of a - b. If a - b may wrap around, its sign is that of the difference of
/// the upper halves or, if that is 0, of the lower halves.
inline value difference(emit<compare_ops> e, value a, value b) {
    if (difference_fits(a, b)) return e.make<tosa::sub>(a, b);
    const auto [a_high, a_low] = halves(e, a);
    const auto [b_high, b_low] = halves(e, b);
    const value high = e.make<tosa::sub>(a_high, b_high);
    const value at_most_one = e.make<tosa::minimum>(high, splat(e, 1, high));
    const value sign = e.make<tosa::maximum>(at_most_one, splat(e, -1, high));
    const value above = e.make<tosa::logical_left_shift>(sign, splat(e, 16, sign));
    return e.make<tosa::add>(above, e.make<tosa::sub>(a_low, b_low));
}

inline value equal(emit<compare_ops> e, value a, value b) {
    return inverse(e, is_not_zero(e, difference(e, a, b)));
}
inline value greater(emit<compare_ops> e, value a, value b) { return clamp(e, difference(e, a, b), 0, 1); }
inline value greater_equal(emit<compare_ops> e, value a, value b) { return inverse(e, greater(e, b, a)); }

}  // namespace headrace::u55

#endif
