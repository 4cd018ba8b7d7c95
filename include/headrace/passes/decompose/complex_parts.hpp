// SPDX-License-Identifier: MIT
// Defines headrace::complex_parts, the real tensors that a complex one becomes, and their arithmetic.
#ifndef HEADRACE_PASSES_DECOMPOSE_COMPLEX_PARTS_HPP
#define HEADRACE_PASSES_DECOMPOSE_COMPLEX_PARTS_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include <headrace/passes/decompose/expressions.hpp>

namespace headrace {

/// A complex tensor as two real ones. Without an imaginary part it is real; without any it is zero.
struct complex_parts {
    value re{}, im{};
};
/// Calls `f` for each part that there is.
template <class F>
complex_parts for_parts(const complex_parts& z, const F& f) {
    const value re = z.re ? f(z.re) : value{};
    return {re, z.im ? f(z.im) : value{}};
}

/// A constant of a float dtype whose element i is `number(i)`.
template <class Number>
value real_constant(emit<ops<>> e, dtype type, const shape_builder& shape, const Number& number) {
    return e.constant_of(
        type, shape, [&](std::size_t i) { return scalar(number(static_cast<std::int64_t>(i))); });
}
/// Swaps two axes, unless they are one.
inline value swapped(emit<ops<aten::transpose_int>> e, value v, std::size_t first, std::size_t second) {
    if (first == second) return v;
    return e.make<aten::transpose_int>(
        {.self = v, .dim0 = static_cast<std::int64_t>(first), .dim1 = static_cast<std::int64_t>(second)});
}
/// Cuts an axis to a size, or pads its end with zeros.
inline value resized(
    emit<ops<aten::narrow, aten::constant_pad_nd>> e, value v, std::size_t axis, std::int64_t size) {
    if (!v || e.failed()) return v;
    const std::int64_t given = e.shape(v)[axis];
    if (given > size) return narrow(e, v, axis, 0, size);
    if (given == size) return v;
    shape_builder around = shape_builder::filled(2 * (e.rank(v) - axis), 0);
    around.back() = size - given;
    return e.make<aten::constant_pad_nd>({.self = v, .pad = int_list(around)});
}
/// Makes a value broadcast to a shape, in a dtype.
inline value fitted(emit<ops<aten::expand, aten::_to_copy>> e, value v, const tensor_meta& like, dtype type) {
    if (!v || e.failed()) return v;
    if (!(e.shape(v) == like.shape)) v = e.make<aten::expand>({.self = v, .size = like.shape});
    return cast(e, v, type);
}

/// Zeros of the shape and dtype of another value.
inline value zeros(emit<ops<aten::full>> e, value like) {
    return e.make<aten::full>({.size = e.shape(like), .fill_value = 0.0, .dtype = e.dtype(like)});
}
/// Puts both parts side by side, along a new last axis, as torch.view_as_real does.
inline value as_pairs(emit<ops<aten::stack, aten::full>> e, const complex_parts& z) {
    if (e.failed()) return {};
    const value parts[] = {z.re, z.im ? z.im : zeros(e, z.re)};
    return e.make<aten::stack>({.tensors = parts, .dim = -1});
}
/// Takes them apart again.
inline complex_parts of_pairs(emit<ops<aten::select_int>> e, value v) {
    const value re = e.make<aten::select_int>({.self = v, .dim = -1, .index = 0});
    return {re, e.make<aten::select_int>({.self = v, .dim = -1, .index = 1})};
}

/// True for a node that squares its operand.
[[nodiscard]] inline bool is_square(const node& n) {
    const auto* power = args_if<aten::pow_tensor_scalar>(n);
    return is<aten::square>(n) || (power != nullptr && power->exponent.to_double() == 2);
}
/// True if all readers of a magnitude square it.
[[nodiscard]] inline bool is_only_squared(const node& n) {
    for (const edge& use : n.uses()) {
        if (!is_square(*use.target)) return false;
    }
    return true;
}
/// True for a padding by other numbers than zeros.
[[nodiscard]] inline bool pads_with_number(const node& n) {
    const auto* a = args_if<aten::constant_pad_nd>(n);
    const auto* p = args_if<aten::pad>(n);
    return (a != nullptr && a->value.to_double() != 0) || (p != nullptr && p->value.value_or(0) != 0);
}

/// Arithmetic of complex numbers by their parts. A missing part is zero, so products and sums with real
/// numbers cost no more than they must.
class complex_arithmetic {
public:
    using made = ops<aten::neg, aten::exp, aten::sin, aten::cos, aten::sqrt, aten::reciprocal, aten::atan2,
        aten::abs, aten::add_tensor, aten::sub_tensor, aten::mul_tensor, aten::div_tensor, aten::eq_tensor,
        aten::where_self>;

    explicit complex_arithmetic(emit<made> e) : e_(e) {}

