// SPDX-License-Identifier: MIT
// Defines headrace::decompose_pow.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_POW_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_POW_HPP

#include <cmath>
#include <limits>

#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/powers.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// What is left goes to TOSA's POW with a base that is not negative: of negative ones, PyTorch raises |x|,
/// with the sign of x for odd exponents, and gives NaN for exponents that are not integers, -∞ aside.
struct decompose_pow : pass {
    using phase = function_decomposition;
    static constexpr std::string_view summary =
        "x^n for small integers n as products, x^½ as sqrt(x), other powers by POW";

    // clang-format off
    static auto rewrites() {
        return rules(
            on<aten::pow_tensor_scalar> = [](auto x, const auto& a) {
                const dtype type = x.result_meta().dtype;
                const double n = a.exponent.to_double();
                return choose(
                    is_boolean(type) && n != 0, x,
                    is_boolean(type), [&] { return x.filled(true); },
                    is_floating(type), [&] { return in_result_type(real_power(as(x, dtype::float32), n)); },
                    n < 0, [&] { return x.unsupported("pow: integers have no negative powers"); },
                    [&] { return integer_power(as(x, type), a.exponent.to_int()); });
            },
            real_rules(
                on<aten::pow_tensor_tensor> = [](auto x, auto y) {
                    return of_real(y, "of two integer tensors", [&] { return general_power(x, y); });
                },
                on<aten::pow_scalar> = [](auto y, const auto& a) {
                    const double base = a.self.to_double();
                    return of_real(y, "of integers to a tensor", [&] {
                        return choose(
                            base < 0, [&] { return general_power(y.constant(base), y); },
                            [&] { return power_of(base, y); });
                    });
                },
                on<aten::exp2> = [](auto x) { return power_of(2, x); }));
    }

private:
    static auto of_real(const auto& x, const char* integers, const auto& answer) {
        return choose(is_floating(x.result_meta().dtype), answer, [&] {
            return x.unsupported({"pow: ", integers, "; TOSA's POW takes floating-point operands only"});
        });
    }

    static auto real_power(const auto& x, double n) {
        const bool integral = n == std::floor(n);
        const auto product = [&] { return integer_power(x, static_cast<std::int64_t>(std::abs(n))); };
        return choose(
            integral && n >= 0 && n <= max_products, product,
            integral && n < 0 && n >= -max_products, [&] { return reciprocal(product()); },
            n == 0.5, [&] { return sqrt(x); },
            n == -0.5, [&] { return rsqrt(x); },
            [&] {
                const auto y = power(abs(x), n);
                return choose(
                    !integral, [&] { return where(x < 0, undefined_power(x, y), y); },
                    std::fmod(n, 2) != 0, [&] { return where(x < 0, -y, y); },
                    y);
            });
    }
    static constexpr double max_products = 16;

    // By squaring.
    static auto integer_power(const auto& x, std::int64_t n) {
        using made = ops<aten::mul_tensor>;
        return emitting<made>(
            [n](emit<made> e, value squared) {
                if (n == 0) return e.splat(1, e.dtype(squared), e.shape(squared));
                value y;
                for (std::int64_t left = n;; squared = e.make<aten::mul_tensor>(squared, squared)) {
                    if ((left & 1) != 0) y = y ? e.make<aten::mul_tensor>(y, squared) : squared;
                    left >>= 1;
                    if (left == 0) return y;
                }
            },
            x);
    }

    // base >= 0. What is not finite has its limit, which exp(y · log(base)) gives.
    static auto power_of(double base, const auto& y) {
        const auto limit = [&] { return exp(y * std::log(base)); };
        const auto general = [&] {
            const auto regular = abs(y) < HUGE_VAL;
            const auto raised = call<aten::pow_tensor_tensor>(y.constant(base), where(regular, y, 0));
            return where(regular, raised, limit());
        };
        return choose(
            base == 1, [&] { return y.filled(1); },
            base == 0, [&] { return where(y == 0, 1, limit()); },
            general);
    }
    static auto general_power(const auto& x, const auto& exponent) {
        const auto y = power(abs(x), exponent);
        const auto whole = floor(exponent);
        const auto odd = exponent - floor(exponent * 0.5) * 2 == 1;
        const auto of_negative = where(whole == exponent, where(odd, -y, y), undefined_power(x, y));
        return where(x < 0, of_negative, y);
    }
    // Of a negative base to an exponent that is not an integer, where y is that of |x|.
    static auto undefined_power(const auto& x, const auto& y) {
        return where(abs(x) == HUGE_VAL, y, std::numeric_limits<double>::quiet_NaN());
    }
    // clang-format on
};
HEADRACE_COMPILED_PASS(decompose_pow);

}  // namespace headrace

#endif
