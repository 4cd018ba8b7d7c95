// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/observers/histogram.hpp.

#include <headrace/quantization/observers/histogram.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

#include <Eigen/Core>

#include <headrace/quantization/observers/find_bins.hpp>
#include <headrace/quantization/observers/losses_of_bins.hpp>
#include <headrace/quantization/observers/widen_bins.hpp>

namespace headrace {

observed_range range_of(std::span<const float> numbers) {
    const value_range all = cpu_has_avx2() ? detail::limits_of_fused(numbers) : detail::limits_of(numbers);
    if (has_extent(all.lowest) && has_extent(all.highest)) return {.range = all, .extreme = all};
    observed_range own;
    const auto widen = [](value_range& range, float x) {
        range = {std::min(range.lowest, x), std::max(range.highest, x)};
    };
    for (const float x : numbers) {
        if (std::isnan(x)) {
            ++own.undefined;
            continue;
        }
        widen(own.extreme, x);
        if (has_extent(x)) {
            widen(own.range, x);
        } else {
            ++own.infinite;
            if (std::isfinite(x)) widen(own.large, x);
        }
    }
    return own;
}

/// Counts numbers that are all within the range.
void histogram::add(std::span<const float> numbers) {
    value_range range = range_;
    if (range_.lowest == range_.highest) {
        // From 2^24 on, adjacent float32 numbers are more than 1 apart.
        const float x = range_.lowest;
        range = {std::min(x - 1, std::nextafter(x, -INFINITY)), std::max(x + 1, std::nextafter(x, INFINITY))};
    }
    std::array<int, 512> at;
    const bool few = numbers.size() <= at.size();  // if so, only the bins that they fall into are visited
    // Consecutive numbers often share a bin: with two tables, a count need not wait for the one before it.
    std::array<std::int32_t, bins> found{};
    std::array<std::int32_t, bins> of_others;
    if (!few) of_others.fill(0);
    std::int32_t* const odd = few ? found.data() : of_others.data();
    for (; !numbers.empty(); numbers = numbers.subspan(std::min(at.size(), numbers.size()))) {
        const std::span<const float> some = numbers.first(std::min(at.size(), numbers.size()));
        cpu_has_avx2() ? detail::find_bins_fused(some, range, bins, at)
                       : detail::find_bins(some, range, bins, at);
        const std::span<const int> bins_of = std::span(at).first(some.size());
        for (std::size_t i = 0; i + 1 < bins_of.size(); i += 2) {
            ++found[static_cast<std::size_t>(bins_of[i])];
            ++odd[bins_of[i + 1]];
        }
        if (bins_of.size() % 2 == 1) ++found[static_cast<std::size_t>(bins_of.back())];
        for (std::size_t i = 0; few && i != bins_of.size(); ++i) {
            const auto bin = static_cast<std::size_t>(bins_of[i]);
            if (found[bin] != 0) counts_[bin] += static_cast<float>(std::exchange(found[bin], 0));
        }
    }
    if (few) return;
    using table = Eigen::Map<const Eigen::Array<std::int32_t, bins, 1>>;
    Eigen::Map<Eigen::ArrayXf>(counts_.data(), bins) +=
        (table(found.data()) + table(of_others.data())).cast<float>();
}

void histogram::widen(value_range range) {
    constexpr float parts = 16;
    std::array<int, bins + 1> first;
    cpu_has_avx2() ? detail::find_first_parts_fused(range_, range, first)
                   : detail::find_first_parts(range_, range, first);
    Eigen::Map<Eigen::ArrayXf>(counts_.data(), bins) /= parts;
    std::vector<float> counts(bins, 0);
    detail::add_parts(counts_, first, counts);
    counts_ = std::move(counts);
    range_ = range;
}

void histogram::feed(std::span<const float> numbers, const observed_range& own) {
    if (own.range.empty()) return;
    const value_range wide{
        std::min(range_.lowest, own.range.lowest), std::max(range_.highest, own.range.highest)};
    if (empty()) {
        counts_.assign(bins, 0);
        range_ = wide;
    } else if (wide != range_ && range_.lowest == range_.highest) {
        const float sum = total();
        const float only = std::exchange(range_, wide).lowest;
        counts_.assign(bins, 0);
        add(std::span(&only, 1));
        for (float& c : counts_) c *= sum;
    } else if (wide != range_) {
        widen(wide);
    }
    if (own.undefined + own.infinite == 0) return add(numbers);
    std::vector<float> counted;
    std::ranges::copy_if(numbers, std::back_inserter(counted), has_extent);
    add(counted);
}

// Adds in the order of PyTorch's vectorized sum: 32 columns of 64 rows, in blocks of 16 rows.
float histogram::total() const {
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

double histogram::loss(int start, int end, std::int64_t levels) const {
    double wide = (static_cast<double>(range_.highest) - static_cast<double>(range_.lowest)) / bins;
    // Losses are cubes in float32. Scaling by a power of two changes none of their bits, and prevents
    // overflow and underflow for very large and very small numbers.
    constexpr double moderate = 1e6;
    if (wide > moderate || (wide > 0 && wide < 1 / moderate)) wide = std::ldexp(wide, -std::ilogb(wide));
    const double level = wide * (end - start + 1) / static_cast<double>(levels);
    if (level == 0) return 0;
    const detail::quantized_bins quantized{.start = start,
        .bin = static_cast<float>(wide),
        .level = static_cast<float>(level),
        .half_level = static_cast<float>(level / 2),
        .last_level = static_cast<double>(levels - 1)};
    std::array<float, bins> losses;
    detail::losses_of_bins(counts_, quantized, losses);
    double sum = 0;
    for (std::size_t i = 0; i != losses.size(); ++i) {
        if (counts_[i] != 0) sum += static_cast<double>(losses[i]);  // the loss of an empty bin may be NaN
    }
    return sum;
}

value_range histogram::least_loss(std::int64_t levels) const {
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

value_range histogram::percentile(double percent) const {
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

double histogram::square_error(value_range range, const tensor_scheme& scheme) const {
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

value_range histogram::least_square(const tensor_scheme& scheme) const {
    if (empty()) return range_;
    constexpr int steps = 40;
    constexpr double smallest = 0.2;
    value_range best = range_;
    double least = square_error(best, scheme);
    // The best lower end may depend on the upper one, so both are searched twice.
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
