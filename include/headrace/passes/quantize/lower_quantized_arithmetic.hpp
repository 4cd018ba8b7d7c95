// SPDX-License-Identifier: MIT
// Defines headrace::lower_quantized_arithmetic.
#ifndef HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_ARITHMETIC_HPP
#define HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_ARITHMETIC_HPP

#include <algorithm>
#include <optional>

#include <headrace/passes/quantize/fixed_point.hpp>

namespace headrace {

/// Lowers arithmetic to INT32: dq(a) + dq(b) = dq(a + b). Sums and comparisons bring both operands to one
/// fine scale. The scale of a product is the product of the scales; a factor that is a single positive number
/// only changes the scale.
struct lower_quantized_arithmetic : pass {
    static constexpr std::string_view summary = "dq(a) + dq(b) = dq(a + b), and so on, in INT32";

    static auto rewrites() {
        return rules(
            on<aten::add_tensor> = [](auto a, auto b) { return at_one_scale<tosa::add>(a, b); },
            on<aten::sub_tensor> = [](auto a, auto b) { return at_one_scale<tosa::sub>(a, b); },
            on<aten::maximum> = [](auto a, auto b) { return at_one_scale<tosa::maximum>(a, b); },
            on<aten::minimum> = [](auto a, auto b) { return at_one_scale<tosa::minimum>(a, b); },
            on<aten::eq_tensor> = [](auto a, auto b) { return at_one_scale<tosa::equal>(a, b); },
            on<aten::gt_tensor> = [](auto a, auto b) { return at_one_scale<tosa::greater>(a, b); },
            on<aten::ge_tensor> = [](auto a, auto b) { return at_one_scale<tosa::greater_equal>(a, b); });
    }

    using targeted_ops = ops<aten::mul_tensor, aten::abs, aten::neg>;
    using produces =
        joined<fixed_point_ops, dequantize_ops, build::reshape_ops, ops<tosa::mul, tosa::abs, tosa::negate>>;

    std::optional<value> operator()(const args<aten::mul_tensor>& a, emit<produces> e) const {
        const auto operands = as_fixed_points(e, a.self, a.other);
        if (!operands) return std::nullopt;
        const auto& [x, y] = *operands;
        if (const auto scaled = times_number(e, x, y)) return scaled;
        if (const auto scaled = times_number(e, y, x)) return scaled;
        const double left = factor_scale(x, y);
        const double right = factor_scale(y, x);
        const value product = build::binary<tosa::mul>(e, at_scale(e, x, left), at_scale(e, y, right));
        const double scale = left * right;
        return dequantize(e, scaled_integers{product, scale, x.reach() * y.reach() / scale});
    }
    std::optional<value> operator()(const args<aten::abs>& a, emit<produces> e) const {
        auto x = as_scaled_integers(e, a.self);
        if (!x) return std::nullopt;
        x->integers = e.make<tosa::abs>(x->integers);
        return dequantize(e, *x);
    }
    std::optional<value> operator()(const args<aten::neg>& a, emit<produces> e) const {
        auto x = as_scaled_integers(e, a.self);
        if (!x) return std::nullopt;
        x->integers = build::negate(e, x->integers);
        return dequantize(e, *x);
    }

private:
    // Returns dq(op(a, b)), or the booleans of a comparison.
    template <class Op>
    static auto at_one_scale(const auto& a, const auto& b) {
        using made = joined<fixed_point_ops, dequantize_ops, build::binary_ops<Op>>;
        return code<made>(
            [](emit<made> e, value v, value w) -> std::optional<value> {
                const auto operands = as_fixed_points(e, v, w);
                if (!operands) return std::nullopt;
                const auto& [x, y] = *operands;
                const double scale = working_scale(e, {&x, &y});
                const value result = build::binary<Op>(e, at_scale(e, x, scale), at_scale(e, y, scale));
                if (e.dtype(result) == dtype::boolean) return result;
                return dequantize(e, scaled_integers{result, scale, (x.reach() + y.reach()) / scale});
            },
            a, b);
    }

    // Returns a scale at which a factor has at most 16 bits, so that a product has room: finer factors lose
    // their last bits. A constant has 27 bits less those of the other factor, but at least 15: its smallest
    // element may be far below its largest, and sums of such products have room, too.
    static double factor_scale(const fixed_point& x, const fixed_point& other) {
        if (x.read) return std::max(x.read->parameters.scale(), scale_in(x, 0x1p15));
        const double units = other.reach() / factor_scale(other, x);
        return scale_in(x, std::max(0x1p15, 0x1p27 / std::max(units, 1.0)));
    }
    static double scale_in(const fixed_point& x, double units) {
        return x.reach() == 0 ? 1 : x.reach() / units;
    }

    // Rescales without changing the integers, if the other factor is a single positive number.
    static std::optional<value> times_number(
        emit<joined<build::reshape_ops, dequantize_ops>> e, const fixed_point& x, const fixed_point& number) {
        if (!x.read || number.numbers.size() != 1 || !(number.numbers[0] > 0)) return std::nullopt;
        if (e.meta(x.read->integers).elements() != e.result_meta().elements()) return std::nullopt;
        dequantized product = *x.read;
        product.parameters.scales[0] *= number.numbers[0];
        product.integers = build::reshape(e, product.integers, e.result_meta().shape);
        return dequantize(e, product);
    }
};

}  // namespace headrace

#endif
