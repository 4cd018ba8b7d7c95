// SPDX-License-Identifier: MIT
// Defines the expressions that decompositions share: views, reductions, constants, headrace::reduction_rules.
#ifndef HEADRACE_PASSES_DECOMPOSE_EXPRESSIONS_HPP
#define HEADRACE_PASSES_DECOMPOSE_EXPRESSIONS_HPP

#include <headrace/infer/shape_builder.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/rewrite/arithmetic.hpp>

namespace headrace {

/// Returns the expression that `make` returns, or refuses the node for `reason`.
template <reading X, class Make>
[[nodiscard]] auto refuse_if(bool is_refused, const X& x, std::string_view reason, const Make& make) {
    return choose(
        is_refused, [&] { return x.unsupported(reason); }, make);
}

/// x in float32, in which functions of real numbers are computed.
template <reading X>
[[nodiscard]] auto real(const X& x) {
    return as(x, dtype::float32);
}
/// Returns the dtype in which a decomposition counts elements: floats are counted in floats, so that the
/// target does not need integers as well.
[[nodiscard]] constexpr dtype counting_type(dtype t) {
    return is_floating(t) ? dtype::float32 : dtype::int64;
}
/// The maximum number of comparisons that a decomposition makes at once, all of which are in memory.
inline constexpr std::int64_t max_comparisons = std::int64_t{1} << 24;

/// Returns the predicate `answer()` of real numbers; integers all have the answer `of_integers`.
template <reading X, class Answer>
[[nodiscard]] auto of_real(const X& x, bool of_integers, const Answer& answer) {
    return choose(is_floating(x.dtype()), answer, [&] { return x.filled(of_integers, dtype::boolean); });
}

/// x in another shape.
template <reading X>
[[nodiscard]] auto viewed(const X& x, const int_list& shape) {
    return choose(x.shape() == shape, x, [&] { return call<aten::view>(x, shape); });
}
/// x broadcast to another shape.
template <reading X>
[[nodiscard]] auto expanded(const X& x, const int_list& shape) {
    return choose(x.shape() == shape, x, [&] { return call<aten::expand>(x, shape); });
}
/// Swaps the last two axes.
template <reading X>
[[nodiscard]] auto transposed_matrix(const X& x) {
    return call<aten::transpose_int>(x, -2, -1);
}
/// x with an axis of size 1 more.
template <reading X>
[[nodiscard]] auto unsqueezed(const X& x, std::int64_t axis) {
    return call<aten::unsqueeze>(x, axis);
}
/// Views x as one axis: for channel parameters, which PyTorch accepts in any shape.
template <reading X>
[[nodiscard]] auto flat(const X& x) {
    return viewed(x, int_list{x.meta().elements()});
}
/// Returns (1, …, 1, size, 1, …, 1), the shape of a vector along an axis of a tensor of that rank.
[[nodiscard]] inline shape_builder line_shape(std::size_t rank, std::int64_t axis, std::int64_t size) {
    shape_builder shape = shape_builder::filled(std::min(rank, shape_builder::capacity), 1);
    if (const auto at = normalized_axis(axis, rank); at && *at < shape.size()) shape[*at] = size;
    return shape;
}
/// Returns all axes of a tensor of that rank except one; `axis` may be the rank, to leave out none.
[[nodiscard]] inline shape_builder axes_except(std::size_t axis, std::size_t rank) {
    shape_builder axes;
    for (std::size_t i = 0; i != rank; ++i) {
        if (i != axis) axes.push_back(static_cast<std::int64_t>(i));
    }
    return axes;
}
/// Views [C] as [C, 1, …, 1] of that rank: channel parameters, ready to broadcast with [C, H, W].
template <reading X>
[[nodiscard]] auto along_channels(const X& x, std::size_t rank) {
    return call<aten::view>(x, line_shape(rank, 0, x.meta().elements()));
}

/// A constant whose element i, in row-major order, is the scalar `number(i)`.
template <reading X, class Number>
[[nodiscard]] auto constant_by(const X& x, dtype type, const shape_builder& shape, const Number& number) {
    return code<ops<>>(
        [&](emit<ops<>> e, value) {
            return e.constant_of(
                type, shape, [&](std::size_t i) { return number(static_cast<std::int64_t>(i)); });
        },
        x);
}
/// The numbers 0, 1, … in row-major order, as a constant.
template <reading X>
[[nodiscard]] auto numbered(const X& x, dtype type, const shape_builder& shape) {
    return constant_by(x, type, shape, [](std::int64_t i) { return scalar(i); });
}
/// A constant [1, …, 1, rows, columns] of that rank: true where `kept(row, column)` is.
template <reading X, class Kept>
[[nodiscard]] auto mask_of(
    const X& x, std::size_t rank, std::int64_t rows, std::int64_t columns, const Kept& kept) {
    shape_builder shape = shape_builder::filled(rank - 2, 1);
    shape.append(shape_builder{rows, columns});
    return constant_by(
        x, dtype::boolean, shape, [&](std::int64_t i) { return scalar(kept(i / columns, i % columns)); });
}
/// Returns matrices [..., rows, columns] with `other` wherever `kept(row, column)` is false.
template <reading X, class Kept>
[[nodiscard]] auto keep_where(const X& x, double other, const Kept& kept) {
    return choose(
        x.rank() < 2, [&] { return x.unsupported("a matrix is needed: a tensor of rank 2 or more"); },
        [&] { return where(mask_of(x, x.rank(), x.size(-2), x.size(-1), kept), x, other); });
}

// Reduce along these axes, or all if there are none; reduced axes are kept with size 1.
auto sum(const reading auto& x, const int_list& axes) { return call<aten::sum_dim_intlist>(x, axes, true); }
auto mean(const reading auto& x, const int_list& axes) { return call<aten::mean_dim>(x, axes, true); }
auto largest(const reading auto& x, const int_list& axes) { return call<aten::amax>(x, axes, true); }
auto smallest(const reading auto& x, const int_list& axes) { return call<aten::amin>(x, axes, true); }
auto extremum(const reading auto& x, const int_list& axes, bool most) {
    return choose(
        most, [&] { return largest(x, axes); }, [&] { return smallest(x, axes); });
}

/// Σ of all elements.
auto total(const reading auto& x) { return call<aten::sum_dim_intlist>(x, std::nullopt, false); }
/// Σ along an axis, which is removed.
auto sum_along(const reading auto& x, std::int64_t axis) {
    return call<aten::sum_dim_intlist>(x, int_list{axis}, false);
}

/// Returns how many elements of x are reduced to one element of `reduced`.
template <reading X, reading Y>
[[nodiscard]] double reduced_count(const X& x, const Y& reduced) {
    const std::int64_t left = std::max<std::int64_t>(reduced.meta().elements(), 1);
    return static_cast<double>(x.meta().elements() / left);
}

/// Σx · (1/N), computed in `type`.
template <reading X>
[[nodiscard]] auto average(const X& x, const std::optional<int_list>& axes, bool keepdim, dtype type) {
    const auto total = call<aten::sum_dim_intlist>(x, axes, keepdim, type);
    return scaled(total, 1 / reduced_count(x, total));
}

/// Ends a rewrite that kept the axes along which it reduced: x in the shape and the dtype of the result that
/// it replaces.
template <reading X>
[[nodiscard]] auto as_result(const X& x, std::uint32_t result = 0) {
    return viewed(in_result_type(x, result), x.result_meta(result).shape);
}

// --- builders, for code ----------------------------------------------------------------------------------

/// Returns `length` elements of an axis, from `start` on.
inline value narrow(
    emit<ops<aten::narrow>> e, value v, std::size_t axis, std::int64_t start, std::int64_t length) {
    return e.make<aten::narrow>(
        {.self = v, .dim = static_cast<std::int64_t>(axis), .start = start, .length = length});
}
/// Concatenates the parts along an axis.
inline value cat(emit<ops<aten::cat>> e, std::span<const value> parts, std::size_t axis) {
    return e.make<aten::cat>({.tensors = parts, .dim = static_cast<std::int64_t>(axis)});
}

/// Reshapes a value, unless it has that shape.
inline value reshaped(emit<ops<aten::reshape>> e, value v, const int_list& shape) {
    return v && e.shape(v) != shape ? e.make<aten::reshape>({.self = v, .shape = shape}) : v;
}
/// Casts a value, unless it has that dtype.
inline value cast(emit<ops<aten::_to_copy>> e, value v, dtype type) {
    return v && e.dtype(v) != type ? e.make<aten::_to_copy>({.self = v, .dtype = type}) : v;
}

/// Returns the product of n >= 1 equal factors, by repeated squaring; `Op` multiplies two.
template <op_tag Op>
value repeated_product(emit<ops<Op>> e, value factor, std::int64_t n) {
    value product;
    for (; n != 0; n /= 2) {
        if (n % 2 == 1) product = product ? e.template make<Op>(product, factor) : factor;
        if (n > 1) factor = e.template make<Op>(factor, factor);
    }
    return product;
}
/// Makes an identity matrix [n, n], or several if the shape has room for them, in row-major order.
inline value identity(emit<ops<>> e, dtype type, const shape_builder& shape, std::int64_t n) {
    return e.constant_of(type, shape, [n](std::size_t i) {
        const auto at = static_cast<std::int64_t>(i);
        return scalar(at / n % n == at % n ? 1 : 0);
    });
}
/// Repeats a vector, which becomes that axis of the result, along all other axes.
inline value spread_along(
    emit<ops<aten::reshape, aten::expand>> e, value v, std::size_t axis, const int_list& shape) {
    const shape_builder line =
        line_shape(shape.size(), static_cast<std::int64_t>(axis), e.meta(v).elements());
    return e.make<aten::expand>(
        {.self = e.make<aten::reshape>({.self = v, .shape = int_list(line)}), .size = shape});
}

// --- rules -----------------------------------------------------------------------------------------------

/// The policy for real functions along axes: computed in float32; a tensor of rank 0 has an axis of size 1.
struct reduced_in_float32 {
    static constexpr auto made = ops_in<aten::_to_copy, aten::view>;
    static term operand(const term& x) {
        const term y = real(x);
        return y.rank() == 0 ? viewed(y, int_list{1}) : y;
    }
    static term result(const term& y, std::uint32_t i) { return as_result(y, i); }
};
/// Rules for real functions along axes.
template <class... Lists>
constexpr auto reduction_rules(Lists... lists) {
    return rules_with<reduced_in_float32>(lists...);
}

}  // namespace headrace

#endif
