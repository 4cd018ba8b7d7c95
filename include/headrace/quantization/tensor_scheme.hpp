// SPDX-License-Identifier: MIT
// Defines headrace::tensor_scheme, how real numbers of a tensor become integers, and headrace::qparams.
#ifndef HEADRACE_QUANTIZATION_TENSOR_SCHEME_HPP
#define HEADRACE_QUANTIZATION_TENSOR_SCHEME_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include <headrace/base/dtype.hpp>

namespace headrace {

/// A real number x is scale · (q - zero_point). The scale is a float32 number.
struct qparams {
    double scale = 1;
    std::int64_t zero_point = 0;

    friend bool operator==(const qparams&, const qparams&) = default;
};

/// The smallest and the largest number of a tensor; empty while `lowest > highest`.
struct value_range {
    float lowest = INFINITY;
    float highest = -INFINITY;

    [[nodiscard]] bool empty() const { return lowest > highest; }
    friend bool operator==(const value_range&, const value_range&) = default;
};

/// How the range of a tensor is derived from the samples.
enum class observer_kind : std::uint8_t {
    histogram,       ///< the bins with the smallest quantization loss, searched greedily from both ends
    min_max,         ///< the smallest and the largest number of all samples
    moving_average,  ///< of each sample's extremes; later samples weigh more
    percentile,      ///< all numbers except a share at each end
    mean_square      ///< the range with the smallest mean square error, one end at a time
};

/// How a tensor is quantized.
struct tensor_scheme {
    headrace::dtype type = dtype::int8;
    std::int64_t lowest = -128;
    std::int64_t highest = 127;
    bool symmetric = false;    ///< zero_point is 0
    bool per_channel = false;  ///< a scale for each index of `axis`
    std::int64_t axis = 0;
    double smallest_scale = 0x1p-16;  ///< smaller scales are raised to it
    observer_kind observer = observer_kind::histogram;
    double percentile = 99.99;       ///< of observer_kind::percentile, in percent
    double headroom = 1;             ///< factor by which the observed range of computed tensors is widened
    std::optional<qparams> fixed{};  ///< parameters that samples do not change

    /// True if tensors of the two schemes may share parameters. How ranges are found does not matter.
    [[nodiscard]] bool same_numbers(const tensor_scheme& other) const {
        return type == other.type && lowest == other.lowest && highest == other.highest &&
            symmetric == other.symmetric && per_channel == other.per_channel && axis == other.axis &&
            fixed == other.fixed;
    }
};

/// Returns the parameters for a range, which is widened to include 0 (torchao,
/// UniformQuantizationObserverBase). All steps are in float32; without data the scale is 1. For any range,
/// the scale and its inverse are positive and finite, and every integer stands for a finite number.
[[nodiscard]] qparams choose_qparams(value_range range, const tensor_scheme& scheme);

/// Quantizes a number: x · (1 / scale), rounded half to even, saturated. NaN becomes 0.
[[nodiscard]] inline std::int64_t quantized(
    float x, float inverse_scale, std::int64_t zero_point, const tensor_scheme& scheme) {
    const float scaled = std::nearbyint(x * inverse_scale) + static_cast<float>(zero_point);
    if (std::isnan(scaled)) return std::clamp<std::int64_t>(0, scheme.lowest, scheme.highest);
    // In double: float32 would round the bounds of int32 to numbers beyond them.
    return static_cast<std::int64_t>(std::clamp(static_cast<double>(scaled),
        static_cast<double>(scheme.lowest), static_cast<double>(scheme.highest)));
}

}  // namespace headrace

#endif
