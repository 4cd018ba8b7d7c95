// SPDX-License-Identifier: MIT
// Defines the rules of TOSA's elementwise ops on integers, and of sums over an axis.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include <headrace/dialect/tosa.hpp>
#include <headrace/prove/query.hpp>

namespace headrace::prove {

namespace {

// No claim is about floats; NaN has no bounds.
void give_arithmetic(query& q, const spread& computed) {
    if (!q.is_integral()) {
        if (!computed.all().is_bounded()) return;
        return q.give(computed.mapped([&](const interval& i) { return rounded_to(q.type(), i); }));
    }
    q.claim_within(claim_kind::arithmetic, computed, interval_of(q.type()));
    q.give(computed);
}
void add(query& q, const args<tosa::add>& a) {
    give_arithmetic(q, combined(q(a.input1), q(a.input2), std::plus<>()));
}
// x - max(x) and the like: the difference of a tensor and its largest or smallest element has one sign.
template <op_tag Reduction>
bool is_reduced(value whole, value best) {
    const auto* const a = match<Reduction>(best);
    return a != nullptr && a->input == whole;
}
void sub(query& q, const args<tosa::sub>& a) {
    spread difference = combined(q(a.input1), q(a.input2), std::minus<>());
    const auto limit = [&](const interval& to) {
        difference = difference.mapped([&](const interval& i) { return i & to; });
    };
    if (is_reduced<tosa::reduce_max>(a.input1, a.input2)) limit({-interval::unlimited, 0});
    if (is_reduced<tosa::reduce_min>(a.input1, a.input2)) limit({0, interval::unlimited});
    if (a.input1 == a.input2) limit(number(0));
    give_arithmetic(q, difference);
}
interval shifted_half_up(const interval& i, std::int64_t by) {
    if (by == 0) return i;
    return map_bounds(i, [by](bound x) { return wide::floor(wide::ldexp(x, static_cast<int>(-by)) + 0.5L); });
}
void mul(query& q, const args<tosa::mul>& a) {
    if (!q.is_integral()) return give_arithmetic(q, combined(q(a.input1), q(a.input2), std::multiplies<>()));
    const interval by = q.all_of(a.shift);
    q.claim_within(claim_kind::shift_amount, by, {0, q.type() == dtype::int32 ? bound{63} : bound{0}}, 0);
    const interval amounts = by & interval{0, 63};
    const bool squares = a.input1 == a.input2;
    give_arithmetic(q, combined(q(a.input1), q(a.input2), [&](const interval& x, const interval& y) {
        const interval size = magnitude(x);
        const interval product = squares ? size * size : x * y;
        return shifted_half_up(product, static_cast<std::int64_t>(amounts.low)) |
            shifted_half_up(product, static_cast<std::int64_t>(amounts.high));
    }));
}
void abs(query& q, const args<tosa::abs>& a) {
    give_arithmetic(q, q(a.input1).mapped([](const interval& i) { return magnitude(i); }));
}
// Narrow types saturate; int32 has nothing wider to negate in.
void negate(query& q, const args<tosa::negate>& a) {
    if (!q.is_integral()) return;
    const interval in_zp = q.all_of(a.input1_zp);
    const interval out_zp = q.all_of(a.output_zp);
    const spread negated = q(a.input1).mapped([&](const interval& i) { return in_zp - i + out_zp; });
    if (q.type() == dtype::int32) return give_arithmetic(q, negated);
    q.give(negated);
}
void intdiv(query& q, const args<tosa::intdiv>& a) {
    const spread& divisor = q(a.input2);
    const interval limits = interval_of(q.type());
    for (std::size_t i = 0; i != divisor.parts.size(); ++i) {
        const interval& d = divisor.parts[i];
        const bool is_negative = d.high < 0 || (d.high == 0 && d.low < 0);
        q.claim_within(
            claim_kind::divisor, d, is_negative ? interval{limits.low, -1} : interval{1, limits.high}, i);
    }
    give_arithmetic(q, combined(q(a.input1), divisor, [](const interval& x, interval y) {
        if (y.low == 0 && y.high > 0) y.low = 1;
        if (y.high == 0 && y.low < 0) y.high = -1;
        return y.contains(bound{0}) ? x | -x | number(0) : truncated(x / y);
    }));
}
template <class F>
void bitwise(query& q, value x, value y, F f) {
    if (is_boolean(q.type())) return;
    q.give(combined(q(x), q(y), f));
}
void bitwise_and(query& q, const args<tosa::bitwise_and>& a) {
    bitwise(q, a.input1, a.input2,
        [](const interval& x, const interval& y) { return headrace::bitwise_and(x, y); });
}
void bitwise_or(query& q, const args<tosa::bitwise_or>& a) {
    bitwise(q, a.input1, a.input2,
        [](const interval& x, const interval& y) { return headrace::bitwise_or(x, y); });
}
void bitwise_xor(query& q, const args<tosa::bitwise_xor>& a) {
    bitwise(q, a.input1, a.input2,
        [](const interval& x, const interval& y) { return headrace::bitwise_or(x, y) | number(0); });
}
void bitwise_not(query& q, const args<tosa::bitwise_not>& a) {
    q.give(q(a.input1).mapped([](const interval& i) { return interval{-1 - i.high, -1 - i.low}; }));
}
void clz(query& q, const args<tosa::clz>& a) {
    q.give(q(a.input1).mapped([](const interval& x) {
        if (!interval{0, INT32_MAX}.contains(x)) return interval{0, 32};
        const auto zeros = [](bound n) {
            return static_cast<bound>(std::countl_zero(static_cast<std::uint32_t>(n)));
        };
        return interval{zeros(x.high), zeros(x.low)};
    }));
}

interval amounts_of(query& q, value amount) {
    const interval limits{0, static_cast<bound>(traits_of(q.type()).bits - 1)};
    q.claim_within(claim_kind::shift_amount, q(amount), limits);
    return q.all_of(amount) & limits;
}
void arithmetic_right_shift(query& q, const args<tosa::arithmetic_right_shift>& a) {
    const interval by = amounts_of(q, a.input2);
    q.give(q(a.input1).mapped([&](const interval& i) {
        const auto shifted = [&](bound amount) {
            const interval exact =
                map_bounds(i, [&](bound x) { return wide::ldexp(x, -static_cast<int>(amount)); });
            return interval{
                wide::floor(exact.low), a.round ? wide::floor(exact.high + 0.5L) : wide::floor(exact.high)};
        };
        return shifted(by.low) | shifted(by.high);
    }));
}
// Returns numbers as a type holds their low bits.
interval wrapped(const interval& i, const interval& limits) {
    const bound count = limits.high - limits.low + 1;
    const bound times = wide::floor((i.low - limits.low) / count);
    const interval moved = i - number(times * count);
    return limits.contains(moved) ? moved : limits;
}
// Bits that leave the type are dropped, as defined.
void logical_left_shift(query& q, const args<tosa::logical_left_shift>& a) {
    const interval by = amounts_of(q, a.input2);
    const interval factor{wide::exp2(by.low), wide::exp2(by.high)};
    q.give(q(a.input1).mapped([&](const interval& i) { return wrapped(i * factor, interval_of(q.type())); }));
}
void logical_right_shift(query& q, const args<tosa::logical_right_shift>& a) {
    const interval by = amounts_of(q, a.input2);
    const interval limits = interval_of(q.type());
    const bound wraps = limits.high - limits.low + 1;
    q.give(q(a.input1).mapped([&](const interval& i) {
        const interval bits = i.low >= 0 ? i : i.high < 0 ? i + number(wraps) : interval{0, wraps - 1};
        const interval shifted{wide::floor(wide::ldexp(bits.low, -static_cast<int>(by.high))),
            wide::floor(wide::ldexp(bits.high, -static_cast<int>(by.low)))};
        return limits.contains(shifted) ? shifted : limits;
    }));
}
template <class Args>
void best(query& q, const Args& a) {
    const bool is_max = q.of().op == &info_of<tosa::maximum>;
    q.give(combined(q(a.input1), q(a.input2),
        [is_max](const interval& x, const interval& y) { return is_max ? maximum(x, y) : minimum(x, y); }));
}
void clamp(query& q, const args<tosa::clamp>& a) {
    const auto limit = [](const scalar& s) {
        return s.is_floating() ? static_cast<bound>(s.to_double()) : static_cast<bound>(s.to_int());
    };
    const interval low = number(limit(a.min_val));
    const interval high = number(limit(a.max_val));
    q.give(q(a.input).mapped([&](const interval& i) { return minimum(maximum(i, low), high); }));
}

interval positive_part(const interval& i) { return {std::min(i.low, bound{0}), std::max(i.high, bound{0})}; }
void reduce_sum(query& q, const args<tosa::reduce_sum>& a) {
    if (!q.is_integral()) return;
    const auto axis = static_cast<std::size_t>(a.axis);
    const std::int64_t count = meta_of(a.input)->shape[axis];
    const auto times = [](const interval& i, std::int64_t n) { return sum_of(i, n); };
    const spread& in = q(a.input);
    const spread partial = reduced(in.mapped(positive_part), axis, count, times, std::plus<interval>());
    q.claim_within(claim_kind::accumulator, partial, interval_of(q.type()));
    q.give(reduced(in, axis, count, times, std::plus<interval>()));
}

interval truth_of(bool always, bool never) { return always ? number(1) : never ? number(0) : interval{0, 1}; }
// Comparisons with NaN are false.
template <class Compare>
void compare(query& q, value x, value y, Compare f) {
    const bool may_be_nan =
        is_floating(meta_of(x)->dtype) && !(q.all_of(x).is_bounded() && q.all_of(y).is_bounded());
    q.give(combined(q(x), q(y), [&](const interval& a, const interval& b) {
        const interval truth = f(a, b);
        return may_be_nan ? truth | number(0) : truth;
    }));
}
void greater(query& q, const args<tosa::greater>& a) {
    compare(q, a.input1, a.input2,
        [](const interval& x, const interval& y) { return truth_of(x.low > y.high, x.high <= y.low); });
}
void greater_equal(query& q, const args<tosa::greater_equal>& a) {
    compare(q, a.input1, a.input2,
        [](const interval& x, const interval& y) { return truth_of(x.low >= y.high, x.high < y.low); });
}
void equal(query& q, const args<tosa::equal>& a) {
    compare(q, a.input1, a.input2, [](const interval& x, const interval& y) {
        return truth_of(x.is_number() && x == y, x.high < y.low || y.high < x.low);
    });
}
void logical_and(query& q, const args<tosa::logical_and>& a) {
    q.give(combined(
        q(a.input1), q(a.input2), [](const interval& x, const interval& y) { return minimum(x, y); }));
}
void logical_or(query& q, const args<tosa::logical_or>& a) {
    q.give(combined(
        q(a.input1), q(a.input2), [](const interval& x, const interval& y) { return maximum(x, y); }));
}
void logical_not(query& q, const args<tosa::logical_not>& a) {
    q.give(q(a.input1).mapped([](const interval& i) { return number(1) - i; }));
}

void unit_interval(query& q, const args<tosa::sigmoid>&) { q.give(interval{0, 1}); }
void symmetric_interval(query& q, const args<tosa::tanh>&) { q.give(interval{-1, 1}); }

}  // namespace

std::span<const rule> elementwise_rules() {
    static constexpr std::array rules{rule_of<tosa::add, add>, rule_of<tosa::sub, sub>,
        rule_of<tosa::mul, mul>, rule_of<tosa::abs, abs>, rule_of<tosa::negate, negate>,
        rule_of<tosa::intdiv, intdiv>, rule_of<tosa::bitwise_and, bitwise_and>,
        rule_of<tosa::bitwise_or, bitwise_or>, rule_of<tosa::bitwise_xor, bitwise_xor>,
        rule_of<tosa::bitwise_not, bitwise_not>, rule_of<tosa::clz, clz>,
        rule_of<tosa::arithmetic_right_shift, arithmetic_right_shift>,
        rule_of<tosa::logical_left_shift, logical_left_shift>,
        rule_of<tosa::logical_right_shift, logical_right_shift>,
        rule_of<tosa::maximum, best<args<tosa::maximum>>>, rule_of<tosa::minimum, best<args<tosa::minimum>>>,
        rule_of<tosa::greater, greater>, rule_of<tosa::greater_equal, greater_equal>,
        rule_of<tosa::equal, equal>, rule_of<tosa::logical_and, logical_and>,
        rule_of<tosa::logical_or, logical_or>, rule_of<tosa::logical_not, logical_not>,
        rule_of<tosa::clamp, clamp>, rule_of<tosa::reduce_sum, reduce_sum>,
        rule_of<tosa::sigmoid, unit_interval>, rule_of<tosa::tanh, symmetric_interval>};
    return rules;
}

}  // namespace headrace::prove
