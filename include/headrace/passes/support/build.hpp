// SPDX-License-Identifier: MIT
// Defines headrace::build, the TOSA idioms that passes share: shapes, broadcasting, zero points,
// permutations.
#ifndef HEADRACE_PASSES_SUPPORT_BUILD_HPP
#define HEADRACE_PASSES_SUPPORT_BUILD_HPP

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/support/constants.hpp>

/// A builder takes `emit<...>` of exactly the ops that it can emit, by value: the emitter of any pass that
/// produces these converts to it. It returns the value it made, or its operand if there is nothing to do.
/// Callers add the ops<...> list next to a builder to `produces`.
namespace headrace::build {

using reshape_ops = ops<tosa::const_shape, tosa::reshape>;

inline value const_shape(emit<ops<tosa::const_shape>> e, sizes values) {
    std::uint64_t hash = values.size();
    for (const std::int64_t number : values) hash = 31 * hash + static_cast<std::uint64_t>(number);
    const auto is_same = [&](const node& n) {
        const auto* const made = args_if<tosa::const_shape>(n);
        return made != nullptr && made->values == int_list(values);
    };
    return e.shared(hash, is_same, [&] { return e.make<tosa::const_shape>({.values = int_list(values)}); });
}

inline value reshape(emit<reshape_ops> e, value v, sizes shape) {
    if (!v || e.shape(v) == int_list(shape)) return v;
    return e.make<tosa::reshape>({.input1 = v, .shape = const_shape(e, shape)});
}

/// Returns the value before RESHAPEs.
[[nodiscard]] inline value without_reshapes(value v) {
    while (const auto* const a = match<tosa::reshape>(v)) v = a->input1;
    return v;
}

/// True if all of these strides, paddings or sizes equal the number.
[[nodiscard]] constexpr bool all_are(sizes items, std::int64_t number) {
    return std::ranges::all_of(items, [&](std::int64_t item) { return item == number; });
}

/// Returns the index of the element at a position of a row-major tensor of that shape.
[[nodiscard]] constexpr std::size_t element_index(sizes shape, std::initializer_list<std::int64_t> position) {
    std::int64_t index = 0;
    std::size_t axis = 0;
    for (const std::int64_t i : position) index = index * shape[axis++] + i;
    return static_cast<std::size_t>(index);
}
/// A constant INT8 weight, read by position: `w({o, y, x, i})`.
struct int8_weight {
    pmr_vector<std::int64_t> numbers;
    shape_builder shape;
    std::int64_t zero;  ///< the zero point

