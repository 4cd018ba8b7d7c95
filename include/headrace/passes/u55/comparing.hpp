// SPDX-License-Identifier: MIT
// Defines headrace::u55's comparisons and choices, by arithmetic on INT32 or tables of INT8.
#ifndef HEADRACE_PASSES_U55_COMPARING_HPP
#define HEADRACE_PASSES_U55_COMPARING_HPP

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <headrace/passes/u55/int32.hpp>

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

/// The number that an INT8 element represents: as RESCALE without zero point rounds it (TOSA 1.0, 1.9.4).
struct scaled_int8 {
    value v;
    std::int64_t multiplier = 1, shift = 0, zero = 0;

    [[nodiscard]] std::int64_t number(std::int64_t element) const {
        const std::int64_t half = shift == 0 ? 0 : std::int64_t{1} << (shift - 1);
        return ((element - zero) * multiplier + half) >> shift;
    }
};
[[nodiscard]] inline std::optional<scaled_int8> scaled_int8_of(value v) {
    const auto is_int8 = [](value x) { return meta_of(x)->dtype == dtype::int8; };
    if (const auto* a = match<tosa::cast>(v))
        return is_int8(a->input) ? std::optional(scaled_int8{a->input}) : std::nullopt;
    const auto* a = match<tosa::rescale>(v);
    if (a == nullptr || !is_int8(a->input) || a->per_channel || !a->scale32 || a->input_unsigned ||
        a->output_unsigned || a->rounding_mode != rounding_mode::single_round)
        return std::nullopt;
    const auto multiplier = constant_integer(a->multiplier);
    const auto shift = constant_integer(a->shift);
    const auto zero = constant_integer(a->input_zp);
    if (!multiplier || !shift || !zero || constant_integer(a->output_zp) != 0) return std::nullopt;
    return scaled_int8{a->input, *multiplier, *shift, *zero};
}
/// Compares by a table if one operand is INT8 and the other a number; returns an empty value otherwise.
template <class Compare>
value compare_by_table(emit<ops<tosa::table>> e, value a, value b, const Compare& compares) {
    const auto left = scaled_int8_of(a);
    const auto right_number = constant_integer(b);
    if (left && right_number)
        return table(e, left->v, [&](std::int64_t i) { return compares(left->number(i), *right_number); });
    const auto right = scaled_int8_of(b);
    const auto left_number = constant_integer(a);
    if (right && left_number)
        return table(e, right->v, [&](std::int64_t i) { return compares(*left_number, right->number(i)); });
    return {};
}

/// t - f; of constants, a constant.
inline value exact_difference(emit<ops<tosa::sub>> e, value t, value f) {
    const auto on_true = constant_integers(t);
    const auto on_false = constant_integers(f);
    if (!on_true || !on_false || e.shape(t) != e.shape(f)) return e.make<tosa::sub>(t, f);
    pmr_vector<std::int64_t> numbers(on_true->size());
    std::transform(
        on_true->begin(), on_true->end(), on_false->begin(), numbers.begin(), std::minus<std::int64_t>());
    return constant(e, e.shape(t), numbers);
}
/// Chooses by a condition c of 0 and 1: f + c * (t - f), or c * t + (1 - c) * f if the difference may wrap
/// around.
inline value blend(emit<ops<tosa::add, tosa::sub, tosa::mul>> e, value condition, value t, value f) {
    if (difference_fits(t, f))
        return e.make<tosa::add>(build::multiply(e, condition, exact_difference(e, t, f)), f);
    return e.make<tosa::add>(build::multiply(e, condition, t), build::multiply(e, inverse(e, condition), f));
}

}  // namespace headrace::u55

#endif
