// SPDX-License-Identifier: MIT
// Defines headrace::cortex_m::exponent_of and headrace::cortex_m::numerator_of, which recognise functions in
// tables of int8.
#ifndef HEADRACE_PASSES_CORTEX_M_KNOWN_FUNCTIONS_HPP
#define HEADRACE_PASSES_CORTEX_M_KNOWN_FUNCTIONS_HPP

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include <headrace/base/pmr_vector.hpp>

namespace headrace::cortex_m {

namespace detail {

inline constexpr double highest_number = 127;
// A table with less contrast tells too little of its function.
inline constexpr double min_contrast = 32;

/// Returns how far any element is from f(i), i from `first` on, rounded and clamped to int8.
template <class F>
double worst_deviation(std::span<const std::int64_t> table, std::int64_t first, F f) {
    double worst = 0;
    for (std::int64_t i = first; i <= 127; ++i) {
        const auto actual = static_cast<double>(table[static_cast<std::size_t>(i + 128)]);
        worst = std::max(worst, std::abs(std::clamp(f(static_cast<double>(i)), -128.0, 127.0) - actual));
    }
    return worst;
}

/// amplitude * exp(rate * (i - 127)).
struct exponential {
    double amplitude, rate, deviation;
};

/// Fits an exponential function to the elements in front of `end` by least squares.
inline exponential fitted_exponential(
    std::span<const std::int64_t> table, std::size_t end, std::int64_t zero_point) {
    constexpr int steps = 8;  // of Gauss and Newton, from the fit of the logarithms
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
    const auto height = [&](std::size_t i) { return static_cast<double>(table[i] - zero_point); };
    const auto distance = [](std::size_t i) { return static_cast<double>(i) - 255; };
    for (std::size_t i = 0; i != end; ++i) {
        if (height(i) < 1) continue;
        const double weight = height(i) * height(i), x = distance(i), y = std::log(height(i));
        w += weight, wx += weight * x, wy += weight * y, wxx += weight * x * x, wxy += weight * x * y;
    }
    const double spread = w * wxx - wx * wx;
    exponential fit{0, 0, 256};
    if (!(spread > 0)) return fit;
    fit.rate = (w * wxy - wx * wy) / spread;
    double log_amplitude = (wy - fit.rate * wx) / w;
    for (int step = 0; step != steps; ++step) {
        double aa = 0, ar = 0, rr = 0, ae = 0, re = 0;
        for (std::size_t i = 0; i != end; ++i) {
            const double by_log = std::exp(log_amplitude + fit.rate * distance(i));
            const double by_rate = by_log * distance(i), error = height(i) - by_log;
            aa += by_log * by_log, ar += by_log * by_rate, rr += by_rate * by_rate;
            ae += by_log * error, re += by_rate * error;
        }
        const double determinant = aa * rr - ar * ar;
        if (!(determinant > 0)) return fit;
        log_amplitude += (ae * rr - re * ar) / determinant;
        fit.rate += (re * aa - ae * ar) / determinant;
    }
    fit.amplitude = std::exp(log_amplitude);
    fit.deviation = worst_deviation(table, -128, [&](double i) {
        return fit.amplitude * std::exp(fit.rate * (i - 127)) + static_cast<double>(zero_point);
    });
    return fit;
}

}  // namespace detail

/// Returns the s > 0 for which element i, from -128 on, is a * exp(s * i) + zero_point for some a, saturated,
/// within one step; nothing if the table is another function. A table of 256 elements tells s to a thousandth
/// or so.
[[nodiscard]] inline std::optional<double> exponent_of(
    std::span<const std::int64_t> table, std::int64_t zero_point) {
    const auto highest = std::ranges::find(table, std::int64_t{127});
    const auto end = static_cast<std::size_t>(highest - table.begin());
    if (static_cast<double>(table[std::min(end, table.size() - 1)] - zero_point) < detail::min_contrast)
        return std::nullopt;
    // The first element of 127 may be saturated, or may not.
    const detail::exponential whole =
        detail::fitted_exponential(table, std::min(end + 1, table.size()), zero_point);
    const detail::exponential below = detail::fitted_exponential(table, end, zero_point);
    const detail::exponential& best = whole.deviation <= below.deviation ? whole : below;
    const bool is_exponential = best.deviation <= 1 && best.rate > 0;
    return is_exponential ? std::optional(best.rate) : std::nullopt;
}

/// Returns the c > 0 for which element i, for each i above input_zero_point, is c / (i - input_zero_point) +
/// zero_point, saturated, within one step; nothing if the table is another function.
[[nodiscard]] inline std::optional<double> numerator_of(
    std::span<const std::int64_t> table, std::int64_t input_zero_point, std::int64_t zero_point) {
    double products = 0, squares = 0, largest = 0;
    for (std::int64_t i = input_zero_point + 1; i <= 127; ++i) {
        const std::int64_t number = table[static_cast<std::size_t>(i + 128)];
        const auto height = static_cast<double>(number - zero_point);
        largest = std::max(largest, height);
        if (number == 127) continue;  // saturated
        products += height / static_cast<double>(i - input_zero_point);
        squares += 1 / static_cast<double>((i - input_zero_point) * (i - input_zero_point));
    }
    const double c = squares > 0 ? products / squares : 0;
    const double deviation = detail::worst_deviation(table, input_zero_point + 1, [&](double i) {
        return c / (i - static_cast<double>(input_zero_point)) + static_cast<double>(zero_point);
    });
    const bool is_reciprocal = c > 0 && largest >= detail::min_contrast && deviation <= 1;
    return is_reciprocal ? std::optional(c) : std::nullopt;
}

}  // namespace headrace::cortex_m

#endif
