// SPDX-License-Identifier: MIT
// Defines headrace::lower_quantized_products.
#ifndef HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_PRODUCTS_HPP
#define HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_PRODUCTS_HPP

#include <algorithm>
#include <array>
#include <cmath>

#include <headrace/passes/quantize/bias_scales.hpp>
#include <headrace/passes/quantize/fixed_point.hpp>
#include <headrace/passes/quantize/wide_products.hpp>
#include <headrace/passes/support/convolution.hpp>

namespace headrace {

/// conv(dq(x), dq(w)) = dq(conv(x, w)), and likewise for linear and bmm, with accumulators of 32 bits, or 48
/// for INT16. Their scale is the input's times the weight's, per channel if the weight's is. The bias is
/// brought to the same scale, and the weight to scales at which a constant bias fits.
struct lower_quantized_products : pass {
    static constexpr std::string_view summary = "conv(dq(x), dq(w)) = dq(conv(x, w)); linear, bmm";

    static auto rewrites() {
        return rules(on<aten::convolution> = code<convolved>(), on<aten::linear> = code<linear>(),
            on<aten::bmm> = code<multiplied>());
    }

private:
    using operand_ops = joined<reading_ops, build::saturating_rescale_ops>;
    using made = joined<build::convolution_ops, operand_ops, dequantize_channels_ops, wide_product_ops,
        ops<tosa::matmul, tosa::concat>>;

    static std::optional<value> convolved(emit<made> e, const args<aten::convolution>& a) {
        auto o = read(e, {a.input, a.weight, a.bias}, a.transposed ? 1 : 0);
        if (!o) return std::nullopt;
        args<aten::convolution> of_integers = a;
        if (has_zero_of_its_own(e, o->input, o->input_zero)) {
            if (!a.transposed) {
                o->input = padded_with_zero(e, o->input, a.padding, o->input_zero);
                of_integers.padding = int_list(shape_builder::filled(a.padding.size(), 0));
            }
            if (!o->take_zero(e, 1, a.transposed ? 0 : 1, a.groups == 1, a.transposed)) return refused(e);
        }
        of_integers.input = o->input;
        of_integers.weight = o->weight;
        of_integers.bias = o->bias;
        const int_list result = e.result_meta().shape;
        const value accumulated =
            build::convolution(e, of_integers, o->input_zero, o->weight_zero).channels_last(result);
        return build::channels_first(e, o->dequantize_accumulated(e, accumulated), result);
    }

    static std::optional<value> linear(emit<made> e, const args<aten::linear>& a) {
        if (e.rank(a.weight) != 2) return std::nullopt;
        auto o = read(e, a, 0);
        if (!o) return std::nullopt;
        if (has_zero_of_its_own(e, o->input, o->input_zero) &&
            !o->take_zero(e, e.rank(o->input) - 1, 1, true, false))
            return refused(e);
        const value accumulated =
            build::linear(e, {o->input, o->weight, {}}, o->bias, o->input_zero, o->weight_zero);
        return build::reshape(e, o->dequantize_accumulated(e, accumulated), e.result_meta().shape);
    }

    static std::optional<value> multiplied(emit<made> e, value a, value b) {
        const auto left = as_short_integers_per_tensor(e, a);
        if (const auto wide = wide_product::made(e, a, b, left)) return wide;
        if (!left) return std::nullopt;
        const auto right = as_short_integers(e, b);
        const dtype type = e.dtype(left->integers);
        if (!right || e.dtype(right->integers) != type || right->parameters.axis.value_or(2) != 2)
            return std::nullopt;
        auto zero = weight_zero(e, right->parameters);
        if (!zero) return value{};
        std::int64_t left_zero = left->parameters.zero_point();
        value x = left->integers, y = right->integers;
        if (type == dtype::int16) {
            x = joined_with_zero(e, x, left_zero, 2);
            y = repeated_for_zero(e, y, left_zero, 1);
            x = repeated_for_zero(e, x, *zero, 2);
            y = joined_with_zero(e, y, *zero, 1);
            left_zero = *zero = 0;
        }
        const value accumulated = e.make<tosa::matmul>({.a = x,
            .b = y,
            .a_zp = build::zero_point(e, type, left_zero),
            .b_zp = build::zero_point(e, type, *zero),
            .output_type = build::accumulator_of(type)});
        const auto terms = static_cast<double>(e.shape(a)[2]);
        const auto reach = left->parameters.reach() * right->parameters.reach() * terms;
        return dequantize_channels(e, {accumulated, products_of(left->parameters, right->parameters, reach)});
    }

