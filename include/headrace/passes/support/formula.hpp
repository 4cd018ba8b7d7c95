// SPDX-License-Identifier: MIT
// Defines headrace::formula, with which decompositions are written as the formulas that they are.
#ifndef HEADRACE_PASSES_SUPPORT_FORMULA_HPP
#define HEADRACE_PASSES_SUPPORT_FORMULA_HPP

#include <cmath>
#include <initializer_list>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/pass/pass.hpp>

/// A term is a value and the emitter to go on with: `x * 0.5 * (1 + erf(x * sqrt1_2))` makes the ATen nodes
/// of that formula. Numbers become constants of the type of the term beside them. A pass that writes formulas
/// has `formula_ops` among what it produces; all of them are primitives, which legalize passes lower.
namespace headrace::formula {

using formula_ops = ops<aten::add_tensor, aten::sub_tensor, aten::mul_tensor, aten::neg, aten::abs,
                        aten::reciprocal, aten::rsqrt, aten::exp, aten::log, aten::sin, aten::cos, aten::tanh,
                        aten::sigmoid, aten::erf, aten::floor, aten::ceil, aten::maximum, aten::minimum,
                        aten::clamp, aten::gt_tensor, aten::ge_tensor, aten::eq_tensor, aten::logical_not,
                        aten::logical_and, aten::logical_or, aten::where_self, aten::_to_copy>;

template <class E>
struct term {
    E* e;
    value v;

