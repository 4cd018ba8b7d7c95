// SPDX-License-Identifier: MIT
// Defines the functions in the table of infer/ranges/range_rules_definition.hpp.
#ifndef HEADRACE_INFER_RANGES_RANGE_FUNCTIONS_HPP
#define HEADRACE_INFER_RANGES_RANGE_FUNCTIONS_HPP

#include <cstddef>
#include <string_view>

#include <headrace/infer/ranges/interval.hpp>
#include <headrace/infer/ranges/range_query.hpp>

namespace headrace::detail::range_functions {

// Each function is called with the query and an op's arguments, whose members are named as in its schema.

inline constexpr auto as_self = [](const range_query& q, const auto& a) { return q(a.self); };
inline constexpr auto self_or_zero = [](const range_query& q, const auto& a) {
    return q(a.self) | number(0);
};
inline constexpr auto truth_value = [](const range_query&, const auto&) { return interval{0, 1}; };
inline constexpr auto unit_interval = truth_value;
inline constexpr auto within_one = [](const range_query&, const auto&) { return interval{-1, 1}; };
inline constexpr auto not_negative = [](const range_query&, const auto&) {
    return interval{0, interval::unlimited};
};
inline constexpr auto total = [](const range_query& q, const auto& a) {
    return q.if_integral(sum_of(summand(q, a.self), q.reduced_count(a.self)));
};
inline constexpr auto total_product = [](const range_query& q, const auto& a) {
    return q.if_integral(product_of(summand(q, a.self), q.reduced_count(a.self)));
};
// Result 0 has elements, result 1 their positions along an axis.
inline constexpr auto chosen = [](const range_query& q, const auto& a) {
    return q.result() == 0 ? q(a.self) : positions(q.size_of(a.self, a.dim));
};
// A count of elements.
inline constexpr auto counted = [](const range_query& q, const auto& a) {
    return interval{0, static_cast<bound>(q.elements_of(a.self))};
};
inline constexpr auto place_between = [](const range_query& q, const auto& a) {
    if constexpr (requires { a.boundaries; }) {
        return interval{0, static_cast<bound>(q.elements_of(a.boundaries))};
    } else {
        return interval{0, static_cast<bound>(q.size_of(a.sorted_sequence, -1))};
    }
};
inline constexpr auto in_triangle = [](const range_query&, const auto& a) {
    return positions(a.row > a.col ? a.row : a.col);
};
// Result 0 has elements of windows, result 1 their positions in the plane.
inline constexpr auto chosen_in_window = [](const range_query& q, const auto& a) {
    return q.result() == 0 ? q(a.self) : positions(q.elements_of(a.self));
};
inline constexpr auto position = [](const range_query& q, const auto& a) {
    return positions(q.size_of(a.self, a.dim));
};
// Elements of the last operand replace some of self.
inline constexpr auto self_or_source = [](const range_query& q, const auto& a) {
    if constexpr (requires { a.src; }) {
        return q(a.self) | q(a.src);
    } else if constexpr (requires { a.source; }) {
        return q(a.self) | q(a.source);
    } else if constexpr (requires { a.values; }) {
        return a.accumulate ? q.if_integral(interval()) : q(a.self) | q(a.values);
    } else {
        return q(a.self) | q(a.value);
    }
};
inline constexpr auto chosen_by_condition = [](const range_query& q, const auto& a) {
    return q(a.self) | q(a.other);
};
inline constexpr auto counted_up = [](const range_query& q, const auto& a) { return stepped(q, a); };
inline constexpr auto larger = [](const range_query& q, const auto& a) {
    return maximum(q(a.self), q(a.other));
};
inline constexpr auto smaller = [](const range_query& q, const auto& a) {
    return minimum(q(a.self), q(a.other));
};
// If one operand is NaN, the result is the other one.
inline constexpr auto either = [](const range_query& q, const auto& a) { return q(a.self) | q(a.other); };
inline constexpr auto sum = [](const range_query& q, const auto& a) {
    return q(a.self) + q(a.other) * q(a.alpha);
};
inline constexpr auto difference = [](const range_query& q, const auto& a) {
    return q(a.self) - q(a.other) * q(a.alpha);
};
inline constexpr auto reversed_difference = [](const range_query& q, const auto& a) {
    return q(a.other) - q(a.self) * q(a.alpha);
};
inline constexpr auto product = [](const range_query& q, const auto& a) { return q(a.self) * q(a.other); };
inline constexpr auto real_quotient = [](const range_query& q, const auto& a) {
    return q(a.self) / q(a.other);
};
inline constexpr auto quotient_by_mode = [](const range_query& q, const auto& a) {
    return quotient(q, q(a.self), q(a.other), a.rounding_mode);
};
inline constexpr auto floored_quotient = [](const range_query& q, const auto& a) {
    return quotient(q, q(a.self), q(a.other), std::string_view("floor"));
};
inline constexpr auto python_remainder = [](const range_query& q, const auto& a) {
    const interval b = q(a.other);
    return q.is_integral() ? remainder_downward(q(a.self), b) : b | number(0);
};
inline constexpr auto c_remainder = [](const range_query& q, const auto& a) {
    const interval most = magnitude(q(a.other));
    return q.is_integral() ? remainder_toward_zero(q(a.self), q(a.other)) : interval{-most.high, most.high};
};
inline constexpr auto left_shift = [](const range_query& q, const auto& a) {
    return shifted_left(q, q(a.self), q(a.other));
};
inline constexpr auto right_shift = [](const range_query& q, const auto& a) {
    return shifted_right(q(a.self), q(a.other));
};
inline constexpr auto common_bits = [](const range_query& q, const auto& a) {
    return bitwise(q, bitwise_and(q(a.self), q(a.other)));
};
inline constexpr auto either_bits = [](const range_query& q, const auto& a) {
    return bitwise(q, bitwise_or(q(a.self), q(a.other)));
};
inline constexpr auto clamped_self = [](const range_query& q, const auto& a) {
    return clamped(q, q(a.self), a.min, a.max);
};
inline constexpr auto at_least = [](const range_query& q, const auto& a) {
    return maximum(q(a.self), q(a.min));
};
inline constexpr auto at_most = [](const range_query& q, const auto& a) {
    return minimum(q(a.self), q(a.max));
};
inline constexpr auto sign_of_self = [](const range_query& q, const auto& a) {
    const interval signs =
        map_bounds(q(a.self), [](bound x) { return static_cast<bound>((x > 0) - (x < 0)); });
    return q.is_integral() ? signs : signs | number(0);  // for NaN
};
inline constexpr auto rectified = [](const range_query& q, const auto& a) {
    return maximum(q(a.self), number(0));
};
template <std::size_t First, std::size_t Second>
inline constexpr auto inner_product = [](const range_query& q, const auto&) {
    const tensor_meta* const left = meta_of(q.of().operand(First));
    if (left == nullptr || left->rank() == 0) return interval();
    const std::int64_t terms = left->shape[left->rank() - 1];
    return q.if_integral(sum_of(q.operand(First) * q.operand(Second), terms));
};
inline constexpr auto filled = [](const range_query& q, const auto& a) { return q(a.fill_value); };

}  // namespace headrace::detail::range_functions

#endif
