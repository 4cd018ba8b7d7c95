// SPDX-License-Identifier: MIT
// Defines the decompositions of powers, roots, exponentials and logarithms.
#ifndef HEADRACE_PASSES_DECOMPOSE_POWERS_HPP
#define HEADRACE_PASSES_DECOMPOSE_POWERS_HPP

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

// TOSA's POW takes finite numbers only (spec 2.4.11).

/// Returns x to a power that is neither 0 nor NaN, for x >= 0 or NaN.
template <reading X>
[[nodiscard]] auto power(const X& x, double exponent) {
    const auto regular = x < HUGE_VAL;
    const auto base = where(regular, x, 1);
    const auto raised = call<aten::pow_tensor_tensor>(base, x.constant(std::abs(exponent)));
    const auto y = where(regular, raised, x);
    return choose(exponent >= 0, y, [&] { return reciprocal(y); });
}

/// Returns x to the power y, for x >= 0 or NaN. Where POW is not defined, it is exp(y · log(x)), or 1 if that
/// would be NaN although x is 1 or y is 0.
template <reading X, reading Y>
[[nodiscard]] auto power(const X& x, const Y& y) {
    const auto regular = logical_and(logical_and(x > 0, x < HUGE_VAL), abs(y) < HUGE_VAL);
    const auto raised = call<aten::pow_tensor_tensor>(where(regular, x, 1), where(regular, y, 1));
    const auto limit = exp(y * log(x));
    return where(regular, raised, where(logical_or(x == 1, y == 0), 1, limit));
}

/// Decomposes powers; those not rewritten otherwise use TOSA's POW with a nonnegative base. For negative
/// bases, PyTorch raises |x|, with the sign of x for odd exponents, and returns NaN for exponents that are
/// not integers, except for a base of -∞. Powers of integers are computed by products only, which wrap
/// around.
struct decompose_pow : pass_in<function_decomposition> {
    static constexpr std::string_view summary =
        "x^n for small or whole n of integers as products, x^½ as sqrt(x), other powers by POW";

    static auto rewrites() {
        return rules(
            on<aten::pow_tensor_scalar> =
                [](auto x, const auto& a) {
                    const dtype type = x.result_meta().dtype;
                    const double n = a.exponent.to_double();
                    return choose(
                        is_boolean(type) && n != 0, x, is_boolean(type), [&] { return x.filled(true); },
                        is_floating(type), [&] { return in_result_type(real_power(real(x), n)); }, n < 0,
                        [&] { return x.unsupported("pow: integers have no negative powers"); },
                        [&] { return integer_power(as(x, type), a.exponent.to_int()); });
                },
            on<aten::pow_tensor_tensor> =
                [](auto x, auto y) {
                    const dtype type = x.result_meta().dtype;
                    return choose(
                        is_floating(type), [&] { return in_result_type(general_power(real(x), real(y))); },
                        is_boolean(type), [&] { return x.unsupported("pow: PyTorch has none of booleans"); },
                        [&] { return power_of_integers(as(x, type), as(y, type)); });
                },
            on<aten::pow_scalar> =
                [](auto y, const auto& a) {
                    const dtype type = y.result_meta().dtype;
                    const double base = a.self.to_double();
                    const auto exponent = as(y, is_floating(type) ? dtype::float32 : type);
                    return choose(
                        !is_floating(type),
                        [&] { return power_of_integers(exponent.constant(a.self), exponent); }, base < 0,
                        [&] { return in_result_type(general_power(exponent.constant(base), exponent)); },
                        [&] { return in_result_type(power_of(base, exponent)); });
                },
            real_rules(on<aten::exp2> = [](auto x) { return power_of(2, x); }));
    }

private:
    static auto real_power(const auto& x, double n) {
        const bool integral = n == std::floor(n);
        const auto product = [&] { return integer_power(x, static_cast<std::int64_t>(std::abs(n))); };
        return choose(
            integral && n >= 0 && n <= max_products, product, integral && n < 0 && n >= -max_products,
            [&] { return reciprocal(product()); }, n == 0.5, [&] { return sqrt(x); }, n == -0.5,
            [&] { return rsqrt(x); },
            [&] {
                const auto y = power(abs(x), n);
                return choose(
                    !integral, [&] { return where(x < 0, undefined_power(x, y), y); }, std::fmod(n, 2) != 0,
                    [&] { return where(x < 0, -y, y); }, y);
            });
    }
    static constexpr double max_products = 16;

