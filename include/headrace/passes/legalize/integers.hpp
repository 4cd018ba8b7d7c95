// SPDX-License-Identifier: MIT
// Defines headrace::build, continued: arithmetic and comparison of integers and booleans, as far as a target
// has them.
#ifndef HEADRACE_PASSES_LEGALIZE_INTEGERS_HPP
#define HEADRACE_PASSES_LEGALIZE_INTEGERS_HPP

#include <headrace/infer/promotion.hpp>
#include <headrace/passes/support/casting.hpp>

namespace headrace::build {

/// The type that stands for PyTorch's in a lowered graph: indices have 32 bits there.
[[nodiscard]] constexpr dtype narrowed(dtype type) { return type == dtype::int64 ? dtype::int32 : type; }

/// The common type of operands, as PyTorch promotes them.
template <class... Operands>
[[nodiscard]] dtype common_type(const emitter& e, const Operands&... operands) {
    return narrowed(result_type(e.meta(operands)...));
}

/// Integers as INT32, in which TOSA computes; others as they are.
inline value widened(emit<cast_ops> e, value v) {
    return is_integral(e.dtype(v)) ? cast(e, v, dtype::int32) : v;
}

using compare_ops = joined<cast_ops, reshape_ops,
                           ops<tosa::equal, tosa::greater, tosa::greater_equal, tosa::logical_xor,
                               tosa::logical_and, tosa::logical_or, tosa::logical_not>>;

/// A float32 whose sign, or being 0, is that of a - b, exactly: INT32 operands are taken in halves of 16
/// bits.
inline value ordered_difference(emit<compare_ops> e, value a, value b) {
    const auto real = [&](value v) {
        return e.make<tosa::cast>({.input = v, .output_type = dtype::float32});
    };
    const auto number = [&](double n, value beside) { return e.splat(n, dtype::float32, e.rank(beside)); };
    const auto halves = [&](value v) {
        const value by = e.splat(16, dtype::int32, e.rank(v));
        const value low =
            binary<tosa::logical_right_shift>(e, binary<tosa::logical_left_shift>(e, v, by), by);
        const value high = real(binary<tosa::logical_right_shift>(e, v, by));
        const value negative = e.make<tosa::greater_equal>(high, number(32768, v));
        return std::pair(select(e, negative, e.make<tosa::sub>(high, number(65536, v)), high), real(low));
    };
    const auto [a_high, a_low] = halves(a);
    const auto [b_high, b_low] = halves(b);
    const value high = binary<tosa::sub>(e, a_high, b_high);
    return binary<tosa::add>(e, binary<tosa::mul>(e, high, number(65536, high)),
                             binary<tosa::sub>(e, a_low, b_low));
}

/// EQUAL, GREATER or GREATER_EQUAL of two operands of one type.
template <op_tag Op>
value compare(emit<compare_ops> e, value a, value b) {
    const dtype type = e.dtype(a);
    if (is_boolean(type)) {
        if (std::is_same_v<Op, tosa::equal>) {
            return e.make<tosa::logical_not>(binary<tosa::logical_xor>(e, a, b));
        }
        const value other = e.make<tosa::logical_not>(b);
        return std::is_same_v<Op, tosa::greater> ? binary<tosa::logical_and>(e, a, other)
                                                 : binary<tosa::logical_or>(e, a, other);
    }
    if (!is_integral(type)) return binary<Op>(e, a, b);
    if (allows<Op>(e, {dtype::int32, dtype::int32, dtype::boolean})) {
        return binary<Op>(e, widened(e, a), widened(e, b));
    }
    if (type == dtype::int8 || type == dtype::int16) {
        return binary<Op>(e, cast(e, a, dtype::float32), cast(e, b, dtype::float32));
    }
    const value difference = ordered_difference(e, a, b);
    return binary<Op>(e, difference, e.splat(0, dtype::float32, e.rank(difference)));
}

using extremum_ops = joined<compare_ops, ops<tosa::maximum, tosa::minimum>>;

/// MAXIMUM or MINIMUM of two operands of one type.
template <op_tag Op>
value extremum(emit<extremum_ops> e, value a, value b) {
    constexpr bool largest = std::is_same_v<Op, tosa::maximum>;
    const dtype type = e.dtype(a);
    if (is_boolean(type))
        return largest ? binary<tosa::logical_or>(e, a, b) : binary<tosa::logical_and>(e, a, b);
    if (!is_integral(type)) return binary<Op>(e, a, b);
    if (allows<Op>(e, {dtype::int32, dtype::int32, dtype::int32})) {
        return cast(e, binary<Op>(e, widened(e, a), widened(e, b)), type);
    }
    const value greater = compare<tosa::greater>(e, a, b);
    return largest ? select(e, greater, a, b) : select(e, greater, b, a);
}

}  // namespace headrace::build

#endif
