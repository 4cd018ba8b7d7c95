// SPDX-License-Identifier: MIT
// Defines headrace::build, the TOSA idioms that passes share: shapes, casts, broadcasting, zero points.
#ifndef HEADRACE_PASSES_SUPPORT_BUILD_HPP
#define HEADRACE_PASSES_SUPPORT_BUILD_HPP

#include <array>
#include <bit>
#include <limits>
#include <memory_resource>
#include <string>
#include <utility>

#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/target/tosa_legality.hpp>

/// Each builder takes the handler's `emit`, or one for less, first and returns the value that it made, or the
/// one that it was given where there is nothing to do. A pass lists in `produces` what the builders that it
/// calls may emit: the ops<...> list beside each.
namespace headrace::build {

using reshape_ops = ops<tosa::const_shape, tosa::reshape>;

inline value const_shape(emit<ops<tosa::const_shape>> e, sizes values) {
    return e.make<tosa::const_shape>({.values = int_list(values)});
}

inline value reshape(emit<reshape_ops> e, value v, sizes shape) {
    if (!v || e.shape(v) == int_list(shape)) return v;
    return e.make<tosa::reshape>({.input1 = v, .shape = const_shape(e, shape)});
}

using transpose_ops = ops<tosa::transpose>;

/// Axis i of the result is axis perms[i] of `v`.
inline value transpose(emit<transpose_ops> e, value v, sizes perms) {
    bool identity = true;
    for (std::size_t i = 0; i != perms.size(); ++i)
        identity = identity && perms[i] == static_cast<std::int64_t>(i);
    return identity ? v : e.make<tosa::transpose>({.input1 = v, .perms = int_list(perms)});
}

/// Leading ones up to that rank: TOSA broadcasts only tensors of equal rank.
inline value with_rank(emit<reshape_ops> e, value v, std::size_t rank) {
    shape_builder shape = shape_builder::filled(rank - std::min(rank, e.rank(v)), 1);
    shape.append(e.shape(v));
    return reshape(e, v, shape);
}

using broadcast_ops = joined<reshape_ops, ops<tosa::tile>>;

/// `v` repeated to that shape, to which it must broadcast.
inline value broadcast(emit<broadcast_ops> e, value v, sizes shape) {
    v = with_rank(e, v, shape.size());
    shape_builder multiples;
    bool repeats = false;
    for (std::size_t i = 0; i != std::min(shape.size(), e.rank(v)); ++i) {
        multiples.push_back(e.shape(v)[i] == shape[i] ? 1 : shape[i]);
        repeats = repeats || multiples.back() != 1;
    }
    return repeats ? e.make<tosa::tile>({.input1 = v, .multiples = const_shape(e, multiples)}) : v;
}

/// A zero point operand: one element of that type.
inline value zero_point(emit<ops<>> e, dtype type, std::int64_t zero = 0) { return e.splat(zero, type, 1); }

/// An elementwise operator of two operands, after their ranks have been made equal.
template <op_tag Op, class E>
value binary(E& e, value a, value b) {
    const std::size_t rank = std::max(e.rank(a), e.rank(b));
    a = with_rank(e, a, rank);
    b = with_rank(e, b, rank);
    if constexpr (std::is_same_v<Op, tosa::mul>) {
        return e.template make<tosa::mul>({.input1 = a, .input2 = b, .shift = e.splat(0, dtype::int8, 1)});
    } else {
        return e.template make<Op>({.input1 = a, .input2 = b});
    }
}

inline value negate(emit<ops<tosa::negate>> e, value v) {
    return e.make<tosa::negate>(
        {.input1 = v, .input1_zp = zero_point(e, e.dtype(v)), .output_zp = zero_point(e, e.dtype(v))});
}

/// Does the graph's target take the operator with these types (target/tosa_legality.hpp)? A graph without a
/// target takes all.
template <op_tag Op>
bool allows(const emitter& e, std::initializer_list<dtype> signature) {
    return e.target().features == 0 || tosa::is_legal<Op>(e.target(), signature);
}

using select_ops = joined<reshape_ops, ops<tosa::select, tosa::cast, tosa::add, tosa::sub, tosa::mul>>;

/// `on_true` where the condition is set, else `on_false`. Without the integer profile SELECT takes no
/// integers: short ones then pass through float32, which holds them all, and 32 bits through t·c + f·(1 - c).
inline value select(emit<select_ops> e, value condition, value on_true, value on_false) {
    const std::size_t rank = std::max({e.rank(condition), e.rank(on_true), e.rank(on_false)});
    const dtype type = e.dtype(on_true);
    const auto choose = [&](value t, value f) {
        return e.make<tosa::select>({.input1 = with_rank(e, condition, rank),
                                     .input2 = with_rank(e, t, rank),
                                     .input3 = with_rank(e, f, rank)});
    };
    const auto to = [&](value v, dtype t) { return e.make<tosa::cast>({.input = v, .output_type = t}); };
    if (allows<tosa::select>(e, {dtype::boolean, type, type, type})) return choose(on_true, on_false);
    if (type == dtype::int8 || type == dtype::int16) {
        return to(choose(to(on_true, dtype::float32), to(on_false, dtype::float32)), type);
    }
    const auto bit = [&](scalar t, scalar f) {
        return to(choose(e.splat(t, dtype::float32, rank), e.splat(f, dtype::float32, rank)), type);
    };
    return binary<tosa::add>(e, binary<tosa::mul>(e, on_true, bit(1, 0)),
                             binary<tosa::mul>(e, on_false, bit(0, 1)));
}

using shift_ops =
    joined<reshape_ops,
           ops<tosa::arithmetic_right_shift, tosa::logical_right_shift, tosa::add, tosa::sub, tosa::mul>>;

/// An arithmetic shift of INT32. Without the integer profile there is only the logical one, which is the same
/// for numbers that are not negative: those are shifted as -1 - v.
inline value arithmetic_right_shift(emit<shift_ops> e, value v, value by) {
    const dtype type = e.dtype(v);
    if (allows<tosa::arithmetic_right_shift>(e, {type, type, type})) {
        return binary<tosa::arithmetic_right_shift>(e, v, by);
    }
    const std::size_t rank = e.rank(v);
    const value sign = binary<tosa::logical_right_shift>(e, v, e.splat(31, type, rank));  // 1 below 0
    const value one = e.splat(1, type, rank);
    const value factor = binary<tosa::sub>(e, one, binary<tosa::add>(e, sign, sign));
    const value magnitude = binary<tosa::mul>(e, binary<tosa::add>(e, v, sign), factor);
    const value shifted = binary<tosa::logical_right_shift>(e, magnitude, by);
    return binary<tosa::sub>(e, binary<tosa::mul>(e, shifted, factor), sign);
}

using cast_ops = joined<select_ops, shift_ops,
                        ops<tosa::equal, tosa::logical_not, tosa::floor, tosa::ceil, tosa::greater_equal,
                            tosa::logical_left_shift>>;

/// The value as PyTorch casts it: toward zero from floating to integral, `!= 0` to bool, the low bits to a
/// shorter integer. TOSA's CAST rounds to nearest (spec 2.12.1), and has no way between bool and floating;
/// without the integer profile all its ways lead through floating types.
inline value cast(emit<cast_ops> e, value v, dtype to) {
    const dtype from = e.dtype(v);
    if (!v || from == to) return v;
    const auto direct = [&](value x) { return e.make<tosa::cast>({.input = x, .output_type = to}); };
    if (is_boolean(from)) {
        if (is_integral(to))
            return allows<tosa::cast>(e, {from, to}) ? direct(v) : cast(e, cast(e, v, dtype::float32), to);
        return select(e, v, e.splat(1, to, e.rank(v)), e.splat(0, to, e.rank(v)));
    }
    if (is_boolean(to)) {
        if (is_integral(from))
            return allows<tosa::cast>(e, {from, to}) ? direct(v) : cast(e, cast(e, v, dtype::float32), to);
        return e.make<tosa::logical_not>(e.make<tosa::equal>(v, e.splat(0, from, e.rank(v))));
    }
    if (is_floating(from) && is_integral(to)) {
        const value zero = e.splat(0.0, from, e.rank(v));
        return direct(
            select(e, e.make<tosa::greater_equal>(v, zero), e.make<tosa::floor>(v), e.make<tosa::ceil>(v)));
    }
    if (allows<tosa::cast>(e, {from, to})) return direct(v);
    const bool shorter = traits_of(to).bits < traits_of(from).bits;
    if (is_floating(from) && from != dtype::float32 && to != dtype::float32)
        return cast(e, cast(e, v, dtype::float32), to);
    if (is_integral(from) && is_integral(to) && allows<tosa::cast>(e, {from, dtype::float32}) &&
        allows<tosa::cast>(e, {dtype::float32, to})) {
        if (shorter) {  // repeat the sign bit of the shorter type
            v = cast(e, v, dtype::int32);
            const value by = e.splat(32 - traits_of(to).bits, dtype::int32, e.rank(v));
            v = arithmetic_right_shift(e, e.make<tosa::logical_left_shift>(v, by), by);
        }
        return direct(e.make<tosa::cast>({.input = v, .output_type = dtype::float32}));
    }
    return e.unsupported("cast from " + std::pmr::string(name_of(from)) + " to " +
                         std::pmr::string(name_of(to)) + ": the target has no such CAST");
}

/// The smallest and the largest number of a type, as CLAMP and PAD take them; infinities for floating ones.
[[nodiscard]] inline std::pair<scalar, scalar> bounds_of(dtype t) {
    if (is_floating(t)) {
        const double infinity = std::numeric_limits<double>::infinity();
        return {-infinity, infinity};
    }
    const int bits = traits_of(t).bits;
    const std::int64_t highest = bits >= 64 ? INT64_MAX : (std::int64_t{1} << (bits - 1)) - 1;
    return {-highest - 1, highest};
}

/// NCHW to NHWC and back, for any number of spatial axes.
[[nodiscard]] inline shape_builder to_channels_last(std::size_t rank) {
    shape_builder perms{0};
    for (std::size_t i = 2; i < rank; ++i) perms.push_back(static_cast<std::int64_t>(i));
    perms.push_back(1);
    return perms;
}
[[nodiscard]] inline shape_builder to_channels_first(std::size_t rank) {
    shape_builder perms{0, static_cast<std::int64_t>(rank) - 1};
    for (std::size_t i = 1; i + 1 < rank; ++i) perms.push_back(static_cast<std::int64_t>(i));
    return perms;
}

/// A shape in another order of axes.
[[nodiscard]] constexpr shape_builder permuted(sizes shape, sizes perms) {
    shape_builder result;
    for (const std::int64_t axis : perms) result.push_back(shape[static_cast<std::size_t>(axis)]);
    return result;
}

}  // namespace headrace::build

#endif