    static auto integer_power(const auto& x, std::int64_t n) {
        using made = ops<aten::mul_tensor>;
        return code<made>(
            [n](emit<made> e, value v) {
                return n == 0 ? e.splat(1, e.dtype(v), e.shape(v))
                              : repeated_product<aten::mul_tensor>(e, v, n);
            },
            x);
    }
    // By repeated squaring, for each bit of |y|: halving a negative y, rounded toward zero, gives the same
    // bits. Negative powers are 0, except those of 1 and -1.
    static auto power_of_integers(const auto& x, const auto& y) {
        using made = ops<aten::bitwise_and_tensor, aten::eq_tensor, aten::ge_tensor, aten::logical_or,
            aten::where_self, aten::mul_tensor, aten::abs, aten::div_tensor_mode>;
        return code<made>(
            [](emit<made> e, value base, value exponent) {
                const dtype type = e.dtype(base);
                const auto number = [&](int n) { return e.splat(n, type, 0); };
                const auto times = [&](value a, value b) { return e.make<aten::mul_tensor>(a, b); };
                const auto is_one = [&](value v) { return e.make<aten::eq_tensor>(v, number(1)); };
                const auto [bits, negative] = range_of(exponent, type);
                value power, squared = base, left = exponent;
                for (int bit = 0; bit != bits && !e.failed(); ++bit) {
                    if (bit != 0) {
                        squared = times(squared, squared);
                        left = e.make<aten::div_tensor_mode>({left, number(2), "trunc"});
                    }
                    const value is_odd = is_one(e.make<aten::bitwise_and_tensor>(left, number(1)));
                    const value factor = e.make<aten::where_self>(is_odd, squared, number(1));
                    power = power ? times(power, factor) : factor;
                }
                if (!negative) return power;
                const value whole = e.make<aten::logical_or>(
                    e.make<aten::ge_tensor>(exponent, number(0)), is_one(e.make<aten::abs>({base})));
                return e.make<aten::where_self>(whole, power, number(0));
            },
            x, y);
    }
    // Returns the number of bits of the largest exponent, and whether one may be negative.
    static std::pair<int, bool> range_of(value exponent, dtype type) {
        const auto known = constant_integers(exponent);
        const bool is_signed = is_signed_integral(type);
        if (!known) return {static_cast<int>(traits_of(type).bits) - (is_signed ? 1 : 0), is_signed};
        std::uint64_t all = 1;
        for (const std::int64_t n : *known) all |= n < 0 ? 0 : static_cast<std::uint64_t>(n);
        const bool negative = std::any_of(known->begin(), known->end(), [](std::int64_t n) { return n < 0; });
        return {static_cast<int>(std::bit_width(all)), negative};
    }
    // For base >= 0. Where y is not finite, the result is the limit, which exp(y · log(base)) gives.
    static auto power_of(double base, const auto& y) {
        const auto limit = [&] { return exp(y * std::log(base)); };
        const auto general = [&] {
            const auto regular = abs(y) < HUGE_VAL;
            const auto raised = call<aten::pow_tensor_tensor>(y.constant(base), where(regular, y, 0));
            return where(regular, raised, limit());
        };
        return choose(
            base == 1, [&] { return y.filled(1); }, base == 0, [&] { return where(y == 0, 1, limit()); },
            general);
    }
    static auto general_power(const auto& x, const auto& exponent) {
        const auto y = power(abs(x), exponent);
        const auto whole = floor(exponent);
        const auto odd = exponent - floor(exponent * 0.5) * 2 == 1;
        const auto of_negative = where(whole == exponent, where(odd, -y, y), undefined_power(x, y));
        return where(x < 0, of_negative, y);
    }
    // For a negative base with an exponent that is not an integer; y is the power of |x|.
    static auto undefined_power(const auto& x, const auto& y) {
        return where(abs(x) == HUGE_VAL, y, std::numeric_limits<double>::quiet_NaN());
    }
};
HEADRACE_COMPILED_PASS(decompose_pow);

/// Decomposes square roots, exponentials and logarithms to TOSA's EXP, LOG, TANH and RSQRT. Near 0 they keep
/// the relative accuracy that the textbook forms lose; for two tensors, the larger one is factored out so
/// that nothing overflows.
struct decompose_exponentials : pass_in<function_decomposition> {
    static constexpr std::string_view summary = "roots, exponentials, logarithms by exp, log, tanh, rsqrt";

    static auto rewrites() {
        using namespace std::numbers;
        return real_rules(
            on<aten::sqrt> = [](auto x) { return sqrt(x); },
            on<aten::log1p> = [](auto x) { return log1p(x); },
            on<aten::log2> = [](auto x) { return log(x) * log2e; },
            on<aten::log10> = [](auto x) { return log(x) * log10e; },
            on<aten::erfc> = [](auto x) { return 1 - erf(x); },
            on<aten::expm1> =
                [](auto x) {
                    const auto t = tanh(x * 0.5);
                    return where(abs(x) < 1, t * 2 / (1 - t), exp(x) - 1);
                },
            on<aten::logaddexp> =
                [](auto x, auto y) {
                    const auto larger = max(x, y);
                    const auto sum = larger + log1p(exp(-abs(x - y)));
                    return where(x == y, larger + ln2, sum);  // infinity - infinity would be NaN
                },
            on<aten::xlogy_tensor> =
                [](auto x, auto y) { return where(logical_and(x == 0, y == y), x, x * log(y)); },
            on<aten::hypot> =
                [](auto a, auto b) {
                    const auto x = abs(a);
                    const auto y = abs(b);
                    const auto larger = max(x, y);
                    const auto ratio = where(x == y, larger.constant(1), min(x, y) / larger);
                    const auto length = larger * sqrt(ratio * ratio + 1);
                    return where(logical_or(x == HUGE_VAL, y == HUGE_VAL), larger.constant(HUGE_VAL), length);
                });
    }
};
HEADRACE_COMPILED_PASS(decompose_exponentials);

}  // namespace headrace

#endif
