// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/tensor_scheme.hpp.

#include <headrace/quantization/tensor_scheme.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace headrace {

qparams choose_qparams(value_range range, const tensor_scheme& scheme) {
    if (scheme.fixed) return *scheme.fixed;
    using limits = std::numeric_limits<float>;
    if (range.empty() || std::isnan(range.lowest) || std::isnan(range.highest)) return {};
    const float low = std::clamp(range.lowest, limits::lowest(), 0.0F);
    const float high = std::clamp(range.highest, 0.0F, limits::max());
    const float floor = std::max(static_cast<float>(scheme.smallest_scale), limits::min());
    const auto levels = static_cast<double>(scheme.highest - scheme.lowest);
    // The integer farthest from the zero point must stand for a finite float32.
    const auto held = [&](float scale, std::int64_t zero_point) {
        const std::int64_t steps = std::max(scheme.highest - zero_point, zero_point - scheme.lowest);
        const float max_scale = limits::max() / static_cast<float>(std::max<std::int64_t>(steps, 1));
        return qparams{std::min(scale, std::nextafter(max_scale, 0.0F)), zero_point};
    };
    if (scheme.symmetric) {
        const float scale = std::max(-low, high) / static_cast<float>(levels / 2);
        return held(std::max(scale, floor), 0);
    }
    const auto count = static_cast<float>(levels);
    const float width = high - low;
    const float scale = std::max(std::isfinite(width) ? width / count : high / count - low / count, floor);
    const auto offset = static_cast<std::int64_t>(std::nearbyint(low / scale));
    return held(scale, std::clamp(scheme.lowest - offset, scheme.lowest, scheme.highest));
}
}  // namespace headrace
