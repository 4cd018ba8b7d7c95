// SPDX-License-Identifier: MIT
// Defines headrace::detail::range_query, the input of a rule for ranges, and functions that rules share.
#ifndef HEADRACE_INFER_RANGES_RANGE_QUERY_HPP
#define HEADRACE_INFER_RANGES_RANGE_QUERY_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include <headrace/infer/ranges/held_interval.hpp>
#include <headrace/infer/ranges/interval.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace::detail {

/// The input of a rule: a node, one of its results, and the intervals of its operands.
class range_query {
public:
    using look_up = interval (*)(const void* known, value v);

    range_query(const node& n, std::uint32_t result, look_up look, const void* known)
        : node_(&n), result_(result), look_(look), known_(known) {}

    [[nodiscard]] interval operator()(value v) const { return look_(known_, v); }
    [[nodiscard]] interval operator()(const scalar& s) const {
        const double x = s.to_double();
        if (x != x) return {};
        return number(s.is_floating() ? static_cast<bound>(x) : static_cast<bound>(s.to_int()));
    }
    [[nodiscard]] const node& of() const { return *node_; }
    [[nodiscard]] std::uint32_t result() const { return result_; }
    [[nodiscard]] interval operand(std::size_t i) const { return (*this)(node_->operand(i)); }
    [[nodiscard]] interval any_operand() const {
        interval all = operand(0);
        for (std::size_t i = 1; i < node_->operand_count; ++i) all = all | operand(i);
        return all;
    }
    [[nodiscard]] dtype type() const { return node_->results[result_].meta->dtype; }
    [[nodiscard]] bool is_integral() const { return headrace::is_integral(type()); }
    [[nodiscard]] interval anything() const { return interval_of(type()); }
    /// Returns `i` if the result holds integers. Sums of floats are rounded at each step, so they get no
    /// bound.
    [[nodiscard]] interval if_integral(const interval& i) const { return is_integral() ? i : interval(); }

    [[nodiscard]] static std::int64_t elements_of(value v) {
        const tensor_meta* const meta = meta_of(v);
        return meta == nullptr ? 0 : meta->checked_elements().value_or(INT64_MAX);
    }
    /// Returns the size of an axis, 1 for rank 0, or the number of all elements if no axis is given.
    [[nodiscard]] static std::int64_t size_of(value v, std::optional<std::int64_t> axis) {
        const tensor_meta* const meta = meta_of(v);
        if (!axis || meta == nullptr) return elements_of(v);
        const auto at = normalized_axis(*axis, meta->rank());
        return !at || meta->rank() == 0 ? 1 : meta->shape[*at];
    }
    /// Returns how many elements of an operand are reduced to one of the result.
    [[nodiscard]] std::int64_t reduced_count(value v) const {
        const std::int64_t results = node_->results[result_].meta->checked_elements().value_or(0);
        return results == 0 ? 0 : elements_of(v) / results;
    }

private:
    const node* node_;
    std::uint32_t result_;
    look_up look_;
    const void* known_;
};

/// Returns the terms of a reduction: PyTorch casts elements to the result's type before adding them.
inline interval summand(const range_query& q, value v) { return in_category(q.type(), q(v)); }

struct range_rule {
    const op_info* op;
    interval (*of)(const range_query&);
};

// `rule` is called with the query and the op's arguments.
template <op_tag Op, class Rule>
constexpr range_rule range_of(Rule) {
    return {&info_of<Op>, [](const range_query& q) { return Rule{}(q, args_of<Op>(q.of())); }};
}

/// Returns the positions along an axis of `size`.
constexpr interval positions(std::int64_t size) { return {0, static_cast<bound>(size > 0 ? size - 1 : 0)}; }

/// Integer quotients are rounded; a divisor of 0 is an error in PyTorch.
template <class Round>
interval rounded_quotient(const range_query& q, const interval& a, interval b, Round round) {
    if (q.is_integral()) {
        if (b.low == 0 && b.high > 0) b.low = 1;
        if (b.high == 0 && b.low < 0) b.high = -1;
        // The least integer divided by -1 has no quotient either.
        const interval all = b.contains(bound{0}) ? a | -a : map_bounds(a / b, round);
        return all & q.anything();
    }
    return map_bounds(a / b, round);
}
inline interval quotient(
    const range_query& q, const interval& a, const interval& b, const std::optional<std::string_view>& mode) {
    if (!mode) return a / b;
    if (*mode == "trunc") return rounded_quotient(q, a, b, [](bound x) { return wide::trunc(x); });
    return rounded_quotient(q, a, b, [](bound x) { return wide::floor(x); });
}

inline interval shifted_left(const range_query& q, const interval& x, const interval& by) {
    if (by.low < 0 || by.high > 62) return q.anything();
    return x * interval{wide::exp2(by.low), wide::exp2(by.high)};
}
inline interval shifted_right(const interval& x, const interval& by) {
    if (by.low < 0 || by.high > 63) return {std::min(x.low, bound{-1}), std::max(x.high, bound{0})};
    return of_bounds(x, by, [](bound a, bound n) { return wide::floor(a / wide::exp2(n)); });
}
inline interval bitwise(const range_query& q, const interval& x) {
    return is_boolean(q.type()) ? interval{0, 1} : x;
}

inline interval power(const range_query& q, const interval& x, const scalar& exponent) {
    const bound n = static_cast<bound>(exponent.to_double());
    if (n < 0 || n != wide::trunc(n)) return q.anything();
    if (n == 0) return number(1);
    const bool even = wide::fmod(n, bound{2}) == 0;
    return map_bounds(even ? magnitude(x) : x, [n](bound b) { return wide::pow(b, n); });
}

/// `clamp` takes numbers or tensors, either of them optional; the upper limit wins.
template <class Limit>
interval clamped(
    const range_query& q, interval x, const std::optional<Limit>& low, const std::optional<Limit>& high) {
    if (low) x = maximum(x, q(*low));
    if (high) x = minimum(x, q(*high));
    return x;
}

template <class Args>
interval stepped(const range_query& q, const Args& a) {
    const std::int64_t count = q.elements_of({const_cast<node*>(&q.of()), 0});
    interval start = number(0);
    interval step = number(1);
    if constexpr (requires { a.start; }) start = q(a.start);
    if constexpr (requires { a.step; }) step = q(a.step);
    // Integers may be rounded before or after they are added up.
    if (q.is_integral()) {
        start = start | truncated(start);
        step = step | truncated(step);
    }
    return start | (start + sum_of(step, count > 0 ? count - 1 : 0));
}

/// Returns the interval that an op's traits imply.
inline interval range_by_traits(const range_query& q) {
    using enum trait;
    const op_info& op = q.of().op->functional();
    if (op.has(predicate)) return {0, 1};
    if (op.has(joining)) return q.any_operand();
    if (op.has(rearranging | copying | splitting | casting | gathering | aliasing | resampling) ||
        q.of().op->has(aliasing)) {
        const bool blends = op.has(resampling) && !op.has(nearest);
        return q.of().operand_count == 0 || blends ? q.anything() : q.operand(0);
    }
    if (op.has(gives_zeros)) return number(0);
    if (op.has(gives_ones)) return number(1);
    return q.anything();
}

}  // namespace headrace::detail

#endif
