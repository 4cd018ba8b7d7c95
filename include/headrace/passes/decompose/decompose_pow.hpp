// SPDX-License-Identifier: MIT
// Defines headrace::decompose_pow.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_POW_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_POW_HPP

#include <limits>
#include <numbers>

#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// Powers. Small integer exponents become products, by squaring; 1/2 a square root; negative ones a reciprocal.
/// What is left goes to TOSA's POW with a base that is not negative: of negative ones, PyTorch raises |x|, with the
/// sign of x for odd exponents, and gives NaN for exponents that are not integers. exp2(x) = 2^x.
struct decompose_pow : pass {
    using targets = ops<aten::pow_tensor_scalar, aten::pow_tensor_tensor, aten::pow_scalar, aten::exp2>;
    using produces = joined<formula_ops, ops<aten::pow_tensor_tensor>>;

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
        const auto y = power(integral ? abs(x) : x, x.number(exponent));
        const bool odd = integral && std::fmod(exponent, 2) != 0;
        return in_result_type(odd ? where(x < 0, -y, y) : y);
    }
    value operator()(const args<aten::pow_tensor_tensor>& a, emit<produces>& e) const {
        if (!is_floating(result_type(e.meta(a.self), e.meta(a.exponent)))) {
            return e.unsupported("pow: of two integer tensors; TOSA's POW takes floating-point operands only");
        }
        return in_result_type(general_power(formula::real(e, a.self), formula::real(e, a.exponent)));
    }
    value operator()(const args<aten::pow_scalar>& a, emit<produces>& e) const {
        const double base = a.self.to_double();
        if (!is_floating(e.result_meta().dtype)) {
            return e.unsupported("pow: of integers to a tensor; TOSA's POW takes floating-point operands only");
        }
        const auto y = formula::real(e, a.exponent);
        return in_result_type(base < 0 ? general_power(y.number(base), y) : power(y.number(base), y));
    }
    value operator()(const args<aten::exp2>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        return in_result_type(power(x.number(2), x));
    }

private:
    using term = formula::term<emit<produces>>;
    static constexpr double most_products = 16;

    static term power(const term& base, const term& exponent) {
        return base.template apply<aten::pow_tensor_tensor>(exponent.v);
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
        const term undefined = y.number(std::numeric_limits<double>::quiet_NaN());
        const term of_negative = where(whole == exponent, where(odd, -y, y), where(y == 0, y, undefined));
        return where(x < 0, of_negative, y);
    }
};

}  // namespace headrace

#endif
