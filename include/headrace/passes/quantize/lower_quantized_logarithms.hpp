// SPDX-License-Identifier: MIT
// Defines headrace::lower_quantized_logarithms.
#ifndef HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_LOGARITHMS_HPP
#define HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_LOGARITHMS_HPP

#include <array>
#include <cmath>
#include <numbers>

#include <headrace/passes/quantize/fixed_point.hpp>

namespace headrace {

/// log(dq(x)) = dq(e + log2(m)), where x = 2^e · m: the exponent e follows from the number of leading zeros,
/// and the logarithm of m, from 1 to 2, is a polynomial. So quiet numbers are as exact as loud ones, which no
/// table of 16 bits is. What is not above 0 counts as 1, the least integer: none stands for -infinity.
struct lower_quantized_logarithms : pass {
    static constexpr std::string_view summary = "log(dq(x)) = dq(exponent + polynomial of the mantissa)";

    static auto rewrites() {
        return rules(on<aten::log> = code<made>([](emit<made> e, value x) { return natural(e, x); }));
    }

private:
    using made = joined<fixed_point_ops, dequantize_ops,
        ops<tosa::maximum, tosa::clz, tosa::sub, tosa::add, tosa::mul, tosa::logical_left_shift>>;
    static constexpr int bits = 15;  ///< of fractions

    static std::optional<value> natural(emit<made> e, value operand) {
        if (e.target().has(target_feature::profile_fp)) return std::nullopt;
        const auto x = as_scaled_integers(e, operand);
        if (!x) return std::nullopt;
        const double of_scale = std::log2(x->scale);
        const auto offset = static_cast<std::int64_t>(std::nearbyint(std::ldexp(of_scale, bits)));
        const value logarithm = log2_of(e, x->integers, offset);
        const double reach = std::ldexp(31 + std::abs(of_scale), bits) + 1;
        return dequantize(e, scaled_integers{logarithm, std::ldexp(std::numbers::ln2, -bits), reach});
    }

    // Returns log2 of INT32, of what is at least 1, plus an integer, with fractions.
    static value log2_of(emit<made> e, value x, std::int64_t offset) {
        const auto number = [&](std::int64_t n) { return e.splat(n, dtype::int32, e.rank(x)); };
        const value positive = e.make<tosa::maximum>(x, number(1));
        const value zeros = e.make<tosa::clz>(positive);  // 1 to 31
        const value mantissa =
            e.make<tosa::logical_left_shift>(positive, e.make<tosa::sub>(zeros, number(1)));
        // At least -0.5 already, which proofs of ranges do not see.
        const value centered =
            e.make<tosa::maximum>(e.make<tosa::sub>(shifted_right(e, mantissa), number(3 << (bits - 1))),
                number(-(1 << (bits - 1))));
        const value fraction = polynomial(e, centered);
        const value exponent = e.make<tosa::sub>(
            number((31 << bits) + offset), e.make<tosa::logical_left_shift>(zeros, number(bits)));
        return e.make<tosa::add>(exponent, fraction);
    }

    // Returns log2(1.5 + u) of u from -0.5 to 0.5, all with fractions. The error is at most 1e-4.
    static value polynomial(emit<made> e, value u) {
        constexpr std::array coefficients{-0.08161, 0.155437, -0.319349, 0.960964, 0.584938};
        const auto number = [&](double c) {
            return e.splat(
                static_cast<std::int64_t>(std::nearbyint(std::ldexp(c, bits))), dtype::int32, e.rank(u));
        };
        value sum = number(coefficients[0]);
        for (std::size_t i = 1; i != coefficients.size(); ++i) {
            const value product = shifted_right(e, build::multiply(e, u, sum));
            sum = e.make<tosa::add>(product, number(coefficients[i]));
        }
        return sum;
    }
    static value shifted_right(emit<ops<tosa::rescale>> e, value v) {
        return build::rescale(e, v, std::ldexp(1.0, -bits), {});
    }
};

}  // namespace headrace

#endif
