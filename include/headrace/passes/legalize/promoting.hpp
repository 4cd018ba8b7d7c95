// SPDX-License-Identifier: MIT
// Defines headrace::build's promotions, and the policies that rules of legalize passes use to compute.
#ifndef HEADRACE_PASSES_LEGALIZE_PROMOTING_HPP
#define HEADRACE_PASSES_LEGALIZE_PROMOTING_HPP

#include <headrace/infer/promotion.hpp>
#include <headrace/pass/rules.hpp>
#include <headrace/passes/support/casting.hpp>
#include <headrace/passes/support/narrowing.hpp>

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
