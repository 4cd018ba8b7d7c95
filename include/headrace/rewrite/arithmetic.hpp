// SPDX-License-Identifier: MIT
// Defines the arithmetic of expressions: operators and elementary functions, which are calls of ATen ops.
#ifndef HEADRACE_REWRITE_ARITHMETIC_HPP
#define HEADRACE_REWRITE_ARITHMETIC_HPP

#include <concepts>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/rewrite/rules.hpp>

namespace headrace {

/// Matches numbers next to expressions. It constrains a template parameter instead of using `double`: clang
/// 16 rejects `int == int` if operators without a class parameter are candidates.
template <class T>
concept plain_number = !__is_class(T) && std::convertible_to<T, double>;

/// Returns a number next to an expression: a constant of its dtype that broadcasts with it.
[[nodiscard]] inline term constant_beside(const term& x, double number) { return x.constant(number); }
[[nodiscard]] inline operand_symbol constant_beside(const symbol_answers&, double) { return {}; }

// One line for a function.

#define HEADRACE_BINARY(name, Op)                                       \
    template <reading A, reading B>                                     \
    auto name(const A& a, const B& b) {                                 \
        return call<Op>(a, b);                                          \
    }                                                                   \
    template <reading A, plain_number N>                                \
    auto name(const A& a, const N& b) {                                 \
        return call<Op>(a, constant_beside(a, static_cast<double>(b))); \
    }                                                                   \
    template <plain_number N, reading B>                                \
    auto name(const N& a, const B& b) {                                 \
        return call<Op>(constant_beside(b, static_cast<double>(a)), b); \
    }
HEADRACE_BINARY(operator+, aten::add_tensor)
HEADRACE_BINARY(operator-, aten::sub_tensor)
HEADRACE_BINARY(operator*, aten::mul_tensor)
HEADRACE_BINARY(operator>, aten::gt_tensor)
HEADRACE_BINARY(operator>=, aten::ge_tensor)
HEADRACE_BINARY(operator==, aten::eq_tensor)
HEADRACE_BINARY(max, aten::maximum)
HEADRACE_BINARY(min, aten::minimum)
#undef HEADRACE_BINARY

#define HEADRACE_UNARY(name, Op) \
    template <reading X>         \
    auto name(const X& x) {      \
        return call<Op>(x);      \
    }
HEADRACE_UNARY(operator-, aten::neg)
HEADRACE_UNARY(operator!, aten::logical_not)
HEADRACE_UNARY(abs, aten::abs)
HEADRACE_UNARY(reciprocal, aten::reciprocal)
HEADRACE_UNARY(rsqrt, aten::rsqrt)
HEADRACE_UNARY(exp, aten::exp)
HEADRACE_UNARY(log, aten::log)
HEADRACE_UNARY(sin, aten::sin)
HEADRACE_UNARY(cos, aten::cos)
HEADRACE_UNARY(tanh, aten::tanh)
HEADRACE_UNARY(sigmoid, aten::sigmoid)
HEADRACE_UNARY(erf, aten::erf)
HEADRACE_UNARY(floor, aten::floor)
HEADRACE_UNARY(ceil, aten::ceil)
#undef HEADRACE_UNARY

template <reading A, reading B>
auto operator<(const A& a, const B& b) {
    return b > a;
}
template <reading A, plain_number N>
auto operator<(const A& a, const N& b) {
    return b > a;
}
template <plain_number N, reading B>
auto operator<(const N& a, const B& b) {
    return b > a;
}
template <reading A, reading B>
auto operator<=(const A& a, const B& b) {
    return b >= a;
}
template <reading A, plain_number N>
auto operator<=(const A& a, const N& b) {
    return b >= a;
}

template <reading A, reading B>
auto operator/(const A& a, const B& b) {
    return a * reciprocal(b);
}
template <reading A, plain_number N>
auto operator/(const A& a, const N& b) {
    return a * (1 / double(b));
}
template <plain_number N, reading B>
auto operator/(const N& a, const B& b) {
    return choose(
        a == 1, [&] { return reciprocal(b); }, [&] { return a * reciprocal(b); });
}

// For booleans. Operators && and || would suggest short-circuit evaluation.
template <reading A, reading B>
auto logical_and(const A& a, const B& b) {
    return call<aten::logical_and>(a, b);
}
template <reading A, reading B>
auto logical_or(const A& a, const B& b) {
    return call<aten::logical_or>(a, b);
}

template <reading C, reading A, reading B>
auto where(const C& c, const A& a, const B& b) {
    return call<aten::where_self>(c, a, b);
}
template <reading C, reading B>
auto where(const C& c, double a, const B& b) {
    return where(c, constant_beside(b, a), b);
}
template <reading C, reading A>
auto where(const C& c, const A& a, double b) {
    return where(c, a, constant_beside(a, b));
}

template <reading X>
auto clamp(const X& x, std::optional<scalar> min, std::optional<scalar> max) {
    return call<aten::clamp>(x, min, max);
}

/// Returns x · factor, or x itself if the factor is 1.
template <reading X>
[[nodiscard]] auto scaled(const X& x, scalar factor) {
    return choose(factor.to_double() == 1, x, [&] { return x * x.constant(factor); });
}

/// Casts x to another dtype.
template <reading X>
[[nodiscard]] auto as(const X& x, dtype type) {
    return code<ops<aten::_to_copy>>(
        [type](emit<ops<aten::_to_copy>> e, value v) {
            return !v || e.dtype(v) == type ? v : e.make<aten::_to_copy>({.self = v, .dtype = type});
        },
        x);
}

/// Casts x to the dtype of the replaced result, at the end of a rewrite.
template <reading X>
[[nodiscard]] auto in_result_type(const X& x, std::uint32_t result = 0) {
    return as(x, x.result_meta(result).dtype);
}

/// Base of policies that round a result once to its own type, as PyTorch does for float16 and bfloat16. Its
/// functions are templates, so that only those in use are compiled.
struct rounded_once {
    static constexpr auto made = ops_in<aten::_to_copy>;
    static term result(const reading auto& y, std::uint32_t i) { return in_result_type(y, i); }
};
/// The policy of functions of real numbers, which are computed in float32.
struct in_float32 : rounded_once {
    static term operand(const reading auto& x) { return as(x, dtype::float32); }
};
/// Rules that compute in float32.
template <class... Lists>
constexpr auto real_rules(Lists... lists) {
    return rules_with<in_float32>(lists...);
}

/// Casts x to the dtype in which arithmetic is computed: float32 for real results, else the result's dtype.
template <reading X>
[[nodiscard]] auto in_wide_type(const X& x) {
    const dtype type = x.result_meta().dtype;
    return as(x, is_floating(type) ? dtype::float32 : type);
}
/// The policy of arithmetic on both real numbers and integers.
struct wide_policy : rounded_once {
    static term operand(const reading auto& x) { return in_wide_type(x); }
};
using widely [[deprecated("say wide_policy")]] = wide_policy;
/// Rules for both real numbers and integers.
template <class... Lists>
constexpr auto arithmetic_rules(Lists... lists) {
    return rules_with<wide_policy>(lists...);
}

/// Exact for 0 and infinity, NaN below 0.
template <reading X>
[[nodiscard]] auto sqrt(const X& x) {
    return reciprocal(rsqrt(x));
}

/// c0 + c1·x + c2·x² + …, by Horner's rule.
template <reading X>
[[nodiscard]] auto polynomial(const X& x, double c0, double c1) {
    return x * c1 + c0;
}
template <reading X, class... Coefficients>
[[nodiscard]] auto polynomial(const X& x, double c0, double c1, Coefficients... rest) {
    return polynomial(x, c1, rest...) * x + c0;
}

/// Returns log(1 + x) without the rounding error of u = 1 + x, which the factor x / (u - 1) corrects (Kahan).
template <reading X>
[[nodiscard]] auto log1p(const X& x) {
    const auto u = x + 1;
    const auto log_u = log(u);
    const auto corrected = where(u == 1, x, log_u * x * reciprocal(u - 1));
    return where(abs(x) < 0.5, corrected, log_u);
}

/// Rounds toward zero.
template <reading X>
[[nodiscard]] auto trunc(const X& x) {
    return where(x < 0, ceil(x), floor(x));
}

/// True if the sign bit is set: 1 / -0 is -infinity.
template <reading X>
[[nodiscard]] auto is_negative(const X& x) {
    return logical_or(x < 0, reciprocal(x) < 0);
}

}  // namespace headrace

#endif
