// SPDX-License-Identifier: MIT
// Defines headrace::build's choices and casts, in forms that the graph's target supports.
#ifndef HEADRACE_PASSES_SUPPORT_CASTING_HPP
#define HEADRACE_PASSES_SUPPORT_CASTING_HPP

#include <algorithm>

#include <headrace/ir/unknown_op.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/target/tosa_legality.hpp>

/// There is one builder for each kind of cast, with the ops that it can emit, and `cast` for dtypes that are
/// not known when the pass is compiled. A pass that knows the kind calls its builder and declares fewer ops.
namespace headrace::build {

/// True if the graph's target takes the operator with these dtypes (target/tosa_legality.hpp). Without a
/// target, everything is allowed.
template <op_tag Op>
bool allows(const target_spec& target, std::initializer_list<dtype> signature) {
    return target.features == 0 || tosa::is_legal<Op>(target, signature);
}
template <op_tag Op>
bool allows(const emitter& e, std::initializer_list<dtype> signature) {
    return allows<Op>(e.target(), signature);
}

/// Makes a CAST, unless the value has that dtype.
inline value cast_directly(emit<ops<tosa::cast>> e, value v, dtype to) {
    return e.dtype(v) == to ? v : e.make<tosa::cast>({.input = v, .output_type = to});
}

/// Refuses a cast, with a message.
inline value no_cast(emit<ops<>> e, dtype from, dtype to) {
    if (is_complex(from) || is_complex(to)) return e.unsupported(no_complex_numbers);
    const bool is_brain = from == dtype::bfloat16 || to == dtype::bfloat16;
    const bool lacks_it = is_brain && !allows<tosa::cast>(e, {dtype::bfloat16, dtype::float32});
    return e.unsupported({"cast from ", name_of(from), " to ", name_of(to), ": the target has no such CAST",
        lacks_it ? "; add +bf16 to it" : ""});
}

// --- choices ---------------------------------------------------------------------------------------------

using select_ops = joined<reshape_ops, ops<tosa::select, tosa::cast, tosa::add, tosa::mul>>;

/// Selects `on_true` where the condition is set, else `on_false`. Without the integer profile SELECT does not
/// take integers: 8 and 16 bits then go through float32, which represents them exactly, and 32 bits through t
/// * c + f * (1 - c).
inline value select(emit<select_ops> e, value condition, value on_true, value on_false) {
    const std::size_t rank = std::max({e.rank(condition), e.rank(on_true), e.rank(on_false)});
    const dtype type = e.dtype(on_true);
    const auto choose = [&](value t, value f) {
        return e.make<tosa::select>({.input1 = with_rank(e, condition, rank),
            .input2 = with_rank(e, t, rank),
            .input3 = with_rank(e, f, rank)});
    };
    if (is_floating(type) || allows<tosa::select>(e, {dtype::boolean, type, type, type}))
        return choose(on_true, on_false);
    if (type == dtype::int8 || type == dtype::int16) {
        return cast_directly(e,
            choose(cast_directly(e, on_true, dtype::float32), cast_directly(e, on_false, dtype::float32)),
            type);
    }
    const auto bit = [&](scalar t, scalar f) {
        return cast_directly(
            e, choose(e.splat(t, dtype::float32, rank), e.splat(f, dtype::float32, rank)), type);
    };
    return binary<tosa::add>(
        e, binary<tosa::mul>(e, on_true, bit(1, 0)), binary<tosa::mul>(e, on_false, bit(0, 1)));
}

// --- shifts ----------------------------------------------------------------------------------------------

using logical_shift_ops = ops<tosa::logical_right_shift, tosa::add, tosa::sub, tosa::mul>;

/// Computes an arithmetic shift of INT32 from the logical one. The two are equal for nonnegative numbers;
/// negative numbers are shifted as -1 - v. The operands have equal rank.
inline value arithmetic_by_logical_shift(emit<logical_shift_ops> e, value v, value by) {
    const auto number = [&](std::int64_t n) { return e.splat(n, dtype::int32, e.rank(v)); };
    const value sign = e.make<tosa::logical_right_shift>(v, number(31));  // 1 if negative
    const value factor = e.make<tosa::sub>(number(1), e.make<tosa::add>(sign, sign));
    const value magnitude = multiply(e, e.make<tosa::add>(v, sign), factor);
    const value shifted = e.make<tosa::logical_right_shift>(magnitude, by);
    return e.make<tosa::sub>(multiply(e, shifted, factor), sign);
}

using shift_ops = joined<reshape_ops, logical_shift_ops, ops<tosa::arithmetic_right_shift>>;

/// Makes an arithmetic shift of INT32. Without the integer profile only the logical one exists.
inline value arithmetic_right_shift(emit<shift_ops> e, value v, value by) {
    const dtype type = e.dtype(v);
    if (allows<tosa::arithmetic_right_shift>(e, {type, type, type}))
        return binary<tosa::arithmetic_right_shift>(e, v, by);
    const std::size_t rank = std::max(e.rank(v), e.rank(by));
    return arithmetic_by_logical_shift(e, with_rank(e, v, rank), with_rank(e, by, rank));
}

// --- casts -----------------------------------------------------------------------------------------------

using truncate_ops = ops<tosa::greater_equal, tosa::floor, tosa::ceil, tosa::select, tosa::cast>;

/// Casts floating point to an integer, toward zero as in PyTorch; CAST rounds to nearest (spec 2.12.1).
inline value truncate(emit<truncate_ops> e, value v, dtype to) {
    const value is_positive = e.make<tosa::greater_equal>(v, e.splat(0.0, e.dtype(v), e.rank(v)));
    return cast_directly(
        e, e.make<tosa::select>(is_positive, e.make<tosa::floor>(v), e.make<tosa::ceil>(v)), to);
}

using truth_ops = ops<tosa::cast, tosa::equal, tosa::logical_not>;

/// Casts a number to bool: true if it is not 0.
inline value to_truth(emit<truth_ops> e, value v) {
    const dtype from = e.dtype(v);
    if (!v || is_boolean(from)) return v;
    if (is_integral(from)) {
        if (allows<tosa::cast>(e, {from, dtype::boolean})) return cast_directly(e, v, dtype::boolean);
        if (!allows<tosa::cast>(e, {from, dtype::float32})) return no_cast(e, from, dtype::float32);
        v = cast_directly(e, v, dtype::float32);
    }
    return e.make<tosa::logical_not>(e.make<tosa::equal>(v, e.splat(0, e.dtype(v), e.rank(v))));
}

/// Casts bool to 0 and 1. TOSA has no CAST between bool and floating point, and without the integer profile
/// none from bool at all.
inline value from_truth(emit<ops<tosa::select, tosa::cast>> e, value v, dtype to) {
    if (is_integral(to) && allows<tosa::cast>(e, {dtype::boolean, to})) return cast_directly(e, v, to);
    const dtype type = is_integral(to) ? dtype::float32 : to;
    const value number = e.make<tosa::select>(v, e.splat(1, type, e.rank(v)), e.splat(0, type, e.rank(v)));
    return cast_directly(e, number, to);
}

using integer_cast_ops = joined<ops<tosa::cast, tosa::logical_left_shift>, logical_shift_ops>;

/// Casts integers to integers: takes the low bits if the dtype is narrower. Without the integer profile the
/// cast goes through float32.
inline value cast_integer(emit<integer_cast_ops> e, value v, dtype to) {
    const dtype from = e.dtype(v);
    if (!v || from == to) return v;
    if (allows<tosa::cast>(e, {from, to})) return cast_directly(e, v, to);
    if (!allows<tosa::cast>(e, {from, dtype::float32}) || !allows<tosa::cast>(e, {dtype::float32, to}))
        return no_cast(e, from, to);
    if (traits_of(to).bits < traits_of(from).bits) {  // repeat the sign bit of the narrower dtype
        v = cast_integer(e, v, dtype::int32);
        const value by = e.splat(32 - traits_of(to).bits, dtype::int32, e.rank(v));
        v = arithmetic_by_logical_shift(e, e.make<tosa::logical_left_shift>(v, by), by);
    }
    return cast_directly(e, cast_directly(e, v, dtype::float32), to);
}

using cast_ops = joined<truncate_ops, truth_ops, integer_cast_ops>;

/// Casts a value between any two dtypes, as PyTorch does.
inline value cast(emit<cast_ops> e, value v, dtype to) {
    const dtype from = e.dtype(v);
    if (!v || from == to) return v;
    if (is_boolean(from)) return from_truth(e, v, to);
    if (is_boolean(to)) return to_truth(e, v);
    if (is_floating(from) && is_integral(to)) return truncate(e, v, to);
    if (is_integral(from) && is_integral(to)) return cast_integer(e, v, to);
    if (allows<tosa::cast>(e, {from, to})) return cast_directly(e, v, to);
    if (is_floating(from) && from != dtype::float32 && to != dtype::float32)
        return cast(e, cast_directly(e, v, dtype::float32), to);
    return no_cast(e, from, to);
}

}  // namespace headrace::build

#endif
