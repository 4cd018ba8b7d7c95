// SPDX-License-Identifier: MIT
// Defines headrace::decompose_division.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_DIVISION_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_DIVISION_HPP

#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// PyTorch divides integers as real numbers unless a rounding mode is given.
///
/// A quotient that is rounded to an integer must not be off by the last bit of 1/b, so the remainder is
/// computed first, exactly: with q = floor(|a|·(1/|b|)), which is off by at most one below 2^23, |a| - q·|b|
/// is computed from a product of split halves (Veltkamp and Dekker 1971), and shows in which direction q is
/// off. A first step with 2^20·|b| makes this exact for quotients up to 2^43. The remainder of integers is
/// exact anyway. Rounding toward zero starts from the nearest float to a/b instead, as in PyTorch: 1/0.1f is
/// 10 there, not 9.99….
struct decompose_division : pass {
    using phase = function_decomposition;
    static constexpr std::string_view summary =
        "a / b as a · (1/b); fmod(a, b) as a - trunc(a/b)·b, remainder with floor";

    static auto rewrites() {
        return rules(
            real_rules(on<aten::div_tensor> = [](auto a, auto b) { return a / b; }),
            on<aten::div_tensor_mode> =
                [](auto a, auto b, const auto& with) {
                    const auto ratio = [&] { return as(a, dtype::float32) / as(b, dtype::float32); };
                    const auto wide = [&](const auto& f) { return f(in_wide_type(a), in_wide_type(b)); };
                    const auto floor = [](const auto& x, const auto& y) { return floored(x, y); };
                    const auto nearest = [](const auto& x, const auto& y) { return nearest_quotient(x, y); };
                    const auto intdiv = [](const auto& x, const auto& y) { return quotient(x, y); };
                    return choose(
                        !with.rounding_mode, [&] { return in_result_type(ratio()); },
                        with.rounding_mode == "floor", [&] { return in_result_type(wide(floor)); },
                        is_floating(a.result_meta().dtype),
                        [&] { return trunc(in_result_type(wide(nearest))); }, a.dtype() != b.dtype(),
                        [&] { return wide(intdiv); },
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

}  // namespace headrace

#endif
