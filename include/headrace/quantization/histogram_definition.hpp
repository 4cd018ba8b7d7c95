// SPDX-License-Identifier: MIT
// Defines the members of headrace::histogram.
#ifndef HEADRACE_QUANTIZATION_HISTOGRAM_DEFINITION_HPP
#define HEADRACE_QUANTIZATION_HISTOGRAM_DEFINITION_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

#include <headrace/base/compiled.hpp>
#include <headrace/quantization/histogram.hpp>

namespace headrace {

namespace detail {

/// Number i of `count` equally spaced ones, as torch.linspace rounds it on machines with a fused
/// multiply-add.
[[nodiscard]] inline float spaced(value_range range, int count, int i) {
    const float step = (range.highest - range.lowest) / static_cast<float>(count - 1);
    return i < count / 2 ? std::fma(step, static_cast<float>(i), range.lowest)
                         : std::fma(-step, static_cast<float>(count - 1 - i), range.highest);
}

/// Floor division as Python and PyTorch do it in float32.
[[nodiscard]] inline float floor_divided(float a, float b) {
    const float rest = std::fmod(a, b);
    float quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
    if (quotient == 0) return std::copysign(0.0F, a / b);
    float floored = std::floor(quotient);
    if (quotient - floored > 0.5F) floored += 1;
    return floored;
}

}  // namespace detail

HEADRACE_INLINE void histogram::count(std::span<const float> numbers, value_range range,
                                      std::vector<float>& counts) const {
    counts.assign(bins, 0);
    if (range.lowest == range.highest) range = {range.lowest - 1, range.highest + 1};
    const float width = range.highest - range.lowest;
    for (const float x : numbers) {
        if (!(x >= range.lowest && x <= range.highest)) continue;
        const auto at = static_cast<int>((x - range.lowest) * static_cast<float>(bins) / width);
        counts[static_cast<std::size_t>(std::min(at, bins - 1))] += 1;
    }
}

// Both the middles of the parts and the edges of the new bins grow, so one walk finds every bin. Within a bin
// the first part beyond an edge is searched for, since most of the time goes into these numbers.
HEADRACE_INLINE void histogram::widen(value_range range, std::vector<float>& counts) const {
    constexpr int parts = 16;
    counts.assign(bins, 0);
    const float half_part = 0.5F * (range_.highest - range_.lowest) / static_cast<float>(bins * parts);
    const auto middle = [&](int j) { return detail::spaced(range_, bins * parts + 1, j) + half_part; };
    int to = 0;
    float edge = detail::spaced(range, bins + 1, 1);
    for (int i = 0; i != bins; ++i) {
        const float weight = counts_[static_cast<std::size_t>(i)] / static_cast<float>(parts);
        if (weight == 0) continue;
        const int end = (i + 1) * parts;
        for (int j = i * parts; j != end;) {
            int beyond = end;
            if (to != bins - 1) {
                const auto rest = std::views::iota(j, end);
                beyond = j + static_cast<int>(std::ranges::partition_point(
                                                  rest, [&](int k) { return !(edge <= middle(k)); }) -
                                              rest.begin());
            }
            float& sum = counts[static_cast<std::size_t>(to)];
            for (; j != beyond; ++j) sum += weight;
            while (j != end && to != bins - 1 && edge <= middle(j)) {
                ++to;
                edge = detail::spaced(range, bins + 1, to + 1);
            }
        }
    }
}

HEADRACE_INLINE void histogram::feed(std::span<const float> numbers) {
    value_range own;
    for (const float x : numbers) {
        if (!has_extent(x)) continue;
        own.lowest = std::min(own.lowest, x);
        own.highest = std::max(own.highest, x);
    }
    if (own.empty()) return;
    if (empty()) {
        range_ = own;
        count(numbers, range_, counts_);
        return;
    }
    const value_range wide{std::min(range_.lowest, own.lowest), std::max(range_.highest, own.highest)};
    std::vector<float> added;
    count(numbers, wide, added);
    if (wide != range_) {
        std::vector<float> before;
        if (range_.lowest == range_.highest) {
            const float sum = total();
            count(std::span(&range_.lowest, 1), wide, before);
            for (float& c : before) c *= sum;
        } else {
            widen(wide, before);
        }
        counts_ = std::move(before);
        range_ = wide;
    }
    for (std::size_t i = 0; i != counts_.size(); ++i) counts_[i] += added[i];
}

// In the order in which PyTorch's vectorized sum adds: 32 columns of 64 rows, in blocks of 16 rows.
HEADRACE_INLINE float histogram::total() const {
    constexpr std::size_t columns = 32;
    constexpr std::size_t block = 16;
    std::array<float, columns> sums{};
    for (std::size_t first = 0; first != counts_.size() / columns; first += block) {
        std::array<float, columns> own{};
        for (std::size_t row = first; row != first + block; ++row) {
            for (std::size_t c = 0; c != columns; ++c) own[c] += counts_[row * columns + c];
        }
        for (std::size_t c = 0; c != columns; ++c) sums[c] += own[c];
    }
    float all = 0;
    for (std::size_t lane = 0; lane != 8; ++lane)
        all += ((sums[lane] + sums[lane + 8]) + sums[lane + 16]) + sums[lane + 24];
    return all;
}

// Numbers are taken to be spread evenly within a bin; each goes to the middle of its level.
HEADRACE_INLINE double histogram::loss(int start, int end, std::int64_t levels) const {
    const double wide = (static_cast<double>(range_.highest) - static_cast<double>(range_.lowest)) / bins;
    const double level = wide * (end - start + 1) / static_cast<double>(levels);
    if (level == 0) return 0;
    const auto w = static_cast<float>(wide);
    const auto d = static_cast<float>(level);
    const auto half = static_cast<float>(level / 2);
    const auto last = static_cast<float>(levels - 1);
    const auto cubes = [](float density, float from, float to) {
        return density * ((to * to * to - from * from * from) / 3);
    };
    double sum = 0;
    for (int i = 0; i != bins; ++i) {
        const float count = counts_[static_cast<std::size_t>(i)];
        if (count == 0) continue;
        const float begin = static_cast<float>(i - start) * w;
        const float finish = begin + w;
        const float first = std::clamp(detail::floor_divided(begin, d), 0.0F, last);
        const float other = std::clamp(detail::floor_divided(finish, d), 0.0F, last);
        const float density = count / w;
        float norm = cubes(density, begin - (first + 0.5F) * d, half);
        norm += (other - first - 1) * cubes(density, -half, half);
        norm += cubes(density, -half, finish - (other * d + half));
        sum += static_cast<double>(norm);
    }
    return sum;
}

HEADRACE_INLINE value_range histogram::least_loss(std::int64_t levels) const {
    if (empty()) return range_;
    std::vector<float> cumulative(bins);
    double sum = 0;
    for (std::size_t i = 0; i != cumulative.size(); ++i)
        cumulative[i] = static_cast<float>(sum += static_cast<double>(counts_[i]));
    const auto all = static_cast<double>(total());
    const auto below = [&](int i, double share) {
        return cumulative[static_cast<std::size_t>(i)] < static_cast<float>(share * all);
    };
    const auto above = [&](int i, double share) {
        return cumulative[static_cast<std::size_t>(i)] > static_cast<float>(share * all);
    };
    constexpr double step = 1e-5;
    double left_share = 0;
    double right_share = 1;
    int start = 0;
    int end = bins - 1;
    double best = INFINITY;
    while (left_share < right_share) {
        const double next_left = left_share + step;
        const double next_right = right_share - step;
        int left = start;
        while (left < end && below(left, next_left)) ++left;
        int right = end;
        while (right > start && above(right, next_right)) --right;
        int next_start = start;
        int next_end = end;
        if (left - start > end - right) {
            next_start = left;
            left_share = next_left;
        } else {
            next_end = right;
            right_share = next_right;
        }
        if (next_start == start && next_end == end) continue;
        const double error = loss(next_start, next_end, levels);
        if (error > best) break;
        best = error;
        start = next_start;
        end = next_end;
    }
    const float width = (range_.highest - range_.lowest) / static_cast<float>(bins);
    return {range_.lowest + width * static_cast<float>(start),
            range_.lowest + width * static_cast<float>(end + 1)};
}

HEADRACE_INLINE value_range histogram::percentile(double percent) const {
    if (empty()) return range_;
    double all = 0;
    for (const float c : counts_) all += static_cast<double>(c);
    const double left_out = all * (100 - percent) / 100;
    int start = 0;
    for (double sum = 0; start != bins - 1; ++start) {
        sum += static_cast<double>(counts_[static_cast<std::size_t>(start)]);
        if (sum > left_out) break;
    }
    int end = bins - 1;
    for (double sum = 0; end != start; --end) {
        sum += static_cast<double>(counts_[static_cast<std::size_t>(end)]);
        if (sum > left_out) break;
    }
    const float width = (range_.highest - range_.lowest) / static_cast<float>(bins);
    return {start == 0 ? range_.lowest : range_.lowest + width * static_cast<float>(start),
            end == bins - 1 ? range_.highest : range_.lowest + width * static_cast<float>(end + 1)};
}

HEADRACE_INLINE double histogram::square_error(value_range range, const tensor_scheme& scheme) const {
    const qparams p = choose_qparams(range, scheme);
    const double width = (static_cast<double>(range_.highest) - static_cast<double>(range_.lowest)) / bins;
    const float inverse = static_cast<float>(1 / p.scale);
    double sum = 0;
    for (int i = 0; i != bins; ++i) {
        const float count = counts_[static_cast<std::size_t>(i)];
        if (count == 0) continue;
        const double x = static_cast<double>(range_.lowest) + (i + 0.5) * width;
        const std::int64_t q = quantized(static_cast<float>(x), inverse, p.zero_point, scheme);
        const double error = x - p.scale * static_cast<double>(q - p.zero_point);
        sum += static_cast<double>(count) * error * error;
    }
    return sum;
}

HEADRACE_INLINE value_range histogram::least_square(const tensor_scheme& scheme) const {
    if (empty()) return range_;
    constexpr int steps = 40;
    constexpr double smallest = 0.2;
    value_range best = range_;
    double least = square_error(best, scheme);
    // The lower end may depend on the upper one: twice round.
    for (int round = 0; round != 2; ++round) {
        for (float value_range::*end : {&value_range::lowest, &value_range::highest}) {
            for (int i = 0; i != steps; ++i) {
                value_range tried = best;
                const double factor = 1 - (1 - smallest) * i / (steps - 1);
                tried.*end = static_cast<float>(static_cast<double>(range_.*end) * factor);
                if (tried.empty()) continue;
                const double error = square_error(tried, scheme);
                if (error >= least) continue;
                least = error;
                best = tried;
            }
        }
    }
    return best;
}

}  // namespace headrace

#endif
