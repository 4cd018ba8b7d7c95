// SPDX-License-Identifier: MIT
// Defines the decompositions of arithmetic: fused operations, division with remainder, rounding.
#ifndef HEADRACE_PASSES_DECOMPOSE_ARITHMETIC_HPP
#define HEADRACE_PASSES_DECOMPOSE_ARITHMETIC_HPP

#include <cmath>

#include <headrace/ir/unknown_op.hpp>
#include <headrace/passes/decompose/expressions.hpp>

namespace headrace {

struct decompose_add_sub_alpha : pass {
    using runs_after = pass_list<canonical_arithmetic, tensor_operands>;
    using ensures = pass_list<unit_alpha>;
    static constexpr std::string_view summary =
        "add(x, y, α) as x + α·y and sub(x, y, α) as x - α·y, unless α is 1";

    static auto rewrites() {
        return rules(
            on<aten::add_tensor> =
                [](auto x, auto y, const auto& a) {
                    return with_product(x, y, a.alpha, [&](const auto& v) { return x + v; });
                },
            on<aten::sub_tensor> =
                [](auto x, auto y, const auto& a) {
                    return with_product(x, y, a.alpha, [&](const auto& v) { return x - v; });
                });
    }

private:
    // α·y is computed in the dtype that both operands promote to.
    static auto with_product(const auto& x, const auto& y, scalar alpha, const auto& combined) {
        const dtype type = result_type(x.meta(), y.meta());
        return choose(alpha.to_double() == 1, unchanged,
            [&] { return combined(as(y, type) * y.constant(alpha, type)); });
    }
};
HEADRACE_COMPILED_PASS(decompose_add_sub_alpha);

/// lerp starts from the nearer end, as in PyTorch: for |w| >= 1/2 it is end - (end - self)·(1 - w).
struct decompose_fused_arithmetic : pass_in<function_decomposition> {
    static constexpr std::string_view summary =
        "addcmul as x + v·a·b, addcdiv as x + v·a/b, lerp as x + w·(end - x)";

    static auto rewrites() {
        return rules(arithmetic_rules(
                         on<aten::addcmul> = [](auto x, auto a, auto b,
                                                 const auto& with) { return x + scaled(a * b, with.value); }),
            real_rules(
                on<aten::addcdiv> = [](auto x, auto a, auto b,
                                        const auto& with) { return x + scaled(a / b, with.value); },
                on<aten::lerp_scalar> =
                    [](auto start, auto end, const auto& a) {
                        const double w = a.weight.to_double();
                        const auto way = end - start;
                        return choose(
                            std::abs(w) < 0.5, [&] { return start + way * w; },
                            [&] { return end - way * (1 - w); });
                    },
                on<aten::lerp_tensor> =
                    [](auto start, auto end, auto w) {
                        const auto way = end - start;
                        return where(abs(w) < 0.5, start + w * way, end - way * (1 - w));
                    }));
    }
};
HEADRACE_COMPILED_PASS(decompose_fused_arithmetic);

/// PyTorch divides integers as real numbers unless a rounding mode is given.
///
/// A quotient that is rounded to an integer must not be off by the last bit of 1/b, so the remainder is
/// computed first, exactly: with q = floor(|a|·(1/|b|)), which is off by at most one below 2^23, |a| - q·|b|
/// is computed from a product of split halves (Veltkamp and Dekker 1971), and shows in which direction q is
/// off. A first step with 2^20·|b| makes this exact for quotients up to 2^43. The remainder of integers is
/// exact anyway. Rounding toward zero starts from the nearest float to a/b instead, as in PyTorch: 1/0.1f is
/// 10 there, not 9.99….
struct decompose_division : pass_in<function_decomposition> {
    static constexpr std::string_view summary =
        "a / b as a · (1/b); fmod(a, b) as a - trunc(a/b)·b, remainder with floor";

