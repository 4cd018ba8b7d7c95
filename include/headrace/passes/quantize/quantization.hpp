// SPDX-License-Identifier: MIT
// Defines headrace::quantization, how integers stand for real numbers, and what reads it off a graph.
#ifndef HEADRACE_PASSES_QUANTIZE_QUANTIZATION_HPP
#define HEADRACE_PASSES_QUANTIZE_QUANTIZATION_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <optional>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

/// The integers, or codes, that stand for real numbers: real = (code - zero_point) * scale. One scale for
/// the tensor, or one for each index of an axis.
struct quantization {
    std::pmr::vector<double> scales;
    std::pmr::vector<std::int64_t> zero_points;  ///< as many as there are scales
    std::optional<std::size_t> axis;             ///< nothing: per tensor
    std::int64_t lowest = 0;                     ///< codes lie between these
    std::int64_t highest = 0;

    [[nodiscard]] static quantization per_tensor(double scale, std::int64_t zero_point, std::int64_t lowest,
                                                 std::int64_t highest) {
        return {{scale}, {zero_point}, std::nullopt, lowest, highest};
    }

    [[nodiscard]] bool is_per_tensor() const { return !axis; }
    [[nodiscard]] double scale() const { return scales.front(); }
    [[nodiscard]] std::int64_t zero_point() const { return zero_points.front(); }
    /// The largest distance of a code from its zero point.
    [[nodiscard]] double reach() const {
        const auto [least, most] = std::minmax_element(zero_points.begin(), zero_points.end());
        return static_cast<double>(std::max(highest - *least, *most - lowest));
    }
    /// What quantizing multiplies by: PyTorch rounds it to a float, which decides numbers half-way between
    /// two codes.
    [[nodiscard]] float inverse_scale() const { return static_cast<float>(1.0 / scale()); }
    /// The code of a real number, as quantize_per_tensor makes it: a float multiplied by the inverse scale,
    /// rounded half to even, clamped.
    [[nodiscard]] std::int64_t code_of(double real) const {
        const float code =
            std::nearbyint(static_cast<float>(real) * inverse_scale()) + static_cast<float>(zero_point());
        if (std::isnan(code)) return 0;
        return static_cast<std::int64_t>(
            std::clamp(static_cast<double>(code), static_cast<double>(lowest), static_cast<double>(highest)));
    }

    friend bool operator==(const quantization&, const quantization&) = default;
};

/// A value of real numbers, given by its codes.
struct dequantized {
    value codes;
    quantization parameters;
};

/// The range of an integral type, as far as 64 bits go.
[[nodiscard]] inline std::pair<std::int64_t, std::int64_t> range_of(dtype type) {
    const int bits = traits_of(type).bits;
    if (type == dtype::uint8) return {0, 255};
    const std::int64_t highest = (std::int64_t{1} << (std::min(bits, 63) - 1)) - 1;
    return {-highest - 1, highest};
}

/// Reads `dequantize_per_tensor`, and `dequantize_per_channel` with constant parameters. Nothing for other
/// values.
[[nodiscard]] inline std::optional<dequantized> match_dequantize(value v) {
    using namespace quantized_decomposed;
    if (const auto* a = match<dequantize_per_tensor>(v)) {
        return dequantized{a->input,
                           quantization::per_tensor(a->scale, a->zero_point, a->quant_min, a->quant_max)};
    }
    if (const auto* a = match<dequantize_per_channel>(v)) {
        const tensor_meta* meta = meta_of(a->input);
        auto scales = constant_reals(a->scales);
        if (!scales || meta == nullptr) return std::nullopt;
        const auto axis = normalized_axis(a->axis, meta->rank());
        if (!axis || *axis >= meta->rank()) return std::nullopt;
        const auto channels = static_cast<std::size_t>(meta->shape[*axis]);
        std::pmr::vector<std::int64_t> zeros(channels, 0);
        if (a->zero_points) {
            const auto given = constant_integers(*a->zero_points);
            if (!given) return std::nullopt;
            zeros = *given;
        }
        if (scales->size() != channels || zeros.size() != channels) return std::nullopt;
        return dequantized{a->input,
                           {std::move(*scales), std::move(zeros), *axis, a->quant_min, a->quant_max}};
    }
    return std::nullopt;
}

}  // namespace headrace

#endif
