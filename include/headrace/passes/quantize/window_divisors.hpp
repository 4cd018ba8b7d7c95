// SPDX-License-Identifier: MIT
// Defines headrace::window_divisors, the divisors of the sums of an average pooling's windows.
#ifndef HEADRACE_PASSES_QUANTIZE_WINDOW_DIVISORS_HPP
#define HEADRACE_PASSES_QUANTIZE_WINDOW_DIVISORS_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/sizes.hpp>
#include <headrace/infer/window.hpp>

namespace headrace {

/// Returns how many elements the window counts at each position along an axis, as PyTorch's avg_pool2d does:
/// elements of the axis and, if `padding_counts`, of the padding.
[[nodiscard]] inline pmr_vector<std::int64_t> counts_along(
    const window& w, std::int64_t size, std::int64_t positions, bool padding_counts) {
    pmr_vector<std::int64_t> counts;
    const std::int64_t first = padding_counts ? -w.before : 0;
    const std::int64_t end = padding_counts ? size + w.after : size;
    for (std::int64_t i = 0; i != positions; ++i) {
        const std::int64_t start = i * w.stride - w.before;
        counts.push_back(std::min(start + w.kernel, end) - std::max(start, first));
    }
    return counts;
}

/// The number of elements of each window is the product of its counts along height and width.
struct window_divisors {
    pmr_vector<std::int64_t> height, width;

    /// True if there is a window, and each window has an element.
    [[nodiscard]] bool is_sound() const {
        const auto has_none = [](std::int64_t n) { return n == 0; };
        return !height.empty() && !width.empty() && std::none_of(height.begin(), height.end(), has_none) &&
            std::none_of(width.begin(), width.end(), has_none);
    }
    [[nodiscard]] std::int64_t largest() const {
        return saturating_mul(
            *std::max_element(height.begin(), height.end()), *std::max_element(width.begin(), width.end()));
    }
    /// Returns the divisor of all windows, if it is the same.
    [[nodiscard]] std::optional<std::int64_t> common() const {
        const auto is_one = [](const pmr_vector<std::int64_t>& counts) {
            return std::all_of(counts.begin(), counts.end(), [&](auto n) { return n == counts.front(); });
        };
        return is_one(height) && is_one(width) ? std::optional(largest()) : std::nullopt;
    }
    /// Returns a unit that each divisor divides exactly or nearly: a multiple of all divisors or, if there is
    /// no room for it, a power of two. Nothing if a quotient would be rounded by more than a hundredth of a
    /// step, for numbers of at most that magnitude.
    [[nodiscard]] std::optional<std::int64_t> unit(double reach) const {
        constexpr double room = 1 << 30;
        constexpr double allowed = 0.01;
        std::int64_t multiple = 1;
        for (const auto* counts : {&height, &width}) {
            std::int64_t along = 1;
            for (const std::int64_t n : *counts) along = saturating_mul(along, n / std::gcd(along, n));
            multiple = saturating_mul(multiple, along);
        }
        if (static_cast<double>(multiple) * reach <= room) return multiple;
        const double power = std::exp2(std::floor(std::log2(room / std::max(reach, 1.0))));
        const double rounded_by = reach * static_cast<double>(largest()) / (2 * power);
        return rounded_by <= allowed ? std::optional(static_cast<std::int64_t>(power)) : std::nullopt;
    }
};

}  // namespace headrace

#endif