    // A target with floats computes the op in floats.
    static std::optional<value> refused(emit<ops<>> e) {
        if (e.target().has(target_feature::profile_fp)) return std::nullopt;
        return e.unsupported(
            "an int16 input with a zero point, and groups of computed or transposed weights: TOSA has no "
            "such convolution; quantize the input symmetrically");
    }

    static std::optional<std::int64_t> weight_zero(emit<ops<>> e, const quantization& weight) {
        const auto zero = weight.common_zero_point();
        if (!zero)
            e.unsupported(
                "zero points of a weight that differ between channels; TOSA has one for all of them");
        return zero;
    }

    // Returns the quantization of accumulated products, which have zero point 0.
    static quantization products_of(const quantization& input, quantization weight, double reach) {
        for (double& s : weight.scales) s *= input.scale();
        weight.zero_points.assign(weight.zero_points.size(), 0);
        // An unknown reach is NaN, and fmin returns the other number.
        weight.highest = static_cast<std::int64_t>(std::fmin(reach, 2147483647.0));
        weight.lowest = -weight.highest;
        return weight;
    }

    struct operands {
        value input, weight, bias;
        std::int64_t input_zero, weight_zero;
        quantization products;  // of the accumulators: one scale, or one for each output channel

        // Folds the zero point of INT16 into the bias or, if there is one group, into additional products.
        bool take_zero(emit<ops<tosa::concat>> e, std::size_t input_axis, std::size_t weight_axis,
            bool is_one_group, bool is_transposed) {
            const std::int64_t zero = std::exchange(input_zero, 0);
            const auto less =
                is_transposed ? std::nullopt : bias_less_zero(e, bias, weight, weight_zero, zero);
            if (less) bias = *less;
            if (less || !is_one_group) return less.has_value();
            input = joined_with_zero(e, input, zero, input_axis);
            weight = repeated_for_zero(e, weight, zero, weight_axis);
            return true;
        }

        // Channels are the last axis of the accumulated tensor.
        value dequantize_accumulated(emit<dequantize_channels_ops> e, value v) const {
            dequantized result{v, products};
            if (result.parameters.axis) result.parameters.axis = std::max<std::size_t>(e.rank(v), 1) - 1;
            return dequantize_channels(e, result);
        }
    };

    // Returns nothing if an operand is not quantized. The weight's output channels are on `channel_axis`.
    static std::optional<operands> read(
        emit<operand_ops> e, const args<aten::linear>& a, std::size_t channel_axis) {
        const auto x = as_short_integers_per_tensor(e, a.input);
        if (!x) return std::nullopt;
        auto w = as_short_integers(e, a.weight);
        if (!w || e.dtype(w->integers) != dtype::int8) return std::nullopt;
        if (w->parameters.axis.value_or(channel_axis) != channel_axis)
            w = with_scales_along(e, *w, channel_axis);
        if (!w) return std::nullopt;
        const auto zero = weight_zero(e, w->parameters);
        if (!zero) return std::nullopt;
        const std::int64_t channels = e.shape(a.weight)[channel_axis];
        const double reach = x->parameters.reach() * w->parameters.reach() *
            static_cast<double>(e.meta(a.weight).elements()) / static_cast<double>(channels);
        quantization products = products_of(x->parameters, w->parameters, 2 * reach);
        const dtype type = build::accumulator_of(e.dtype(x->integers));
        const double most = largest_of(type) - std::min(reach, largest_of(type) / 2);
        std::optional<bias_term> bias;
        if (a.bias) {
            bias = bias_at(e, *a.bias, products, type, most);
            if (!bias) return std::nullopt;
        }
        if (bias && bias->numbers) {
            const auto scaled = with_scales_for_bias(e, *w, channel_axis, x->parameters.scale(),
                *bias->numbers, {most, finest_step_of_readers(e.current())});
            if (!scaled) return std::nullopt;
            if (scaled->units != 0) {
                w = scaled->weight;
                products = products_of(x->parameters, w->parameters, 2 * reach + scaled->units);
            }
            bias->integers = constant_bias(e, *bias->numbers, products, type);
        }
        const value added = bias ? bias->integers : e.splat(0, type, std::array{channels});
        const std::int64_t input_zero = x->parameters.zero_point();
        return operands{x->integers, w->integers, added, input_zero, *zero, std::move(products)};
    }

