// SPDX-License-Identifier: MIT
// Defines headrace::layer_sums and headrace::fit_sums, from which the figures of a comparison are computed,
// and headrace::element_order.
#ifndef HEADRACE_COMPARE_LAYER_DIFFERENCE_HPP
#define HEADRACE_COMPARE_LAYER_DIFFERENCE_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <headrace/eval/iterate.hpp>
#include <headrace/eval/tensor.hpp>

namespace headrace {

/// The real numbers that integers q represent, scale · q + offset, and their range.
struct integer_meaning {
    double scale = 1;
    double offset = 0;
    double lowest = -std::numeric_limits<double>::infinity();
    double highest = std::numeric_limits<double>::infinity();
};

/// Returns the meaning of integers within two bounds: a number up to half a step outside is not saturated.
[[nodiscard]] inline integer_meaning meaning_of(
    double scale, double offset, std::int64_t lowest, std::int64_t highest) {
    const double one = scale * (static_cast<double>(lowest) - 0.5) + offset;
    const double end = scale * (static_cast<double>(highest) + 0.5) + offset;
    return {scale, offset, std::min(one, end), std::max(one, end)};
}

/// The sums of a layer over all samples.
struct layer_sums {
    double signal = 0;   ///< Σx²
    double noise = 0;    ///< Σ(x - y)²
    double other = 0;    ///< Σy²
    double product = 0;  ///< Σxy
    double largest = 0;  ///< |x - y|; infinite if one of them is NaN
    double beyond = 0;   ///< number of x outside the range of the other model's integers
    double count = 0;

    void add(std::span<const double> reference, std::span<const double> numbers, const integer_meaning& by) {
        for (std::size_t i = 0; i != reference.size(); ++i) {
            const double x = reference[i];
            const double y = by.scale * numbers[i] + by.offset;
            if (x == y || (std::isnan(x) && std::isnan(y))) {  // also true for infinities
                if (std::isfinite(x)) signal += x * x, other += y * y, product += x * y;
            } else {
                const double d = std::fabs(x - y);
                largest = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(largest, d);
                noise += d * d;
                signal += x * x;
                other += y * y;
                product += x * y;
            }
            beyond += x < by.lowest || x > by.highest ? 1 : 0;
        }
        count += static_cast<double>(reference.size());
    }
    layer_sums& operator+=(const layer_sums& more) {
        signal += more.signal;
        noise += more.noise;
        other += more.other;
        product += more.product;
        largest = std::max(largest, more.largest);
        beyond += more.beyond;
        count += more.count;
        return *this;
    }

    /// Returns noise per signal; NaN counts as pure noise.
    [[nodiscard]] double noise_ratio() const {
        if (noise == 0) return 0;
        const double ratio = noise / signal;
        return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
    }
    [[nodiscard]] double cosine() const {
        if (signal == 0 && other == 0) return 1;
        const double c = product / std::sqrt(signal * other);
        return std::isnan(c) ? 0 : c;
    }
    [[nodiscard]] double share_beyond() const { return count == 0 ? 0 : beyond / count; }
};

[[nodiscard]] inline double decibels_of(double noise_ratio) {
    return noise_ratio == 0 ? std::numeric_limits<double>::infinity() : -10 * std::log10(noise_ratio);
}

/// The sums for fitting a line through points (q, x) by least squares.
struct fit_sums {
    double count = 0;
    double q = 0;
    double x = 0;
    double qq = 0;
    double qx = 0;
    double xx = 0;

    void add(std::span<const double> reference, std::span<const double> numbers) {
        for (std::size_t i = 0; i != reference.size(); ++i) {
            q += numbers[i];
            x += reference[i];
            qq += numbers[i] * numbers[i];
            qx += numbers[i] * reference[i];
            xx += reference[i] * reference[i];
        }
        count += static_cast<double>(reference.size());
    }
    fit_sums& operator+=(const fit_sums& more) {
        count += more.count;
        q += more.q;
        x += more.x;
        qq += more.qq;
        qx += more.qx;
        xx += more.xx;
        return *this;
    }

    [[nodiscard]] double scale() const {
        const double spread = qq - q * q / count;
        return spread > 0 ? (qx - q * x / count) / spread : 0;
    }
    [[nodiscard]] double offset() const { return (x - scale() * q) / count; }
    /// Returns Σ(x - y)² for the fitted line y.
    [[nodiscard]] double residual() const { return xx - x * x / count - scale() * (qx - q * x / count); }
};

/// The axes of a lowered tensor in the order of the exported one's, without axes of size 1. TOSA has the
/// channels of images last, and transposes move.
using element_order = std::vector<std::size_t>;

namespace detail {

[[nodiscard]] inline eval::extents with_channels_last(std::span<const std::int64_t> shape) {
    eval::extents moved(shape.begin(), shape.end());
    std::rotate(moved.begin() + 1, moved.begin() + 2, moved.end());
    return moved;
}
[[nodiscard]] inline eval::extents without_ones(std::span<const std::int64_t> shape) {
    eval::extents kept;
    std::ranges::copy_if(shape, std::back_inserter(kept), [](std::int64_t size) { return size != 1; });
    return kept;
}

// Appends to `order` in all ways that the sizes allow, first axes first.
inline void extend_order(const eval::extents& exported, const eval::extents& lowered, element_order& order,
    std::vector<element_order>& found) {
    constexpr std::size_t most_orders = 24;  // for tensors whose axes all have the same size
    if (found.size() == most_orders) return;
    if (order.size() == exported.size()) {
        found.push_back(order);
        return;
    }
    for (std::size_t axis = 0; axis != lowered.size(); ++axis) {
        const bool used = std::ranges::find(order, axis) != order.end();
        if (used || lowered[axis] != exported[order.size()]) continue;
        order.push_back(axis);
        extend_order(exported, lowered, order, found);
        order.pop_back();
    }
}

}  // namespace detail

/// Returns the orders that the shapes allow, the identity first; several if sizes happen to be equal.
[[nodiscard]] inline std::vector<element_order> possible_orders(
    std::span<const std::int64_t> exported, std::span<const std::int64_t> lowered) {
    std::vector<element_order> found;
    const eval::extents from = detail::without_ones(exported);
    const eval::extents to = detail::without_ones(lowered);
    // With equal sizes every prefix can be completed, so the search never backtracks in vain.
    if (from.size() != to.size() || !std::ranges::is_permutation(from, to)) return found;
    element_order order;
    detail::extend_order(from, to, order, found);
    return found;
}

/// Returns the elements of a lowered tensor in the order of the exported one.
[[nodiscard]] inline std::vector<double> elements_in_order(const tensor& t, const element_order& order) {
    if (std::ranges::is_sorted(order)) return t.to<double>();
    return eval::permuted(t.reshaped(detail::without_ones(t.shape())), order).to<double>();
}

}  // namespace headrace

#endif