    complex_parts sum(const complex_parts& a, const complex_parts& b) {
        const value re = add(a.re, b.re);
        return {re, add(a.im, b.im)};
    }
    complex_parts difference(const complex_parts& a, const complex_parts& b) {
        const value re = sub(a.re, b.re);
        return {re, sub(a.im, b.im)};
    }
    complex_parts product(const complex_parts& a, const complex_parts& b) {
        const value squares = mul(a.re, b.re);
        const value re = sub(squares, mul(a.im, b.im));
        const value mixed = mul(a.re, b.im);
        return {re, add(mixed, mul(a.im, b.re))};
    }
    complex_parts conjugate(const complex_parts& z) {
        return {z.re, z.im ? e_.make<aten::neg>({.self = z.im}) : value{}};
    }
    /// 1/z = z* / |z|²
    complex_parts reciprocal(const complex_parts& z) {
        if (!z.im) return {e_.make<aten::reciprocal>({.self = z.re})};
        const value inverse = e_.make<aten::reciprocal>({.self = squared_magnitude(z)});
        return product(conjugate(z), {inverse});
    }
    complex_parts quotient(const complex_parts& x, const complex_parts& y) {
        if (y.im) return product(x, reciprocal(y));
        return for_parts(x, [&](value v) { return e_.make<aten::div_tensor>(v, y.re); });
    }
    value squared_magnitude(const complex_parts& z) {
        const value squares = mul(z.re, z.re);
        return add(squares, mul(z.im, z.im));
    }
    value magnitude(const complex_parts& z) { return e_.make<aten::sqrt>({.self = squared_magnitude(z)}); }
    /// |z| without squares, which need twice as many bits: rotations by π/4, π/8, … and absolute values
    /// turn z towards the real axis. It is off by 0.00015 of |z| at most.
    value folded_magnitude(const complex_parts& z) {
        const auto absolute = [&](value v) { return e_.make<aten::abs>({.self = v}); };
        if (!z.im) return absolute(z.re);
        constexpr int steps = 6;
        value re = absolute(z.re);
        value im = absolute(z.im);
        double angle = std::numbers::pi / 2;  // the largest that z can have
        for (int i = 0; i != steps; ++i) {
            angle /= 2;
            const bool is_last = i + 1 == steps;
            const double gain = is_last ? 2 / (1 + std::cos(angle)) : 1;
            const value along = mul(re, number(gain * std::cos(angle), re));
            const value turned = add(along, mul(im, number(gain * std::sin(angle), im)));
            if (is_last) return turned;
            const value across = mul(im, number(std::cos(angle), im));
            im = absolute(sub(across, mul(re, number(std::sin(angle), re))));
            re = turned;
        }
        return re;
    }
    value angle(const complex_parts& z) {
        const value im = z.im ? z.im : mul(z.re, number(0, z.re));
        return e_.make<aten::atan2>(im, z.re);
    }
    /// z / |z|, and 0 for 0.
    complex_parts sign(const complex_parts& z) {
        const value size = magnitude(z);
        const value is_zero = e_.make<aten::eq_tensor>(size, number(0, size));
        const value divisor = e_.make<aten::where_self>(is_zero, number(1, size), size);
        return product(z, {e_.make<aten::reciprocal>({.self = divisor})});
    }
    /// |z| · (cos φ + i · sin φ)
    complex_parts polar(value magnitude, value angle) {
        const value cos = e_.make<aten::cos>({.self = angle});
        const value re = mul(magnitude, cos);
        const value sin = e_.make<aten::sin>({.self = angle});
        return {re, mul(magnitude, sin)};
    }
    complex_parts exponential(const complex_parts& z) {
        const value size = e_.make<aten::exp>({.self = z.re});
        return z.im ? polar(size, z.im) : complex_parts{size};
    }
    /// z^n for n ≥ 1, by squaring.
    complex_parts power(complex_parts z, std::int64_t n) {
        complex_parts result{};
        for (bool first = true; n != 0; n /= 2) {
            if (n % 2 == 1) {
                result = first ? z : product(result, z);
                first = false;
            }
            if (n > 1) z = product(z, z);
        }
        return result;
    }

private:
    value add(value a, value b) {
        return a && b ? e_.make<aten::add_tensor>({.self = a, .other = b}) : a ? a : b;
    }
    value sub(value a, value b) {
        if (a && b) return e_.make<aten::sub_tensor>({.self = a, .other = b});
        return b ? e_.make<aten::neg>({.self = b}) : a;
    }
    value mul(value a, value b) { return a && b ? e_.make<aten::mul_tensor>(a, b) : value{}; }
    value number(double x, value like) { return e_.splat(x, e_.dtype(like), e_.rank(like)); }

    emit<made> e_;
};

}  // namespace headrace

#endif
