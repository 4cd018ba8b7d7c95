// SPDX-License-Identifier: MIT
// Defines headrace::lower_quantized_arithmetic.
#ifndef HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_ARITHMETIC_HPP
#define HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_ARITHMETIC_HPP

#include <headrace/pass/op_map.hpp>
#include <headrace/passes/quantize/fixed_point.hpp>

namespace headrace {

/// Arithmetic of dequantized operands as arithmetic of their codes, in INT32: op(dq(a), dq(b)) = dq(op(a,
/// b)). Sums and comparisons take both operands to one fine scale; the scale of a product is the product of
/// scales, and a factor that is one positive number goes into the scale alone.
struct lower_quantized_arithmetic : pass {
    using sums = op_map<becomes<aten::add_tensor, tosa::add>, becomes<aten::sub_tensor, tosa::sub>,
                        becomes<aten::maximum, tosa::maximum>, becomes<aten::minimum, tosa::minimum>>;
    using comparisons = op_map<becomes<aten::eq_tensor, tosa::equal>, becomes<aten::gt_tensor, tosa::greater>,
                               becomes<aten::ge_tensor, tosa::greater_equal>>;
    using targets = joined<sums::keys, comparisons::keys, ops<aten::mul_tensor, aten::abs, aten::neg>>;
    using produces = joined<sums::values, comparisons::values, fixed_point_ops, dequantize_ops,
                            ops<tosa::mul, tosa::abs, tosa::negate>>;

    template <one_of<sums::keys> Op>
    std::optional<value> operator()(Op, const args<Op>& a, auto& e) const {
        const auto operands = as_fixed_points(e, a.self, a.other);
        if (!operands) return std::nullopt;
        const auto& [x, y] = *operands;
        const double scale = working_scale(e, {&x, &y});
        const value codes =
            build::binary<typename sums::template at<Op>>(e, at_scale(e, x, scale), at_scale(e, y, scale));
        return from_scale(e, codes, scale, (x.reach() + y.reach()) / scale);
    }

    template <one_of<comparisons::keys> Op>
    std::optional<value> operator()(Op, const args<Op>& a, auto& e) const {
        const auto operands = as_fixed_points(e, a.self, a.other);
        if (!operands) return std::nullopt;
        const auto& [x, y] = *operands;
        const double scale = working_scale(e, {&x, &y});
        return build::binary<typename comparisons::template at<Op>>(e, at_scale(e, x, scale),
                                                                    at_scale(e, y, scale));
    }

    std::optional<value> operator()(const args<aten::mul_tensor>& a, auto& e) const {
        const auto operands = as_fixed_points(e, a.self, a.other);
        if (!operands) return std::nullopt;
        const auto& [x, y] = *operands;
        if (const auto scaled = with_factor(e, x, y)) return scaled;
        if (const auto scaled = with_factor(e, y, x)) return scaled;
        const factor left = as_factor(e, x);
        const factor right = as_factor(e, y);
        const double scale = left.scale * right.scale;
        return from_scale(e, build::binary<tosa::mul>(e, left.codes, right.codes), scale,
                          x.reach() * y.reach() / scale);
    }

    std::optional<value> operator()(const args<aten::abs>& a, auto& e) const {
        const auto x = as_fixed_point(e, a.self);
        if (!x || !x->read) return std::nullopt;
        const double scale = x->read->parameters.scale();
        return from_scale(e, e.template make<tosa::abs>(at_scale(e, *x, scale)), scale, x->reach() / scale);
    }
    std::optional<value> operator()(const args<aten::neg>& a, auto& e) const {
        const auto x = as_fixed_point(e, a.self);
        if (!x || !x->read) return std::nullopt;
        const double scale = x->read->parameters.scale();
        return from_scale(e, build::negate(e, at_scale(e, *x, scale)), scale, x->reach() / scale);
    }

private:
    struct factor {
        value codes;
        double scale;
    };

    // Codes of at most 16 bits, so that a product has room: finer ones lose their last bits.
    template <class E>
    static factor as_factor(E& e, const fixed_point& x) {
        constexpr double room = 32768;
        double scale = x.reach() == 0 ? 1 : x.reach() / room;
        if (x.read) scale = std::max(x.read->parameters.scale(), scale);
        return {at_scale(e, x, scale), scale};
    }

    // The same codes at another scale.
    template <class E>
    static std::optional<value> with_factor(E& e, const fixed_point& x, const fixed_point& number) {
        if (!x.read || number.numbers.size() != 1 || !(number.numbers[0] > 0)) return std::nullopt;
        if (e.meta(x.read->codes).elements() != e.result_meta().elements()) return std::nullopt;
        dequantized scaled = *x.read;
        scaled.parameters.scales[0] *= number.numbers[0];
        scaled.codes = build::reshape(e, scaled.codes, e.result_meta().shape);
        return dequantize(e, scaled);
    }
};

}  // namespace headrace

#endif
