// SPDX-License-Identifier: MIT
// Defines headrace::build's promotions, comparisons and extrema of any dtype, and the policies with which
// rules of legalize passes compute.
#ifndef HEADRACE_PASSES_LEGALIZE_PROMOTING_HPP
#define HEADRACE_PASSES_LEGALIZE_PROMOTING_HPP

#include <headrace/infer/promotion.hpp>
#include <headrace/passes/support/casting.hpp>
#include <headrace/passes/support/narrowing.hpp>
#include <headrace/rewrite/rules.hpp>

namespace headrace {

namespace build {

/// Widens an integer, or casts a number to floating point: through float32 if the target has no direct CAST.
inline value widen_number(emit<ops<tosa::cast>> e, value v, dtype to) {
    const dtype from = e.dtype(v);
    if (!v || from == to) return v;
    const auto has_cast = [&](dtype a, dtype b) { return a == b || allows<tosa::cast>(e, {a, b}); };
    const bool truncates = is_floating(from) && is_integral(to);
    if (is_boolean(from) || is_boolean(to) || truncates) return no_cast(e, from, to);
    if (has_cast(from, to)) return cast_directly(e, v, to);
    const bool cuts = is_integral(to) && traits_of(to).bits < traits_of(from).bits;
    if (cuts || !has_cast(from, dtype::float32) || !has_cast(dtype::float32, to)) return no_cast(e, from, to);
    return cast_directly(e, cast_directly(e, v, dtype::float32), to);
}

using widen_ops = ops<tosa::select, tosa::cast>;

/// Widens like widen_number, and also casts bools.
inline value widen(emit<widen_ops> e, value v, dtype to) {
    return is_boolean(e.dtype(v)) && !is_boolean(to) ? from_truth(e, v, to) : widen_number(e, v, to);
}

using promote_ops = joined<widen_ops, integer_cast_ops>;

/// Casts an operand to the common dtype of several. That may be narrower: for an int8 tensor and an int32
/// tensor of rank 0, it is int8.
inline value promote(emit<promote_ops> e, value v, dtype to) {
    const bool integers = is_integral(e.dtype(v)) && is_integral(to);
    return integers ? cast_integer(e, v, to) : widen(e, v, to);
}

using align_ops = joined<promote_ops, reshape_ops>;

/// Promotes an operand of an elementwise op to the dtype and the rank of the op's result.
inline value align(emit<align_ops> e, value v) {
    const tensor_meta& result = e.result_meta();
    return with_rank(e, promote(e, v, narrowed(result.dtype)), result.rank());
}
/// Like align, but integers become INT32, in which TOSA computes.
inline value align_wide(emit<align_ops> e, value v) {
    const tensor_meta& result = e.result_meta();
    v = promote(e, v, narrowed(result.dtype));
    return with_rank(e, is_integral(e.dtype(v)) ? widen_number(e, v, dtype::int32) : v, result.rank());
}
/// Truncates the INT32 result of an integer op to the dtype of PyTorch's result, in which it wraps around.
inline value cut(emit<integer_cast_ops> e, value v) {
    return is_integral(e.dtype(v)) ? cast_integer(e, v, narrowed(e.result_meta().dtype)) : v;
}
/// True where the operand is not 0, in the rank of the op's result.
inline value align_truth(emit<joined<truth_ops, reshape_ops>> e, value v) {
    return with_rank(e, to_truth(e, v), e.result_meta().rank());
}

// --- comparisons ------------------------------------------------------------------------------------------

using difference_ops = joined<reshape_ops,
    ops<tosa::logical_left_shift, tosa::logical_right_shift, tosa::cast, tosa::greater_equal, tosa::select,
        tosa::sub, tosa::add, tosa::mul>>;

/// Returns a float32 that is 0 or has the sign of a - b, for INT32 operands: subtracts their 16-bit halves.
inline value ordered_difference(emit<difference_ops> e, value a, value b) {
    const auto real = [&](value v) { return cast_directly(e, v, dtype::float32); };
    const auto number = [&](double n, value beside) { return e.splat(n, dtype::float32, e.rank(beside)); };
    const auto halves = [&](value v) {
        const value by = e.splat(16, dtype::int32, e.rank(v));
        const value low = e.make<tosa::logical_right_shift>(e.make<tosa::logical_left_shift>(v, by), by);
        const value high = real(e.make<tosa::logical_right_shift>(v, by));
        const value is_negative = e.make<tosa::greater_equal>(high, number(32768, v));
        const value below_zero = e.make<tosa::sub>(high, number(65536, v));
        return std::pair(e.make<tosa::select>(is_negative, below_zero, high), real(low));
    };
    const auto [a_high, a_low] = halves(a);
    const auto [b_high, b_low] = halves(b);
    const value high = binary<tosa::sub>(e, a_high, b_high);
    return binary<tosa::add>(e, multiply(e, high, number(65536, high)), binary<tosa::sub>(e, a_low, b_low));
}

template <op_tag Op>
using compare_by_floats_ops = joined<difference_ops, ops<Op>>;

/// Compares integers on targets without the integer profile.
template <op_tag Op>
value compare_by_floats(emit<compare_by_floats_ops<Op>> e, value a, value b) {
    if (e.dtype(a) != dtype::int32) {
        return binary<Op>(e, cast_directly(e, a, dtype::float32), cast_directly(e, b, dtype::float32));
    }
    const value difference = ordered_difference(e, a, b);
    return e.template make<Op>(difference, e.splat(0, dtype::float32, e.rank(difference)));
}

/// The logical operator that, with NOT, implements a comparison of bools.
template <op_tag Op>
using logic_of = std::conditional_t<std::is_same_v<Op, tosa::equal>, tosa::logical_xor,
    std::conditional_t<std::is_same_v<Op, tosa::greater>, tosa::logical_and, tosa::logical_or>>;

template <op_tag Op>
using compare_ops = joined<compare_by_floats_ops<Op>, ops<tosa::logical_not, logic_of<Op>>>;

/// EQUAL, GREATER or GREATER_EQUAL of two operands of one dtype.
template <op_tag Op>
value compare(emit<compare_ops<Op>> e, value a, value b) {
    const dtype type = e.dtype(a);
    if (is_boolean(type)) {
        if constexpr (std::is_same_v<Op, tosa::equal>) {
            return e.template make<tosa::logical_not>(binary<tosa::logical_xor>(e, a, b));
        } else {
            return binary<logic_of<Op>>(e, a, e.template make<tosa::logical_not>(b));
        }
    }
    if (!is_integral(type)) return binary<Op>(e, a, b);
    if (!allows<Op>(e, {dtype::int32, dtype::int32, dtype::boolean})) return compare_by_floats<Op>(e, a, b);
    return binary<Op>(e, widen_number(e, a, dtype::int32), widen_number(e, b, dtype::int32));
}

/// The logical operator that computes the maximum or minimum of bools.
template <op_tag Op>
using logic_of_extremum =
    std::conditional_t<std::is_same_v<Op, tosa::maximum>, tosa::logical_or, tosa::logical_and>;

template <op_tag Op>
using extremum_ops = joined<compare_by_floats_ops<tosa::greater>, select_ops, ops<Op, logic_of_extremum<Op>>>;

/// MAXIMUM or MINIMUM of two operands of one dtype.
template <op_tag Op>
value extremum(emit<extremum_ops<Op>> e, value a, value b) {
    const dtype type = e.dtype(a);
    if (is_boolean(type)) return binary<logic_of_extremum<Op>>(e, a, b);
    if (!is_integral(type)) return binary<Op>(e, a, b);
    if (allows<Op>(e, {dtype::int32, dtype::int32, dtype::int32})) {
        const auto wide = [&](value v) { return widen_number(e, v, dtype::int32); };
        return cast_directly(e, binary<Op>(e, wide(a), wide(b)), type);
    }
    const value greater = compare_by_floats<tosa::greater>(e, a, b);
    constexpr bool is_maximum = std::is_same_v<Op, tosa::maximum>;
    return select(e, greater, is_maximum ? a : b, is_maximum ? b : a);
}

}  // namespace build

/// A policy whose operands are passed through a builder, and whose results are unchanged.
template <auto Builder>
struct operands_by {
    static constexpr auto made = decltype(code<Builder>(operand_symbol{}))::made;
    static term operand(const term& x) { return code<Builder>(x); }
    static term result(const term& y, std::uint32_t) { return y; }
};
/// The policy for integers that are computed in INT32.
struct in_32_bits : operands_by<build::align_wide> {
    static constexpr auto made = operands_by::made | set_of<build::integer_cast_ops>;
    static term result(const term& y, std::uint32_t) { return code<build::cut>(y); }
};

}  // namespace headrace

#endif
