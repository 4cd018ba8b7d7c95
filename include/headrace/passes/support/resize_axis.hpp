// SPDX-License-Identifier: MIT
// Defines headrace::resize_axis, the elements that the results of a RESIZE read along one axis.
#ifndef HEADRACE_PASSES_SUPPORT_RESIZE_AXIS_HPP
#define HEADRACE_PASSES_SUPPORT_RESIZE_AXIS_HPP

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include <headrace/base/floor_div.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/pass/pass.hpp>

namespace headrace {

/// Periods [first, first + count).
struct period_run {
    std::int64_t first, count;
};
/// One axis of a RESIZE. Result o is at (o * d + offset) / n, between elements: it is element first[o] times
/// (n - rest[o]) plus the next element times rest[o]. Elements beyond an end equal the last one there.
///
/// With g = gcd(n, d), the weights repeat every n / g results, which are d / g elements further: a period.
/// Results at the same place of their periods, a phase, are one convolution with stride d / g.
struct resize_axis {
    std::int64_t size, out;  ///< numbers of elements and results
    std::int64_t n;
    std::int64_t phases, stride, periods;
    std::int64_t common;                   ///< divides all weights
    pmr_vector<std::int64_t> first, rest;  ///< of whole periods, a few of which may be beyond `out`

    resize_axis(std::int64_t elements, std::int64_t results, std::int64_t numerator, std::int64_t d,
        std::int64_t offset, bool is_nearest)
        : size(elements), out(results), n(is_nearest ? 1 : numerator) {
        const std::int64_t divisor = std::gcd(numerator, d);
        phases = std::min(numerator / divisor, out);
        stride = d / divisor;
        periods = (out + phases - 1) / phases;
        if (periods == 1) stride = 1;
        common = n;
        for (std::int64_t o = 0; o != phases * periods; ++o) {
            const std::int64_t at = o * d + offset;
            const std::int64_t whole = is_nearest ? floor_div(2 * at + numerator, 2 * numerator)
                                                  : floor_div(at, numerator);
            first.push_back(whole);
            rest.push_back(is_nearest ? 0 : at - whole * numerator);
            common = std::gcd(common, rest.back());
        }
    }

    [[nodiscard]] std::int64_t start(std::int64_t o) const { return first[static_cast<std::size_t>(o)]; }
    [[nodiscard]] std::int64_t taps(std::int64_t o) const {
        return rest[static_cast<std::size_t>(o)] == 0 ? 1 : 2;
    }
    [[nodiscard]] std::int64_t weight(std::int64_t o, std::int64_t tap) const {
        const std::int64_t r = rest[static_cast<std::size_t>(o)];
        return tap == 0 ? n - r : r;
    }
    [[nodiscard]] std::int64_t inside(std::int64_t i) const {
        return std::clamp<std::int64_t>(i, 0, size - 1);
    }
    /// Returns the first element that the first period reads; window() returns how many it reads.
    [[nodiscard]] std::int64_t window_start() const {
        return *std::min_element(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(phases));
    }
    [[nodiscard]] std::int64_t window() const {
        std::int64_t end = window_start();
        for (std::int64_t p = 0; p != phases; ++p) end = std::max(end, start(p) + taps(p));
        return end - window_start();
    }
    /// Returns runs of periods: those within the image form one run, each other period is a run of its own.
    [[nodiscard]] pmr_vector<period_run> runs() const {
        const auto is_inside = [&](std::int64_t period) {
            const std::int64_t from = window_start() + period * stride;
            return from >= 0 && from + window() <= size;
        };
        pmr_vector<period_run> all;
        for (std::int64_t at = 0, end = 0; at != periods; at = end) {
            for (end = at + 1; is_inside(at) && end != periods && is_inside(end);) ++end;
            all.push_back({at, end - at});
        }
        return all;
    }
    /// Returns the number of elements read before the first one; after(), those past the last one.
    [[nodiscard]] std::int64_t before() const { return std::max<std::int64_t>(-window_start(), 0); }
    [[nodiscard]] std::int64_t after() const {
        return std::max<std::int64_t>(window_start() + stride * (periods - 1) + window() - size, 0);
    }
    /// Returns the first element that each result reads.
    [[nodiscard]] pmr_vector<std::int64_t> positions() const {
        pmr_vector<std::int64_t> at;
        for (std::int64_t o = 0; o != out; ++o) at.push_back(inside(start(o)));
        return at;
    }
    /// Returns how often each element is repeated; 0 if the counts differ.
    [[nodiscard]] std::int64_t repeats() const {
        const std::int64_t factor = std::max<std::int64_t>(out / size, 1);
        if (out != factor * size) return 0;
        for (std::int64_t o = 0; o != out; ++o) {
            if (inside(start(o)) != o / factor) return 0;
        }
        return factor;
    }
};

/// The axes of height and width.
using resize_axes = std::array<resize_axis, 2>;

[[nodiscard]] inline std::optional<resize_axes> resize_axes_of(
    const args<tosa::resize>& a, const int_list& result) {
    const auto* scale = match<tosa::const_shape>(a.scale);
    const auto* offset = match<tosa::const_shape>(a.offset);
    if (scale == nullptr || offset == nullptr) return std::nullopt;
    const auto along = [&](std::size_t i) {
        return resize_axis(meta_of(a.input)->shape[1 + i], result[1 + i], scale->values[2 * i],
            scale->values[2 * i + 1], offset->values[i], a.mode == resize_mode::nearest);
    };
    return resize_axes{along(0), along(1)};
}

}  // namespace headrace

#endif
