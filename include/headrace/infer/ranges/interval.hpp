// SPDX-License-Identifier: MIT
// Defines headrace::interval and its arithmetic.
#ifndef HEADRACE_INFER_RANGES_INTERVAL_HPP
#define HEADRACE_INFER_RANGES_INTERVAL_HPP

#include <algorithm>
#include <cstdint>
#include <limits>

#include <headrace/base/dtype.hpp>
#include <headrace/base/wide_float.hpp>

namespace headrace {

/// A bound of an interval.
using bound = wide_float;

/// All numbers from `low` to `high`, inclusive. A value with this interval may also be NaN.
struct interval {
    static constexpr bound unlimited = std::numeric_limits<double>::infinity();

    bound low = -unlimited;
    bound high = unlimited;

    [[nodiscard]] constexpr bool contains(bound x) const { return low <= x && x <= high; }
    [[nodiscard]] constexpr bool contains(const interval& other) const {
        return low <= other.low && other.high <= high;
    }
    [[nodiscard]] constexpr bool is_number() const { return low == high; }
    [[nodiscard]] constexpr bool is_bounded() const { return -unlimited < low && high < unlimited; }
    friend constexpr bool operator==(const interval&, const interval&) = default;
};

[[nodiscard]] constexpr interval number(bound x) { return {x, x}; }

/// Returns the interval of a dtype's numbers; floats are unlimited.
[[nodiscard]] constexpr interval interval_of(dtype t) {
    if (is_boolean(t)) return {0, 1};
    if (!is_integral(t)) return {};
    bound half = 1;
    for (int i = 1; i != traits_of(t).bits; ++i) half *= 2;
    return is_signed_integral(t) ? interval{-half, half - 1} : interval{0, 2 * half - 1};
}

/// Returns the smallest interval that contains both.
[[nodiscard]] constexpr interval operator|(const interval& a, const interval& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
/// Returns the intersection or, if it is empty, the number of `b` nearest to `a`.
[[nodiscard]] constexpr interval operator&(const interval& a, const interval& b) {
    return {std::min(std::max(a.low, b.low), b.high), std::max(std::min(a.high, b.high), b.low)};
}

[[nodiscard]] constexpr interval operator-(const interval& a) { return {-a.high, -a.low}; }

namespace detail {

// Infinity minus infinity is NaN: the bound is then unknown.
constexpr interval defined(bound low, bound high) {
    return {low == low ? low : -interval::unlimited, high == high ? high : interval::unlimited};
}
// Zero times an infinite bound is zero: the infinite bound means that the operand has no limit, not that it
// can be infinite.
constexpr bound bound_product(bound a, bound b) { return a == 0 || b == 0 ? 0 : a * b; }

/// Returns the smallest interval that contains `f` of all four pairs of bounds.
template <class F>
constexpr interval of_bounds(const interval& a, const interval& b, F f) {
    const interval first = number(f(a.low, b.low)) | number(f(a.low, b.high));
    return first | number(f(a.high, b.low)) | number(f(a.high, b.high));
}

}  // namespace detail

[[nodiscard]] constexpr interval operator+(const interval& a, const interval& b) {
    return detail::defined(a.low + b.low, a.high + b.high);
}
[[nodiscard]] constexpr interval operator-(const interval& a, const interval& b) { return a + -b; }
[[nodiscard]] constexpr interval operator*(const interval& a, const interval& b) {
    return detail::of_bounds(a, b, [](bound x, bound y) { return detail::bound_product(x, y); });
}
/// Quotients of reals; unlimited if the divisor may be 0.
[[nodiscard]] constexpr interval operator/(const interval& a, const interval& b) {
    if (b.contains(bound{0})) return {};
    const interval inverse{1 / b.high, 1 / b.low};
    if (!a.is_bounded() || !b.is_bounded()) return a * inverse;
    return detail::of_bounds(a, b, [](bound x, bound y) { return x / y; });
}

[[nodiscard]] constexpr interval minimum(const interval& a, const interval& b) {
    return {std::min(a.low, b.low), std::min(a.high, b.high)};
}
[[nodiscard]] constexpr interval maximum(const interval& a, const interval& b) {
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
}
[[nodiscard]] constexpr interval magnitude(const interval& a) {
    if (a.low >= 0) return a;
    return a.high <= 0 ? -a : interval{0, std::max(-a.low, a.high)};
}

/// Applies a non-decreasing function to both bounds.
template <class F>
[[nodiscard]] constexpr interval map_bounds(const interval& a, F f) {
    return {f(a.low), f(a.high)};
}
[[nodiscard]] inline interval truncated(const interval& a) {
    return map_bounds(a, [](bound x) { return wide::trunc(x); });
}

/// Sums of `count` numbers of an interval; of between `first` and `last` numbers.
[[nodiscard]] constexpr interval sum_of(const interval& a, std::int64_t count) {
    return a * number(static_cast<bound>(count));
}
[[nodiscard]] constexpr interval sum_of(const interval& a, std::int64_t first, std::int64_t last) {
    return sum_of(a, first) | sum_of(a, last);
}
/// Products of 1 to `count` numbers of an interval.
[[nodiscard]] inline interval product_of(const interval& a, std::int64_t count) {
    const bound largest = std::max(wide::abs(a.low), wide::abs(a.high));
    if (count == 0) return number(1);
    const bound power = largest <= 1 ? largest : wide::pow(largest, static_cast<bound>(count));
    if (a.low >= 0) return {a.low >= 1 ? a.low : wide::pow(a.low, static_cast<bound>(count)), power};
    return {-power, power};
}

/// Remainders of division rounded toward zero; they have the sign of `a`.
[[nodiscard]] constexpr interval remainder_toward_zero(const interval& a, const interval& b) {
    const interval divisor = magnitude(b);
    if (a.low >= 0 && a.high < divisor.low) return a;
    const bound most = divisor.high - 1;
    return {a.low >= 0 ? bound{0} : std::max(a.low, -most), a.high <= 0 ? bound{0} : std::min(a.high, most)};
}
/// Remainders of division rounded down; they have the sign of `b`.
[[nodiscard]] constexpr interval remainder_downward(const interval& a, const interval& b) {
    if (b.low > 0 && a.low >= 0 && a.high < b.low) return a;
    const bound lowest = b.low >= 0 ? bound{0} : b.low + 1;
    const bound highest = b.high <= 0 ? bound{0} : b.high - 1;
    const bound top = a.low >= 0 && b.low > 0 ? std::min(highest, a.high) : highest;
    return {lowest, top};
}

/// Returns the least 2^k - 1 that is at least `x`, which must not be negative.
[[nodiscard]] constexpr bound all_ones_from(bound x) {
    bound ones = 1;
    while (ones - 1 < x && ones < interval::unlimited) ones *= 2;
    return ones - 1;
}
/// Bounds a bitwise result of two integers: not negative if neither operand can be, else of either sign.
[[nodiscard]] constexpr interval bitwise_or(const interval& a, const interval& b) {
    const interval both = a | b;
    const bound most = all_ones_from(std::max(both.high, -both.low - 1));
    return {both.low >= 0 ? bound{0} : -most - 1, most};
}
[[nodiscard]] constexpr interval bitwise_and(const interval& a, const interval& b) {
    if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
    if (a.low >= 0) return {0, a.high};
    if (b.low >= 0) return {0, b.high};
    return bitwise_or(a, b);
}

}  // namespace headrace

#endif
