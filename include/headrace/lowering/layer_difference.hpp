// SPDX-License-Identifier: MIT
// Defines headrace::layer_sums and headrace::fit_sums, from which the figures of a comparison are computed,
// and headrace::element_order.
#ifndef HEADRACE_LOWERING_LAYER_DIFFERENCE_HPP
#define HEADRACE_LOWERING_LAYER_DIFFERENCE_HPP

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

/// Integers q as real numbers, scale · q + offset, and the numbers that they can say.
struct integer_meaning {
    double scale = 1;
    double offset = 0;
    double lowest = -std::numeric_limits<double>::infinity();
    double highest = std::numeric_limits<double>::infinity();
};

/// The meaning of integers between two bounds: a number up to half a step beyond them is not cut.
[[nodiscard]] inline integer_meaning meaning_of(double scale, double offset, std::int64_t lowest,
                                                std::int64_t highest) {
    const double one = scale * (static_cast<double>(lowest) - 0.5) + offset;
    const double end = scale * (static_cast<double>(highest) + 0.5) + offset;
    return {scale, offset, std::min(one, end), std::max(one, end)};
}

/// What is summed of a layer over all samples.
struct layer_sums {
    double signal = 0;   ///< Σx²
    double noise = 0;    ///< Σ(x - y)²
    double other = 0;    ///< Σy²
    double product = 0;  ///< Σxy
    double largest = 0;  ///< |x - y|; infinite if one of them is NaN
    double beyond = 0;   ///< how many x the integers of the other model cannot say
    double count = 0;

    void add(std::span<const double> reference, std::span<const double> numbers, const integer_meaning& by) {
        for (std::size_t i = 0; i != reference.size(); ++i) {
            const double x = reference[i];
            const double y = by.scale * numbers[i] + by.offset;
            if (x == y || (std::isnan(x) && std::isnan(y))) {  // infinities, too
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

    /// Noise per signal; NaN counts as noise alone.
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

/// The sums of a straight line through points (q, x) by least squares.
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
    /// Σ(x - y)² of the line y.
    [[nodiscard]] double residual() const { return xx - x * x / count - scale() * (qx - q * x / count); }
};

/// How the elements of a lowered tensor lie against the exported one's: TOSA has the channels of images last.
enum class element_order : unsigned char { same, channels_last };

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

}  // namespace detail

/// The orders that the shapes allow, axes of size 1 left out; more than one if sizes are equal by chance.
[[nodiscard]] inline std::vector<element_order> possible_orders(std::span<const std::int64_t> exported,
                                                                std::span<const std::int64_t> lowered) {
    std::vector<element_order> orders;
    const eval::extents wanted = detail::without_ones(lowered);
    if (detail::without_ones(exported) == wanted) orders.push_back(element_order::same);
    if (exported.size() < 3 || exported[1] == 1 || eval::elements_in(exported.subspan(2)) == 1) return orders;
    if (detail::without_ones(detail::with_channels_last(exported)) == wanted)
        orders.push_back(element_order::channels_last);
    return orders;
}

/// The elements of a tensor in the order of the exported one, which has that shape.
[[nodiscard]] inline std::vector<double> elements_in_order(const tensor& t, element_order order,
                                                           std::span<const std::int64_t> exported) {
    if (order == element_order::same) return t.to<double>();
    std::vector<std::size_t> axes{0, exported.size() - 1};
    for (std::size_t d = 1; d + 1 < exported.size(); ++d) axes.push_back(d);
    return eval::permuted(t.reshaped(detail::with_channels_last(exported)), axes).to<double>();
}

}  // namespace headrace

#endif