    std::int64_t operator()(std::initializer_list<std::int64_t> position) const {
        return numbers[element_index(shape, position)];
    }
};
/// Returns the weight of a convolution; nothing if it or its zero point is computed, or it is not INT8.
[[nodiscard]] inline std::optional<int8_weight> int8_weight_of(
    const emitter& e, value weight, std::optional<std::int64_t> zero) {
    auto numbers = e.dtype(weight) == dtype::int8 && zero ? constant_integers(weight) : std::nullopt;
    if (!numbers) return std::nullopt;
    return int8_weight{std::move(*numbers), e.shape(weight), *zero};
}
template <class Args>
[[nodiscard]] std::optional<int8_weight> int8_weight_of(const emitter& e, const Args& a) {
    return int8_weight_of(e, a.weight, constant_integer(a.weight_zp));
}

/// Makes a constant whose element at each position is `number_at(position)`.
inline value constant_at(
    emit<ops<>> e, dtype type, const shape_builder& shape, function_ref<scalar(sizes)> number_at) {
    return e.constant_of(type, shape, [&](std::size_t i) {
        auto rest = static_cast<std::int64_t>(i);
        shape_builder position = shape;
        for (std::size_t axis = shape.size(); axis-- != 0; rest /= shape[axis])
            position[axis] = rest % shape[axis];
        return number_at(position);
    });
}

using transpose_ops = ops<tosa::transpose>;

/// Returns the axes of a tensor of that rank, in order.
[[nodiscard]] constexpr shape_builder axes_in_order(std::size_t rank) {
    shape_builder order = shape_builder::filled(rank, 0);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    return order;
}
[[nodiscard]] constexpr bool is_identity(sizes perms) {
    return shape_builder(perms) == axes_in_order(perms.size());
}

/// Transposes: axis i of the result is axis perms[i] of `v`.
inline value transpose(emit<transpose_ops> e, value v, sizes perms) {
    return is_identity(perms) ? v : e.make<tosa::transpose>({.input1 = v, .perms = int_list(perms)});
}

/// Puts sizes of 1 before a shape, up to that rank.
[[nodiscard]] constexpr shape_builder with_leading_ones(sizes shape, std::size_t rank) {
    shape_builder result = shape_builder::filled(rank - std::min(rank, shape.size()), 1);
    result.append(shape);
    return result;
}
/// Adds leading axes of size 1 to `v` up to that rank: TOSA broadcasts only tensors of equal rank.
inline value with_rank(emit<reshape_ops> e, value v, std::size_t rank) {
    return reshape(e, v, with_leading_ones(e.shape(v), rank));
}

using broadcast_ops = joined<reshape_ops, ops<tosa::tile>>;

/// Repeats `v` to a shape that it broadcasts to.
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

/// Makes a zero point operand: a constant of one element.
inline value zero_point(emit<ops<>> e, dtype type, std::int64_t zero = 0) { return e.splat(zero, type, 1); }

/// Ops that a binary operator emits, including the reshapes that give its operands equal rank.
template <op_tag Op>
using binary_ops = joined<reshape_ops, ops<Op>>;

/// Multiplies two operands of equal rank.
inline value multiply(emit<ops<tosa::mul>> e, value a, value b) {
    return e.make<tosa::mul>({.input1 = a, .input2 = b, .shift = e.splat(0, dtype::int8, 1)});
}
template <op_tag Op>
value binary(emit<binary_ops<Op>> e, value a, value b) {
    const std::size_t rank = std::max(e.rank(a), e.rank(b));
    a = with_rank(e, a, rank);
    b = with_rank(e, b, rank);
    if constexpr (std::is_same_v<Op, tosa::mul>) {
        return multiply(e, a, b);
    } else {
        return e.template make<Op>(a, b);
    }
}

/// Makes an operator along an axis, such as REDUCE_SUM or ARGMAX.
template <op_tag Op>
value along(emit<ops<Op>> e, value v, std::size_t axis) {
    return e.template make<Op>({.input = v, .axis = static_cast<std::int64_t>(axis)});
}

inline value negate(emit<ops<tosa::negate>> e, value v) {
    return e.make<tosa::negate>(
        {.input1 = v, .input1_zp = zero_point(e, e.dtype(v)), .output_zp = zero_point(e, e.dtype(v))});
}

/// Makes the op of a node, which is one of `Ops`, with other first operands and its own other arguments.
template <op_tag... Ops>
value remake(
    std::type_identity_t<emit<ops<Ops...>>> e, const node& n, std::initializer_list<value> operands) {
    value made{};
    visit_args(ops<Ops...>{}, n, [&]<class Op>(Op, args<Op> a) {
        std::size_t i = 0;
        for (const value v : operands) detail::operand_at<Op>(i++, a) = v;
        made = e.template make<Op>(a);
    });
    return made;
}

/// Returns the widest dtype in which TOSA accumulates products of that dtype.
[[nodiscard]] constexpr dtype accumulator_of(dtype t) {
    if (t == dtype::int8) return dtype::int32;
    if (t == dtype::int16) return dtype::int48;
    return is_floating(t) ? dtype::float32 : t;
}

/// Returns the arguments of a convolution without padding, strides and dilation.
template <op_tag Op>
args<Op> unpadded(emit<ops<>> e, value input, value weight, value bias, std::int64_t input_zero = 0,
    std::int64_t weight_zero = 0) {
    static constexpr std::int64_t zeros[] = {0, 0, 0, 0, 0, 0};
    static constexpr std::int64_t ones[] = {1, 1, 1};
    const std::size_t axes = std::clamp<std::size_t>(e.rank(input), 3, 5) - 2;
    return {.input = input,
        .weight = weight,
        .bias = bias,
        .input_zp = zero_point(e, e.dtype(input), input_zero),
        .weight_zp = zero_point(e, e.dtype(weight), weight_zero),
        .pad = int_list(sizes(zeros).first(2 * axes)),
        .stride = int_list(sizes(ones).first(axes)),
        .dilation = int_list(sizes(ones).first(axes)),
        .acc_type = accumulator_of(e.dtype(input))};
}

/// A RESCALE by one: the same numbers in an integer dtype that has room for them.
inline value narrow(emit<ops<tosa::rescale>> e, value v, dtype type) {
    const dtype from = e.dtype(v);
    if (from == type) return v;
    const bool is_wide = from == dtype::int48;  // RESCALE multiplies int48 by 16 bits
    const int shift = is_wide ? 14 : 30;
    return e.make<tosa::rescale>({.input = v,
        .multiplier = e.splat(1 << shift, is_wide ? dtype::int16 : dtype::int32, 1),
        .shift = e.splat(shift, dtype::int8, 1),
        .input_zp = zero_point(e, from),
        .output_zp = zero_point(e, type),
        .scale32 = !is_wide});
}

/// Makes a CONV2D of an INT8 image, without padding and strides, whose sums fit INT8.
inline value int8_conv2d(emit<ops<tosa::conv2d, tosa::rescale>> e, value image, value weight, value bias) {
    return narrow(e, e.make<tosa::conv2d>(unpadded<tosa::conv2d>(e, image, weight, bias)), dtype::int8);
}

/// Copies an image by a MAX_POOL2D of single pixels.
inline value copy_by_pooling(emit<ops<tosa::max_pool2d>> e, value image) {
    return e.make<tosa::max_pool2d>(
        {.input = image, .kernel = {1, 1}, .stride = {1, 1}, .pad = {0, 0, 0, 0}});
}

/// Returns the smallest and largest number of a dtype, as CLAMP and PAD take them: ±infinity for floats.
[[nodiscard]] inline std::pair<scalar, scalar> bounds_of(dtype t) {
    if (is_floating(t)) {
        const double infinity = std::numeric_limits<double>::infinity();
        return {-infinity, infinity};
    }
    const int bits = traits_of(t).bits;
    const std::int64_t highest = bits >= 64 ? INT64_MAX : (std::int64_t{1} << (bits - 1)) - 1;
    return {-highest - 1, highest};
}

/// The permutations from NCHW to NHWC and back, for any number of spatial axes.
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

/// Permutes sizes: size i of the result is size perms[i] of `shape`.
[[nodiscard]] constexpr shape_builder permuted(sizes shape, sizes perms) {
    shape_builder result;
    for (const std::int64_t axis : perms) result.push_back(shape[static_cast<std::size_t>(axis)]);
    return result;
}

}  // namespace headrace::build

#endif