    // Converts a weight whose scales are along another axis, as in transposed convolutions: such products
    // cannot be added up. It becomes per-tensor if it has only one scale, and is requantized if it is
    // constant.
    static std::optional<dequantized> with_scales_along(
        emit<ops<>> e, const dequantized& w, std::size_t axis) {
        constexpr std::int64_t max = 127;
        const quantization& q = w.parameters;
        if (q.scales.size() == 1)
            return dequantized{
                w.integers, quantization::per_tensor(q.scale(), q.zero_point(), q.lowest, q.highest)};
        const auto integers = constant_integers(w.integers);
        if (!integers) return std::nullopt;
        const int_list shape = e.shape(w.integers);
        const auto index_on = [&](std::size_t element, std::size_t of_axis) {
            const auto inner = static_cast<std::size_t>(element_count(sizes(shape).subspan(of_axis + 1)));
            return element / inner % static_cast<std::size_t>(shape[of_axis]);
        };
        const auto real = [&](std::size_t i) { return q.real((*integers)[i], index_on(i, *q.axis)); };
        const auto channels = static_cast<std::size_t>(shape[axis]);
        pmr_vector<double> scales(channels, 0);
        for (std::size_t i = 0; i != integers->size(); ++i) {
            double& scale = scales[index_on(i, axis)];
            scale = std::max(scale, std::abs(real(i)) / static_cast<double>(max));
        }
        std::ranges::replace(scales, 0.0, 1.0);
        const value requantized = e.constant_of(dtype::int8, shape,
            [&](std::size_t i) { return std::nearbyint(real(i) / scales[index_on(i, axis)]); });
        return dequantized{
            requantized, {std::move(scales), pmr_vector<std::int64_t>(channels, 0), axis, -max, max}};
    }

    // A bias as integers of the accumulators' dtype, or as the numbers of a constant that has another scale.
    struct bias_term {
        value integers{};
        std::optional<pmr_vector<double>> numbers{};
    };

    // Returns a bias that has the scale of the products already, or is brought to it, or is constant. Nothing
    // if it is neither quantized nor constant. Beside integers above `most`, sums of products would wrap.
    static std::optional<bias_term> bias_at(
        emit<operand_ops> e, value bias, const quantization& products, dtype type, double most) {
        const auto b = as_dequantized(e, bias);
        if (b && e.dtype(b->integers) == type && has_scale_of(b->parameters, products) &&
            !has_more_than(b->integers, most))
            return bias_term{b->integers};
        if (auto numbers = b ? constant_reals_of(*b) : constant_reals(bias))
            return bias_term{.numbers = std::move(numbers)};
        if (!b || !b->parameters.is_per_tensor() || type != dtype::int32) return std::nullopt;
        const quantization& q = b->parameters;
        pmr_vector<double> factors;
        for (const double s : products.scales) factors.push_back(q.scale() / s);
        return bias_term{
            build::saturating_rescale(e, b->integers, factors, q.reach(), {.input_zero = q.zero_point()})};
    }

    // True for a constant with an element above that magnitude.
    static bool has_more_than(value integers, double most) {
        const auto numbers = constant_integers(integers);
        return numbers && std::ranges::any_of(*numbers, [&](std::int64_t n) {
            return std::abs(static_cast<double>(n)) > most;
        });
    }

    // Returns the real numbers of a dequantized constant with one axis.
    static std::optional<pmr_vector<double>> constant_reals_of(const dequantized& d) {
        const auto integers = constant_integers(d.integers);
        if (!integers) return std::nullopt;
        pmr_vector<double> numbers;
        for (std::size_t i = 0; i != integers->size(); ++i)
            numbers.push_back(d.parameters.real((*integers)[i], d.parameters.axis ? i : 0));
        return numbers;
    }

    static bool has_scale_of(const quantization& q, const quantization& products) {
        constexpr double tolerance = 1e-5;
        return q.common_zero_point() == 0 &&
            std::ranges::equal(q.scales, products.scales,
                [](double a, double b) { return !(std::abs(a / b - 1) > tolerance); });
    }

    // Returns the largest integer of an accumulator.
    static double largest_of(dtype type) { return type == dtype::int32 ? 2147483647.0 : 140737488355327.0; }

    static value constant_bias(
        emit<ops<>> e, const pmr_vector<double>& numbers, const quantization& products, dtype type) {
        const double max = largest_of(type);
        const std::array count{static_cast<std::int64_t>(numbers.size())};
        return e.constant_of(type, count, [&](std::size_t i) {
            const double scale = products.scales[products.axis ? i : 0];
            return std::clamp(std::nearbyint(numbers[i] / scale), -max, max);
        });
    }
};

}  // namespace headrace

#endif