    static auto rewrites() {
        return rules(
            real_rules(on<aten::div_tensor> = [](auto a, auto b) { return a / b; }),
            on<aten::div_tensor_mode> =
                [](auto a, auto b, const auto& with) {
                    return choose(
                        !with.rounding_mode, [&] { return in_result_type(real(a) / real(b)); },
                        with.rounding_mode == "floor",
                        [&] { return in_result_type(floored(in_wide_type(a), in_wide_type(b))); },
                        is_floating(a.result_meta().dtype),
                        [&] {
                            return trunc(in_result_type(nearest_quotient(in_wide_type(a), in_wide_type(b))));
                        },
                        a.dtype() != b.dtype(), [&] { return quotient(in_wide_type(a), in_wide_type(b)); },
                        unchanged);  // truncating division of integers is TOSA's INTDIV
                },
            arithmetic_rules(
                on<aten::floor_divide> = [](auto a, auto b) { return floored(a, b); },
                on<aten::fmod_tensor> = [](auto a, auto b) { return rest_of(a, b); },
                on<aten::remainder_tensor> =
                    [](auto a, auto b) {
                        const auto rest = rest_of(a, b);
                        return where(signs_differ(rest, b), rest + b, rest);
                    }));
    }

private:
    static auto floored(const auto& a, const auto& b) {
        const auto rest = rest_of(a, b);
        const auto down = [&](const auto& q) { return where(signs_differ(rest, b), q - 1, q); };
        const auto of_real = [&] {
            const auto ratio = [&] { return a / b; };
            // (a - rest) / b is an integer; the error of 1/b is rounded away.
            const auto q = where(b == 0, ratio(), floor((a - rest) / b + 0.5));
            return where(b == 0, ratio(), down(q));
        };
        return choose(is_floating(a.dtype()), of_real, [&] { return down(quotient(a, b)); });
    }
    // Divides integers, rounding toward zero.
    static auto quotient(const auto& a, const auto& b) { return call<aten::div_tensor_mode>(a, b, "trunc"); }
    // a / b, corrected once by its error, unless that is NaN because of an infinity.
    static auto nearest_quotient(const auto& a, const auto& b) {
        const auto inverse = reciprocal(b);
        const auto q = a * inverse;
        const auto error = minus_product(a, q, b, inverse);
        return where(error == error, q + error * inverse, q);
    }
    // a - trunc(a/b)·b.
    static auto rest_of(const auto& a, const auto& b) {
        const auto of_real = [&] {
            const auto step = abs(b);
            const auto rest = reduced(reduced(abs(a), step * 0x1p20), step);
            return where(a < 0, -rest, rest);
        };
        return choose(is_floating(a.dtype()), of_real, [&] { return a - quotient(a, b) * b; });
    }
    // True if the remainder is not 0 and has a different sign than the divisor.
    static auto signs_differ(const auto& rest, const auto& divisor) {
        return logical_or(logical_and(rest<0, divisor> 0), logical_and(rest > 0, divisor < 0));
    }
    // Returns the remainder of size / step, both nonnegative, for quotients below 2^23.
    static auto reduced(const auto& size, const auto& step) {
        const auto inverse = reciprocal(step);
        const auto q = floor(size * inverse);
        const auto rest = minus_product(size, q, step, inverse);
        const auto positive = where(rest < 0, rest + step, rest);
        const auto less = where(positive >= step, positive - step, positive);
        return where(size < step, size, less);  // step may be infinite
    }
    // a - b·c, exact if a and b·c are close: b·c = p + (((bh·ch - p) + bh·cl + bl·ch) + bl·cl). The high half
    // of x is t - (t - x), where t is about (2^12 + 1)·x. For c, t is computed from its inverse: if c is
    // dequantized, c times a number would become integers, whose differences are exact and split nothing.
    static auto minus_product(const auto& a, const auto& b, const auto& c, const auto& inverse) {
        const auto high = [](const auto& x, const auto& t) { return t - (t - x); };
        const auto p = b * c;
        const auto bh = high(b, b * 4097);
        const auto ch = high(c, 4097 / inverse);
        const auto bl = b - bh;
        const auto cl = c - ch;
        const auto error = bl * cl - (((p - bh * ch) - bl * ch) - bh * cl);
        return (a - p) - error;
    }
};
HEADRACE_COMPILED_PASS(decompose_division);

/// round goes to the nearest integer, ties to even: x - floor(x) is exact in floating point, so that ties are
/// recognised. sign(NaN) is 0; signbit tells -0 from 0.
struct decompose_rounding : pass_in<function_decomposition> {
    static constexpr std::string_view summary =
        "round, trunc, frac, sign, signbit, copysign by floor, ceil, comparisons";

    static auto rewrites() {
        return rules(
            on<aten::round> =
                [](auto x) { return choose(!is_floating(x.dtype()), x, [&] { return nearest_even(x); }); },
            on<aten::round_decimals> =
                [](auto x, const auto& a) {
                    const double factor = std::pow(10.0, static_cast<double>(std::abs(a.decimals)));
                    const auto power = [&] { return x.constant(factor, dtype::float32); };
                    return choose(
                        !is_floating(x.dtype()), x, a.decimals == 0, [&] { return nearest_even(x); },
                        a.decimals > 0,
                        [&] { return in_result_type(nearest_even(real(x) * power()) / power()); },
                        [&] { return in_result_type(nearest_even(real(x) / power()) * power()); });
                },
            on<aten::trunc> =
                [](auto x) { return choose(!is_floating(x.dtype()), x, [&] { return trunc(x); }); },
            on<aten::frac> = [](auto x) { return x - trunc(x); },
            on<aten::sign, aten::sgn> =
                [](auto x) {
                    const auto of_real = [&] {
                        return where(x > 0, x.constant(1), where(x < 0, x.constant(-1), x.constant(0)));
                    };
                    return choose(
                        is_boolean(x.dtype()), x, is_floating(x.dtype()), of_real, is_integral(x.dtype()),
                        [&] { return clamp(x, -1, 1); }, [&] { return x.unsupported(no_complex_numbers); });
                },
            on<aten::signbit> =
                [](auto x) {
                    return choose(
                        is_boolean(x.dtype()), [&] { return x.filled(false); }, is_floating(x.dtype()),
                        [&] { return is_negative(x); }, [&] { return x < 0; });
                },
            real_rules(on<aten::copysign_tensor> = [](auto x, auto sign) {
                const auto magnitude = abs(x);
                return where(is_negative(sign), -magnitude, magnitude);
            }));
    }

private:
    static auto nearest_even(const auto& x) {
        const auto below = floor(x);
        const auto above = ceil(x);  // -0 if `below` is -1
        const auto rest = x - below;
        const auto even = floor(above * 0.5) * 2;
        return where(rest > 0.5, above, where(rest < 0.5, below, even));
    }
};
HEADRACE_COMPILED_PASS(decompose_rounding);

}  // namespace headrace

#endif
