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
[[nodiscard]] integer_meaning meaning_of(
    double scale, double offset, std::int64_t lowest, std::int64_t highest);

/// The sums of a layer over all samples.
struct layer_sums {
    double signal = 0;   ///< Σx²
    double noise = 0;    ///< Σ(x - y)²
    double other = 0;    ///< Σy²
    double product = 0;  ///< Σxy
    double largest = 0;  ///< |x - y|; infinite if one of them is NaN
    double beyond = 0;   ///< number of x outside the range of the other model's integers
    double count = 0;

    void add(std::span<const double> reference, std::span<const double> numbers, const integer_meaning& by);
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
    [[nodiscard]] double noise_ratio() const;
    [[nodiscard]] double cosine() const;
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

    void add(std::span<const double> reference, std::span<const double> numbers);
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

/// Returns an NCHW shape as NHWC, whatever the number of axes between.
[[nodiscard]] eval::extents with_channels_last(std::span<const std::int64_t> shape);

}  // namespace detail

/// Returns the orders that the shapes allow, the identity first; several if sizes happen to be equal.
[[nodiscard]] std::vector<element_order> possible_orders(
    std::span<const std::int64_t> exported, std::span<const std::int64_t> lowered);

/// Returns the elements of a lowered tensor in the order of the exported one.
[[nodiscard]] std::vector<double> elements_in_order(const tensor& t, const element_order& order);

}  // namespace headrace

#endif
