// SPDX-License-Identifier: MIT
// Defines headrace::lower_quantized_products.
#ifndef HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_PRODUCTS_HPP
#define HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_PRODUCTS_HPP

#include <memory_resource>
#include <vector>

#include <headrace/passes/quantize/dequantized.hpp>
#include <headrace/passes/support/convolution.hpp>

namespace headrace {

/// Convolutions and matrix products of dequantized operands as those of their codes, with accumulators of 32
/// bits, or 48 for codes of 16: the scale of what comes out is the input's times the weight's, per channel
/// where that is. The bias is taken to the same scale.
struct lower_quantized_products : pass {
    using targets = ops<aten::convolution, aten::linear, aten::bmm>;
    using produces = joined<build::convolution_ops, requantize_ops, dequantize_ops, ops<tosa::matmul>>;

    std::optional<value> operator()(const args<aten::convolution>& a, auto& e) const {
        const std::size_t channel_axis = a.transposed ? 1 : 0;
        const auto operands = read(e, a.input, a.weight, a.bias, channel_axis);
        if (!operands) return std::nullopt;
        args<aten::convolution> of_codes = a;
        of_codes.input = operands->input;
        of_codes.weight = operands->weight;
        of_codes.bias = operands->bias;
        const int_list result = e.result_meta().shape;
        const value accumulated = build::convolution(e, of_codes, operands->input_zero, operands->weight_zero)
                                      .channels_last(result);
        return build::channels_first(e, dequantize(e, operands->accumulators(e, accumulated)), result);
    }

    std::optional<value> operator()(const args<aten::linear>& a, auto& e) const {
        if (e.rank(a.weight) != 2) return std::nullopt;
        const auto operands = read(e, a.input, a.weight, a.bias, 0);
        if (!operands) return std::nullopt;
        const value accumulated = build::linear(e, {operands->input, operands->weight, {}}, operands->bias,
                                                operands->input_zero, operands->weight_zero);
        return build::reshape(e, dequantize(e, operands->accumulators(e, accumulated)),
                              e.result_meta().shape);
    }

    std::optional<value> operator()(const args<aten::bmm>& a, auto& e) const {
        auto left = as_dequantized(e, a.self);
        if (!left || !left->parameters.is_per_tensor() || !is_short(e.dtype(left->codes)))
            return std::nullopt;
        auto right = as_dequantized(e, a.mat2);
        if (!right || e.dtype(right->codes) != e.dtype(left->codes)) return std::nullopt;
        quantization& scaled = right->parameters;
        if (scaled.axis && *scaled.axis != 2) return std::nullopt;
        const auto zero = one_zero_point(scaled);
        if (!zero) return e.unsupported(differing_zero_points);
        const dtype type = e.dtype(left->codes);
        const value accumulated =
            e.template make<tosa::matmul>({.a = left->codes,
                                           .b = right->codes,
                                           .a_zp = build::zero_point(e, type, left->parameters.zero_point()),
                                           .b_zp = build::zero_point(e, type, *zero),
                                           .output_type = build::accumulator_of(type)});
        const double reach =
            left->parameters.reach() * scaled.reach() * static_cast<double>(e.shape(a.self)[2]);
        for (double& s : scaled.scales) s *= left->parameters.scale();
        return dequantize(e, {accumulated, accumulator_of(std::move(scaled), reach)});
    }

private:
    static constexpr const char* differing_zero_points =
        "zero points of a weight that differ between channels; TOSA has one for all of them";

    static bool is_short(dtype type) { return type == dtype::int8 || type == dtype::int16; }

    static std::optional<std::int64_t> one_zero_point(const quantization& q) {
        for (const std::int64_t z : q.zero_points) {
            if (z != q.zero_points.front()) return std::nullopt;
        }
        return q.zero_points.front();
    }

    // The quantization of accumulators: that of products, with zero point 0.
    static quantization accumulator_of(quantization q, double reach) {
        q.zero_points.assign(q.zero_points.size(), 0);
        q.highest = static_cast<std::int64_t>(std::min(reach, 2147483647.0));
        q.lowest = -q.highest;
        return q;
    }

    struct codes {
        value input, weight, bias;
        std::int64_t input_zero, weight_zero;
        quantization products;  // of the accumulators, one scale or one for each output channel

        // Channels are the last axis.
        template <class E>
        [[nodiscard]] dequantized accumulators(E& e, value v) const {
            dequantized result{v, products};
            if (result.parameters.axis) result.parameters.axis = std::max<std::size_t>(e.rank(v), 1) - 1;
            return result;
        }
    };

    template <class E>
    static std::optional<codes> read(E& e, value input, value weight, const std::optional<value>& bias,
                                     std::size_t channel_axis) {
        const auto x = as_dequantized(e, input);
        if (!x || !x->parameters.is_per_tensor() || !is_short(e.dtype(x->codes))) return std::nullopt;
        auto w = as_dequantized(e, weight);
        if (!w || e.dtype(w->codes) != dtype::int8) return std::nullopt;
        if (w->parameters.axis && *w->parameters.axis != channel_axis) w = along(e, *w, channel_axis);
        if (!w) return std::nullopt;
        quantization& products = w->parameters;
        const auto weight_zero = one_zero_point(products);
        if (!weight_zero) {
            e.unsupported(differing_zero_points);
            return std::nullopt;
        }
        const std::int64_t channels = e.shape(weight)[channel_axis];
        const double reach = x->parameters.reach() * products.reach() *
                             static_cast<double>(e.meta(weight).elements()) / static_cast<double>(channels);
        for (double& s : products.scales) s *= x->parameters.scale();
        const auto offset = bias_codes(e, bias, products, channels, build::accumulator_of(e.dtype(x->codes)));
        if (!offset) return std::nullopt;
        return codes{x->codes,     w->codes,
                     *offset,      x->parameters.zero_point(),
                     *weight_zero, accumulator_of(products, 2 * reach)};
    }

