// SPDX-License-Identifier: MIT
// Defines headrace::joined_with_zero and headrace::bias_less_zero: products of INT16 with a zero point.
#ifndef HEADRACE_PASSES_QUANTIZE_INT16_ZERO_POINTS_HPP
#define HEADRACE_PASSES_QUANTIZE_INT16_ZERO_POINTS_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/constants.hpp>

/// CONV2D, MATMUL and similar operators subtract zero points for INT8 only (TOSA 1.0, 2.2). For INT16, whose
/// numbers minus a zero point need 17 bits, the products of the zero point become terms of their own, in the
/// 48-bit accumulators:
///
///     Σ (x - z)·w = Σ x·w - z·Σ w           if w is constant: z·Σ w is folded into the bias
///     Σ (x - z)·w = Σ x·w + Σ (-z)·w        otherwise: a sum of twice as many products
namespace headrace {

/// True if the tensor has a zero point that TOSA's products do not support.
[[nodiscard]] inline bool has_zero_of_its_own(const emitter& e, value v, std::int64_t zero) {
    return zero != 0 && e.dtype(v) == dtype::int16;
}

/// Returns INT16 numbers that add up to -zero.
[[nodiscard]] inline pmr_vector<std::int64_t> parts_of_negated(std::int64_t zero) {
    if (zero == 0) return {};
    if (zero == INT16_MIN) return {-(zero / 2), -(zero / 2)};  // 32768 does not fit in INT16
    return {-zero};
}

/// Joins the tensor along an axis with tensors of its shape whose elements add up to -zero.
inline value joined_with_zero(emit<ops<tosa::concat>> e, value v, std::int64_t zero, std::size_t axis) {
    pmr_vector<value> parts{v};
    for (const std::int64_t number : parts_of_negated(zero))
        parts.push_back(e.splat(number, e.dtype(v), sizes(e.shape(v))));
    if (parts.size() == 1) return v;
    return e.make<tosa::concat>({.input1 = list<value>(parts), .axis = static_cast<std::int64_t>(axis)});
}
/// Repeats the other factor once for each tensor that joined_with_zero joins.
inline value repeated_for_zero(emit<ops<tosa::concat>> e, value v, std::int64_t zero, std::size_t axis) {
    const pmr_vector<value> parts(1 + parts_of_negated(zero).size(), v);
    if (parts.size() == 1) return v;
    return e.make<tosa::concat>({.input1 = list<value>(parts), .axis = static_cast<std::int64_t>(axis)});
}

/// Returns a constant bias minus z·Σ(w - w0) for each output channel, the weight's first axis; nothing if one
/// of them is computed.
inline std::optional<value> bias_less_zero(
    emit<ops<>> e, value bias, value weight, std::int64_t weight_zero, std::int64_t zero) {
    const auto numbers = constant_integers(bias);
    const auto weights = constant_integers(weight);
    if (!numbers || !weights) return std::nullopt;
    const auto channels = static_cast<std::size_t>(e.shape(weight)[0]);
    const std::size_t terms = weights->size() / std::max<std::size_t>(channels, 1);
    const std::array count{static_cast<std::int64_t>(channels)};
    return e.constant_of(e.dtype(bias), count, [&](std::size_t channel) {
        std::int64_t sum = 0;
        for (std::size_t i = channel * terms; i != (channel + 1) * terms; ++i)
            sum += (*weights)[i] - weight_zero;
        return (*numbers)[numbers->size() == 1 ? 0 : channel] - zero * sum;
    });
}

/// Pads an image [N, C, …] as the convolution would, with its zero point, which represents 0.
inline value padded_with_zero(
    emit<ops<aten::constant_pad_nd>> e, value image, const int_list& padding, std::int64_t zero) {
    if (build::all_are(padding, 0)) return image;
    pmr_vector<std::int64_t> pad;  // last axis first
    for (std::size_t i = padding.size(); i-- != 0;) pad.insert(pad.end(), 2, padding[i]);
    return e.make<aten::constant_pad_nd>(image, int_list(pad), scalar(zero));
}

}  // namespace headrace

#endif
