// SPDX-License-Identifier: MIT
// Defines headrace::decompose_pow.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_POW_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_POW_HPP

#include <limits>
#include <numbers>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// Powers. Small integer exponents become products, by squaring; 1/2 a square root; negative ones a
/// reciprocal. What is left goes to TOSA's POW with a base that is not negative: of negative ones, PyTorch
/// raises |x|, with the sign of x for odd exponents, and gives NaN for exponents that are not integers, -∞
/// aside. exp2(x) = 2^x.
struct decompose_pow : pass {
    using phase = function_decomposition;
    using targets = ops<aten::pow_tensor_scalar, aten::pow_tensor_tensor, aten::pow_scalar, aten::exp2>;
    using produces = formula::power_ops;

    value operator()(const args<aten::pow_tensor_scalar>& a, emit<produces>& e) const {
        const double exponent = a.exponent.to_double();
        const dtype type = e.result_meta().dtype;
        if (is_boolean(type)) return exponent == 0 ? e.splat(true, type, e.result_meta().shape) : a.self;
        if (!is_floating(type)) {
            if (exponent < 0) return e.unsupported("pow: integers have no negative powers");
            return integer_power(as(formula::term_of(e, a.self), type), a.exponent.to_int());
        }
        const auto x = formula::real(e, a.self);
        const bool integral = exponent == std::floor(exponent);
        if (integral && std::abs(exponent) <= most_products) {
            const auto y = integer_power(x, static_cast<std::int64_t>(std::abs(exponent)));
            return in_result_type(exponent < 0 ? reciprocal(y) : y);
        }
        if (exponent == 0.5) return in_result_type(sqrt(x));
        if (exponent == -0.5) return in_result_type(x.template apply<aten::rsqrt>());
        const auto y = power(abs(x), exponent);
        if (!integral) return in_result_type(where(x < 0, undefined_power(x, y), y));
        return in_result_type(std::fmod(exponent, 2) != 0 ? where(x < 0, -y, y) : y);
    }
    value operator()(const args<aten::pow_tensor_tensor>& a, emit<produces>& e) const {
        if (!is_floating(result_type(e.meta(a.self), e.meta(a.exponent)))) {
            return e.unsupported(
                "pow: of two integer tensors; TOSA's POW takes floating-point operands only");
        }
        return in_result_type(general_power(formula::real(e, a.self), formula::real(e, a.exponent)));
    }
    value operator()(const args<aten::pow_scalar>& a, emit<produces>& e) const {
        const double base = a.self.to_double();
        if (!is_floating(e.result_meta().dtype)) {
            return e.unsupported(
                "pow: of integers to a tensor; TOSA's POW takes floating-point operands only");
        }
        const auto y = formula::real(e, a.exponent);
        if (base < 0) return in_result_type(general_power(y.number(base), y));
        return in_result_type(power_of(base, y));
    }
    value operator()(const args<aten::exp2>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        return in_result_type(power_of(2, x));
    }

private:
    using term = formula::term<emit<produces>>;
    static constexpr double most_products = 16;

    /// base >= 0. What is not finite has its limit, which exp(y · log(base)) gives.
    static term power_of(double base, const term& y) {
        if (base == 1) return {y.e, y.e->splat(1, dtype::float32, y.e->shape(y))};
        const term limit = exp(y * std::log(base));
        if (base == 0) return where(y == 0, 1, limit);
        const term regular = abs(y) < HUGE_VAL;
        const term exponent = where(regular, y, 0);
        return where(regular, term(y.number(base)).template apply<aten::pow_tensor_tensor>(exponent.v),
                     limit);
    }
    /// Of a negative base to an exponent that is not an integer, where y is that of |x|.
    static term undefined_power(const term& x, const term& y) {
        return where(abs(x) == HUGE_VAL, y, std::numeric_limits<double>::quiet_NaN());
    }
    static term integer_power(const term& x, std::int64_t n) {
        if (n == 0) return {x.e, x.e->splat(1, x.e->dtype(x), x.e->shape(x))};
        std::optional<term> y;
        for (term squared = x;; squared = squared * squared) {
            if ((n & 1) != 0) y = y ? *y * squared : squared;
            n >>= 1;
            if (n == 0) return *y;
        }
    }
    static term general_power(const term& x, const term& exponent) {
        const term y = power(abs(x), exponent);
        const term whole = floor(exponent);
        const term odd = exponent - floor(exponent * 0.5) * 2 == 1;
        const term of_negative = where(whole == exponent, where(odd, -y, y), undefined_power(x, y));
        return where(x < 0, of_negative, y);
    }
};

}  // namespace headrace

#endif