    // A weight with scales along another axis than the output channels', as transposed convolutions may have
    // it, whose products cannot be added up: one scale if that is the same throughout, else, for constants,
    // new codes.
    template <class E>
    static std::optional<dequantized> along(E& e, const dequantized& w, std::size_t axis) {
        const quantization& q = w.parameters;
        if (q.scales.size() == 1)
            return dequantized{w.codes,
                               quantization::per_tensor(q.scale(), q.zero_point(), q.lowest, q.highest)};
        const auto integers = constant_integers(w.codes);
        if (!integers) return std::nullopt;
        constexpr std::int64_t most = 127;
        const int_list shape = e.shape(w.codes);
        const auto index_on = [&](std::size_t element, std::size_t of_axis) {
            const auto inner = element_count(sizes(shape).subspan(of_axis + 1));
            return element / static_cast<std::size_t>(inner) % static_cast<std::size_t>(shape[of_axis]);
        };
        const auto real = [&](std::size_t i) {
            const std::size_t c = index_on(i, *q.axis);
            return static_cast<double>((*integers)[i] - q.zero_points[c]) * q.scales[c];
        };
        const auto channels = static_cast<std::size_t>(shape[axis]);
        std::pmr::vector<double> scales(channels, 0);
        for (std::size_t i = 0; i != integers->size(); ++i) {
            double& scale = scales[index_on(i, axis)];
            scale = std::max(scale, std::abs(real(i)) / static_cast<double>(most));
        }
        for (double& scale : scales) scale = scale == 0 ? 1 : scale;
        const value codes = e.constant({dtype::int8, shape, {}}, [&](std::span<std::byte> data) {
            for (std::size_t i = 0; i != integers->size(); ++i) {
                const double code = std::nearbyint(real(i) / scales[index_on(i, axis)]);
                data[i] = static_cast<std::byte>(static_cast<std::int8_t>(code));
            }
        });
        return dequantized{
            codes, {std::move(scales), std::pmr::vector<std::int64_t>(channels, 0), axis, -most, most}};
    }

    // A bias as codes of the accumulators' type. It is stored with the scale of the products; one that is not
    // is taken to it. Nothing if it is neither quantized nor constant.
    template <class E>
    static std::optional<value> bias_codes(E& e, const std::optional<value>& bias,
                                           const quantization& products, std::int64_t channels, dtype type) {
        if (!bias) return e.splat(0, type, std::array{channels});
        const auto b = as_dequantized(e, *bias);
        if (!b) {
            const auto numbers = constant_reals(*bias);
            return numbers ? std::optional(constant_codes(e, *numbers, products, type)) : std::nullopt;
        }
        const quantization& q = b->parameters;
        if (e.dtype(b->codes) == type && has_scale_of(q, products)) return b->codes;
        if (const auto integers = constant_integers(b->codes)) {
            std::pmr::vector<double> numbers;
            for (std::size_t i = 0; i != integers->size(); ++i) {
                const std::size_t c = q.axis ? i : 0;
                numbers.push_back(static_cast<double>((*integers)[i] - q.zero_points[c]) * q.scales[c]);
            }
            return constant_codes(e, numbers, products, type);
        }
        if (!q.is_per_tensor() || type != dtype::int32) return std::nullopt;
        std::pmr::vector<double> factors;
        for (const double s : products.scales) factors.push_back(q.scale() / s);
        return build::rescale(e, b->codes, factors, {.input_zero = q.zero_point(), .reach = q.reach()});
    }

    static bool has_scale_of(const quantization& q, const quantization& products) {
        constexpr double tolerance = 1e-5;
        if (q.scales.size() != products.scales.size()) return false;
        for (std::size_t i = 0; i != q.scales.size(); ++i) {
            if (q.zero_points[i] != 0 || std::abs(q.scales[i] / products.scales[i] - 1) > tolerance)
                return false;
        }
        return true;
    }

    template <class E>
    static value constant_codes(E& e, const std::pmr::vector<double>& numbers, const quantization& products,
                                dtype type) {
        const double most = type == dtype::int32 ? 2147483647.0 : 140737488355327.0;
        const auto count = static_cast<std::int64_t>(numbers.size());
        return e.constant({type, {count}, {}}, [&](std::span<std::byte> data) {
            const std::size_t width = traits_of(type).bits / 8U;
            for (std::size_t i = 0; i != numbers.size(); ++i) {
                const double scale = products.scales[products.axis ? i : 0];
                const auto code =
                    static_cast<std::int64_t>(std::clamp(std::nearbyint(numbers[i] / scale), -most, most));
                std::memcpy(&data[i * width], &code, width);
            }
        });
    }
};

}  // namespace headrace

#endif
