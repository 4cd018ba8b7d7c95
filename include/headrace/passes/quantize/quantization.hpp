// SPDX-License-Identifier: MIT
// Defines headrace::quantization, which relates integers to real numbers, and readers of it from a graph.
#ifndef HEADRACE_PASSES_QUANTIZE_QUANTIZATION_HPP
#define HEADRACE_PASSES_QUANTIZE_QUANTIZATION_HPP

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

/// The relation of integers to real numbers: real = (integer - zero_point) * scale, with one scale for the
/// tensor, or one for each index of an axis. The integers are called quantized values.
struct quantization {
    pmr_vector<double> scales;
    pmr_vector<std::int64_t> zero_points;  ///< as many as there are scales
    std::optional<std::size_t> axis;       ///< nothing: per tensor
    std::int64_t lowest = 0;               ///< lower bound of quantized values
    std::int64_t highest = 0;

    [[nodiscard]] static quantization per_tensor(
        double scale, std::int64_t zero_point, std::int64_t lowest, std::int64_t highest) {
        return {{scale}, {zero_point}, std::nullopt, lowest, highest};
    }
    /// Returns a quantization with zero point 0, for quantized values of at most that magnitude.
    [[nodiscard]] static quantization symmetric(double scale, std::int64_t reach) {
        return per_tensor(scale, 0, -reach, reach);
    }

    [[nodiscard]] bool is_per_tensor() const { return !axis; }
    [[nodiscard]] double scale() const { return scales.front(); }
    [[nodiscard]] std::int64_t zero_point() const { return zero_points.front(); }
    /// Returns the zero point, if it is equal for all channels.
    [[nodiscard]] std::optional<std::int64_t> common_zero_point() const {
        const bool is_common =
            std::ranges::all_of(zero_points, [&](std::int64_t z) { return z == zero_point(); });
        return is_common ? std::optional(zero_point()) : std::nullopt;
    }
    /// Returns the largest distance of a quantized value from its zero point.
    [[nodiscard]] double reach() const {
        const auto [min, max] = std::ranges::minmax_element(zero_points);
        return std::max(static_cast<double>(highest) - static_cast<double>(*min),
            static_cast<double>(*max) - static_cast<double>(lowest));
    }
    /// Returns the factor that quantizing multiplies by. PyTorch rounds it to a float, which determines the
    /// result for numbers half-way between two quantized values.
    [[nodiscard]] float inverse_scale() const { return static_cast<float>(1.0 / scale()); }
    /// Quantizes a real number as quantize_per_tensor does: multiplied by the inverse scale in float32,
    /// rounded half to even, and clamped.
    [[nodiscard]] std::int64_t quantized(double real) const {
        const float rounded =
            std::nearbyint(static_cast<float>(real) * inverse_scale()) + static_cast<float>(zero_point());
        if (std::isnan(rounded)) return 0;
        return static_cast<std::int64_t>(std::clamp(
            static_cast<double>(rounded), static_cast<double>(lowest), static_cast<double>(highest)));
    }
    /// Returns the quantized value nearest to a real number, in exact arithmetic; nothing for NaN.
    [[nodiscard]] std::optional<std::int64_t> nearest(double real) const {
        const double x = position(real);
        if (std::isnan(x)) return std::nullopt;
        if (x <= static_cast<double>(lowest)) return lowest;
        if (x >= static_cast<double>(highest)) return highest;
        return static_cast<std::int64_t>(std::nearbyint(x));
    }
    /// Returns the quantized value of a real number that is on the grid of quantized ones; infinities are its
    /// ends. Nothing for other numbers.
    [[nodiscard]] std::optional<std::int64_t> exact(double real) const {
        constexpr double tolerance = 1e-4;
        const auto found = nearest(real);
        if (std::isinf(real)) return found;
        const bool on_grid = found && std::abs(position(real) - static_cast<double>(*found)) < tolerance;
        return on_grid ? found : std::nullopt;
    }
    /// Like exact, but for a bound: beyond the ends of the grid it is an end.
    [[nodiscard]] std::optional<std::int64_t> exact_bound(double real) const {
        const double x = position(real);
        const bool is_beyond = x < static_cast<double>(lowest) || x > static_cast<double>(highest);
        return is_beyond ? nearest(real) : exact(real);
    }
    /// Returns the real number that a quantized value of a channel represents.
    [[nodiscard]] double real(std::int64_t integer, std::size_t channel) const {
        return (static_cast<double>(integer) - static_cast<double>(zero_points[channel])) * scales[channel];
    }

    friend bool operator==(const quantization&, const quantization&) = default;

private:
    [[nodiscard]] double position(double real) const {
        return real / scale() + static_cast<double>(zero_point());
    }
};

/// A value of real numbers, represented by its quantized values.
struct dequantized {
    value integers;
    quantization parameters;
};

/// Returns the range of an integral dtype, limited to 64 bits.
[[nodiscard]] inline std::pair<std::int64_t, std::int64_t> range_of(dtype type) {
    const int bits = traits_of(type).bits;
    if (type == dtype::uint8) return {0, 255};
    const std::int64_t highest = (std::int64_t{1} << (std::min(bits, 63) - 1)) - 1;
    return {-highest - 1, highest};
}

/// Returns the parameters of a `quantize_per_tensor` or a `dequantize_per_tensor`.
template <class Args>
[[nodiscard]] quantization quantization_of(const Args& a) {
    return quantization::per_tensor(a.scale, a.zero_point, a.quant_min, a.quant_max);
}
[[nodiscard]] inline args<quantized_decomposed::quantize_per_tensor> quantize_args(
    value reals, const quantization& q, dtype type) {
    return {reals, q.scale(), q.zero_point(), q.lowest, q.highest, type};
}
[[nodiscard]] inline args<quantized_decomposed::dequantize_per_tensor> dequantize_args(
    value integers, const quantization& q, dtype type) {
    return {integers, q.scale(), q.zero_point(), q.lowest, q.highest, type};
}

/// Matches `dequantize_per_tensor`, and `dequantize_per_channel` with constant parameters. Nothing for other
/// values.
[[nodiscard]] inline std::optional<dequantized> match_dequantize(value v) {
    if (const auto* a = match<quantized_decomposed::dequantize_per_tensor>(v))
        return dequantized{a->input, quantization_of(*a)};
    const auto* a = match<quantized_decomposed::dequantize_per_channel>(v);
    if (a == nullptr || meta_of(a->input) == nullptr) return std::nullopt;
    const tensor_meta& meta = *meta_of(a->input);
    const auto axis = normalized_axis(a->axis, meta.rank());
    if (!axis || *axis >= meta.rank()) return std::nullopt;
    const auto channels = static_cast<std::size_t>(meta.shape[*axis]);
    auto scales = constant_reals(a->scales);
    auto zeros = a->zero_points ? constant_integers(*a->zero_points)
                                : std::optional(pmr_vector<std::int64_t>(channels, 0));
    if (!scales || !zeros || scales->size() != channels || zeros->size() != channels) return std::nullopt;
    if (!std::all_of(scales->begin(), scales->end(), &is_scale)) return std::nullopt;
    return dequantized{a->input, {std::move(*scales), std::move(*zeros), *axis, a->quant_min, a->quant_max}};
}

}  // namespace headrace

#endif
