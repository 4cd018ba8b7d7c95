// SPDX-License-Identifier: MIT
// Defines headrace::maps::map_shape, what a linear map of an image or of rows reads, and its algebra.
#ifndef HEADRACE_PASSES_MERGE_MAP_SHAPE_HPP
#define HEADRACE_PASSES_MERGE_MAP_SHAPE_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include <headrace/base/ceil_div.hpp>
#include <headrace/base/sizes.hpp>

namespace headrace::maps {

/// The window along one axis: element o of the result reads the elements o·stride + low + j·step of the
/// input, for j < count. Outside of the input they are zero.
struct window {
    std::int64_t low = 0, step = 1, count = 1, stride = 1;

    [[nodiscard]] std::int64_t high() const { return low + step * (count - 1); }
    friend bool operator==(const window&, const window&) = default;
};

/// The channels and the window of a convolution; a linear layer has a window of no axes.
struct map_shape {
    static constexpr std::size_t most_axes = 3;
    static constexpr std::int64_t largest = std::int64_t{1} << 28;  ///< of a size: products of two fit

    std::int64_t in = 1, out = 1, groups = 1;
    std::size_t axes = 0;
    std::array<window, most_axes> windows{};

    [[nodiscard]] std::int64_t inputs() const { return in / groups; }
    [[nodiscard]] std::int64_t outputs() const { return out / groups; }
    /// The number of elements of the window.
    [[nodiscard]] std::int64_t taps() const {
        std::int64_t count = 1;
        for (std::size_t i = 0; i != axes; ++i) count = saturating_mul(count, windows[i].count);
        return count;
    }
    /// The number of weights, which is that of products for each position. It may not fit an integer.
    [[nodiscard]] double weights() const {
        return static_cast<double>(out) * static_cast<double>(inputs()) * static_cast<double>(taps());
    }
    friend bool operator==(const map_shape&, const map_shape&) = default;
};

/// The shape of one factor for each channel.
[[nodiscard]] inline map_shape diagonal_shape(std::int64_t channels, std::size_t axes) {
    return {.in = channels, .out = channels, .groups = channels, .axes = axes};
}

/// Makes a window start at or before 0, and end so that a convolution padded equally at both sides gives
/// `results` elements, by adding taps. Returns false if that takes too many.
[[nodiscard]] inline bool fit_window(window& w, std::int64_t size, std::int64_t results) {
    constexpr int most_taps = 64;
    if (w.low > 0) {
        const std::int64_t before = ceil_div(w.low, w.step);
        w.low -= before * w.step;
        w.count += before;
    }
    for (int added = 0; added != most_taps; ++added, ++w.count) {
        const std::int64_t room = size - 2 * w.low - w.step * (w.count - 1) - 1;
        if (room < 0 || std::max({w.step, w.count, w.stride, -w.low, size}) > map_shape::largest)
            return false;
        const std::int64_t given = room / w.stride + 1;
        if (given == results) return true;
        if (given < results) w.low -= w.step;
    }
    return false;
}
/// Does so along all axes of an image.
[[nodiscard]] inline bool fit_windows(map_shape& s, sizes from, sizes to) {
    for (std::size_t i = 0; i != s.axes; ++i) {
        if (!fit_window(s.windows[i], from[i + 2], to[i + 2])) return false;
    }
    return true;
}

/// Returns the window that reads what either reads; both have the same stride.
[[nodiscard]] inline window joined_window(const window& a, const window& b) {
    const std::int64_t low = std::min(a.low, b.low);
    const std::int64_t high = std::max(a.high(), b.high());
    std::int64_t step = std::gcd(a.low - low, b.low - low);
    if (a.count > 1) step = std::gcd(step, a.step);
    if (b.count > 1) step = std::gcd(step, b.step);
    step = std::max<std::int64_t>(step, 1);
    return {low, step, (high - low) / step + 1, a.stride};
}
/// Returns the window of a window of a window.
[[nodiscard]] inline window chained_window(const window& first, const window& second) {
    const std::int64_t low = first.low + second.low * first.stride;
    const std::int64_t high = first.high() + second.high() * first.stride;
    std::int64_t step = 0;
    if (first.count > 1) step = first.step;
    if (second.count > 1) step = std::gcd(step, second.step * first.stride);
    step = std::max<std::int64_t>(step, 1);
    return {low, step, (high - low) / step + 1, first.stride * second.stride};
}

/// Returns the shape of a sum of two maps with the same channels and strides.
[[nodiscard]] inline map_shape sum_shape(const map_shape& a, const map_shape& b) {
    map_shape both = a;
    both.groups = std::gcd(a.groups, b.groups);
    for (std::size_t i = 0; i != a.axes; ++i) both.windows[i] = joined_window(a.windows[i], b.windows[i]);
    return both;
}
/// Returns the shape of one map after another. Groups of channels that either mixes are one.
[[nodiscard]] inline map_shape chain_shape(const map_shape& first, const map_shape& second) {
    map_shape both{first.in, second.out, std::gcd(first.groups, second.groups), first.axes, {}};
    for (std::size_t i = 0; i != both.axes; ++i)
        both.windows[i] = chained_window(first.windows[i], second.windows[i]);
    return both;
}

/// True if zeros around the result of `first`, which `second` reads, are what `first` gives around its input:
/// it reads one element there, and adds nothing.
[[nodiscard]] inline bool keeps_zeros(const map_shape& first, bool shifts, const map_shape& second) {
    for (std::size_t i = 0; i != second.axes; ++i) {
        const window& outer = second.windows[i];
        const bool is_padded = outer.low < 0;
        if (is_padded && (shifts || first.windows[i].count != 1 || first.windows[i].low != 0)) return false;
    }
    return true;
}

}  // namespace headrace::maps

#endif