    operator value() const { return v; }
    /// A number beside this term.
    [[nodiscard]] term number(double n) const {
        const dtype type = e->dtype(v);
        return {e, is_floating(type) ? e->splat(n, type, e->rank(v))
                                     : e->splat(static_cast<std::int64_t>(n), type, e->rank(v))};
    }
    template <op_tag Op, class... More>
    [[nodiscard]] term apply(const More&... more) const {
        return {e, e->template make<Op>(v, more...)};
    }
};

template <class E>
[[nodiscard]] term<E> term_of(E& e, value v) {
    return {&e, v};
}

/// The value in another type.
template <class E>
[[nodiscard]] term<E> as(const term<E>& x, dtype type) {
    if (!x.v || x.e->dtype(x.v) == type) return x;
    return {x.e, x.e->template make<aten::_to_copy>({.self = x.v, .dtype = type})};
}

/// A value as float32, in which functions of real numbers are computed: PyTorch computes float16 and bfloat16
/// so, too, and rounds once at the end.
template <class E>
[[nodiscard]] term<E> real(E& e, value v) {
    return as(term_of(e, v), dtype::float32);
}

/// What a formula ends in: the value in the type of the result that it replaces.
template <class E>
[[nodiscard]] value in_result_type(const term<E>& x, std::uint32_t result = 0) {
    return as(x, x.e->result_meta(result).dtype).v;
}

#define HEADRACE_FORMULA_BINARY(name, Op)              \
    template <class E>                                 \
    term<E> name(const term<E>& a, const term<E>& b) { \
        return a.template apply<Op>(b.v);              \
    }                                                  \
    template <class E>                                 \
    term<E> name(const term<E>& a, double b) {         \
        return a.template apply<Op>(a.number(b).v);    \
    }                                                  \
    template <class E>                                 \
    term<E> name(double a, const term<E>& b) {         \
        return b.number(a).template apply<Op>(b.v);    \
    }
HEADRACE_FORMULA_BINARY(operator+, aten::add_tensor)
HEADRACE_FORMULA_BINARY(operator-, aten::sub_tensor)
HEADRACE_FORMULA_BINARY(operator*, aten::mul_tensor)
HEADRACE_FORMULA_BINARY(operator>, aten::gt_tensor)
HEADRACE_FORMULA_BINARY(operator>=, aten::ge_tensor)
HEADRACE_FORMULA_BINARY(operator==, aten::eq_tensor)
HEADRACE_FORMULA_BINARY(max, aten::maximum)
HEADRACE_FORMULA_BINARY(min, aten::minimum)
#undef HEADRACE_FORMULA_BINARY

#define HEADRACE_FORMULA_UNARY(name, Op) \
    template <class E>                   \
    term<E> name(const term<E>& x) {     \
        return x.template apply<Op>();   \
    }
HEADRACE_FORMULA_UNARY(operator-, aten::neg)
HEADRACE_FORMULA_UNARY(operator!, aten::logical_not)
HEADRACE_FORMULA_UNARY(abs, aten::abs)
HEADRACE_FORMULA_UNARY(reciprocal, aten::reciprocal)
HEADRACE_FORMULA_UNARY(exp, aten::exp)
HEADRACE_FORMULA_UNARY(log, aten::log)
HEADRACE_FORMULA_UNARY(sin, aten::sin)
HEADRACE_FORMULA_UNARY(cos, aten::cos)
HEADRACE_FORMULA_UNARY(tanh, aten::tanh)
HEADRACE_FORMULA_UNARY(sigmoid, aten::sigmoid)
HEADRACE_FORMULA_UNARY(erf, aten::erf)
HEADRACE_FORMULA_UNARY(floor, aten::floor)
HEADRACE_FORMULA_UNARY(ceil, aten::ceil)
#undef HEADRACE_FORMULA_UNARY

template <class A, class E>
term<E> operator<(const A& a, const term<E>& b) {
    return b > a;
}
template <class E>
term<E> operator<(const term<E>& a, double b) {
    return b > a;
}
template <class A, class E>
term<E> operator<=(const A& a, const term<E>& b) {
    return b >= a;
}
template <class E>
term<E> operator<=(const term<E>& a, double b) {
    return b >= a;
}
template <class E>
term<E> operator/(const term<E>& a, const term<E>& b) {
    return a * reciprocal(b);
}
template <class E>
term<E> operator/(double a, const term<E>& b) {
    return a == 1 ? reciprocal(b) : a * reciprocal(b);
}
template <class E>
term<E> operator/(const term<E>& a, double b) {
    return a * (1 / b);
}

// Of booleans. Not && and ||, which would look as if they took shortcuts.
template <class E>
term<E> both(const term<E>& a, const term<E>& b) {
    return a.template apply<aten::logical_and>(b.v);
}
template <class E>
term<E> either(const term<E>& a, const term<E>& b) {
    return a.template apply<aten::logical_or>(b.v);
}

template <class E>
term<E> where(const term<E>& condition, const term<E>& a, const term<E>& b) {
    return condition.template apply<aten::where_self>(a.v, b.v);
}
template <class E>
term<E> where(const term<E>& condition, double a, const term<E>& b) {
    return where(condition, b.number(a), b);
}
template <class E>
term<E> where(const term<E>& condition, const term<E>& a, double b) {
    return where(condition, a, a.number(b));
}

template <class E>
term<E> clamp(const term<E>& x, std::optional<scalar> least, std::optional<scalar> most) {
    return {x.e, x.e->template make<aten::clamp>({.self = x.v, .min = least, .max = most})};
}

/// Exact for 0 and infinity, NaN below 0.
template <class E>
term<E> sqrt(const term<E>& x) {
    return reciprocal(x.template apply<aten::rsqrt>());
}

/// c[0] + c[1]·x + c[2]·x² + …, by Horner's rule.
template <class E>
term<E> polynomial(const term<E>& x, std::initializer_list<double> c) {
    const double* next = std::end(c) - 1;
    term<E> sum = x * *next;
    while (--next != std::begin(c)) sum = (sum + *next) * x;
    return sum + *next;
}

/// log(1 + x) without the rounding error of 1 + x, which the factor x / (u - 1) takes back (Kahan).
template <class E>
term<E> log1p(const term<E>& x) {
    const term<E> u = x + 1;
    const term<E> log_u = log(u);
    const term<E> corrected = where(u == 1, x, log_u * x * reciprocal(u - 1));
    return where(abs(x) < 0.5, corrected, log_u);
}

using power_ops = joined<formula_ops, ops<aten::pow_tensor_tensor>>;

/// x to a power that is neither 0 nor NaN, for x >= 0 or NaN. TOSA's POW takes finite numbers only
/// (spec 2.4.11).
template <class E>
term<E> power(const term<E>& x, double exponent) {
    if (exponent < 0) return reciprocal(power(x, -exponent));
    const term<E> regular = x < HUGE_VAL;
    const term<E> base = where(regular, x, 1);
    return where(regular, base.template apply<aten::pow_tensor_tensor>(x.number(exponent).v), x);
}

/// x to the power y, for x >= 0 or NaN. What POW does not take is exp(y · log(x)), and 1 where that would be
/// NaN though x is 1 or y is 0.
template <class E>
term<E> power(const term<E>& x, const term<E>& y) {
    const term<E> regular = both(both(x > 0, x < HUGE_VAL), abs(y) < HUGE_VAL);
    const term<E> base = where(regular, x, 1);
    const term<E> exponent = where(regular, y, 1);
    const term<E> limit = exp(y * log(x));
    return where(regular, base.template apply<aten::pow_tensor_tensor>(exponent.v),
                 where(either(x == 1, y == 0), 1, limit));
}

/// Toward zero.
template <class E>
term<E> trunc(const term<E>& x) {
    return where(x < 0, ceil(x), floor(x));
}

/// Is the sign bit set? 1 / -0 is -infinity.
template <class E>
term<E> is_negative(const term<E>& x) {
    return either(x < 0, reciprocal(x) < 0);
}

}  // namespace headrace::formula

namespace headrace {
using formula::formula_ops;
}

#endif
