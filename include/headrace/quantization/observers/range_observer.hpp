// SPDX-License-Identifier: MIT
// Defines headrace::range_observer, which observes the numbers of a tensor over the samples.
#ifndef HEADRACE_QUANTIZATION_OBSERVERS_RANGE_OBSERVER_HPP
#define HEADRACE_QUANTIZATION_OBSERVERS_RANGE_OBSERVER_HPP

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
        feed(numbers, observed, point, numbers.size());
    }
    /// Like feed, for `count` numbers, which are only given if needs_numbers().
    void feed(
        std::span<const float> numbers, const observed_range& observed, std::size_t point, std::size_t count);
    /// True if the range depends on more than the smallest and the largest number of each tensor.
    [[nodiscard]] bool needs_numbers() const {
        return scheme_.observer != observer_kind::min_max &&
            scheme_.observer != observer_kind::moving_average;
    }

    /// Returns the range to be quantized.
    [[nodiscard]] value_range range() const;
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
