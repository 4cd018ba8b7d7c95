// SPDX-License-Identifier: MIT
// Defines headrace::range_observer, which observes the numbers of a tensor over the samples.
#ifndef HEADRACE_QUANTIZATION_OBSERVERS_RANGE_OBSERVER_HPP
#define HEADRACE_QUANTIZATION_OBSERVERS_RANGE_OBSERVER_HPP

#include <algorithm>
#include <cmath>
#include <span>

#include <headrace/quantization/observers/histogram.hpp>

namespace headrace {

/// A number, and the index of the point where it was first seen.
struct seen_extreme {
    float number = 0;
    std::size_t point = static_cast<std::size_t>(-1);
};

/// The numbers observed in the tensors of one group, in the order in which they were fed. Numbers without
/// extent are left out: they saturate, unless there are no others. NaNs are left out and counted.
class range_observer {
public:
    explicit range_observer(const tensor_scheme& scheme) : scheme_(scheme) {}

    void feed(std::span<const float> numbers) { feed(numbers, range_of(numbers)); }
    /// Like feed(numbers), for a known range; the numbers are those of point `point`.
    void feed(std::span<const float> numbers, const observed_range& observed, std::size_t point = 0) {
        const value_range& own = observed.range;
        undefined_ += observed.undefined;
        if (observed.extreme.lowest < lowest_.number) lowest_ = {observed.extreme.lowest, point};
        if (observed.extreme.highest > highest_.number) highest_ = {observed.extreme.highest, point};
        large_ = {
            std::min(large_.lowest, observed.large.lowest), std::max(large_.highest, observed.large.highest)};
        if (own.empty()) return;
        count_ += numbers.size();
        const bool first = seen_.empty();
        seen_ = {std::min(seen_.lowest, own.lowest), std::max(seen_.highest, own.highest)};
        if (scheme_.observer == observer_kind::moving_average) {
            constexpr float weight = 0.01F;  // torchao's averaging_constant
            average_ = first ? own
                             : value_range{average_.lowest + weight * (own.lowest - average_.lowest),
                                   average_.highest + weight * (own.highest - average_.highest)};
        } else if (scheme_.observer != observer_kind::min_max) {
            numbers_.feed(numbers, observed);
        }
    }

    /// Returns the range to be quantized.
    [[nodiscard]] value_range range() const {
        if (seen_.empty()) return large_;
        switch (scheme_.observer) {
            case observer_kind::histogram:
                return numbers_.least_loss(std::int64_t{1} << traits_of(scheme_.type).bits);
            case observer_kind::percentile:
                return numbers_.percentile(scheme_.percentile);
            case observer_kind::mean_square:
                return numbers_.least_square(scheme_);
            case observer_kind::moving_average:
                return average_;
            case observer_kind::min_max:
                break;
        }
        return seen_;
    }
    /// The smallest and the largest number with extent.
    [[nodiscard]] const value_range& seen() const { return seen_; }
    /// The smallest and the largest number, including infinities; 0 if none is negative, or positive.
    [[nodiscard]] const seen_extreme& lowest() const { return lowest_; }
    [[nodiscard]] const seen_extreme& highest() const { return highest_; }
    [[nodiscard]] std::size_t count() const { return count_; }
    /// The number of NaNs.
    [[nodiscard]] std::size_t undefined() const { return undefined_; }

private:
    tensor_scheme scheme_;
    value_range seen_;
    value_range average_;
    value_range large_;  // finite, without extent
    seen_extreme lowest_, highest_;
    histogram numbers_;
    std::size_t count_ = 0;
    std::size_t undefined_ = 0;
};

}  // namespace headrace

#endif
