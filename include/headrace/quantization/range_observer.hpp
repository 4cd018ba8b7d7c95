// SPDX-License-Identifier: MIT
// Defines headrace::range_observer, which follows the numbers of a tensor over the samples.
#ifndef HEADRACE_QUANTIZATION_RANGE_OBSERVER_HPP
#define HEADRACE_QUANTIZATION_RANGE_OBSERVER_HPP

#include <algorithm>
#include <cmath>
#include <span>

#include <headrace/quantization/histogram.hpp>

namespace headrace {

/// What an observer has seen of the tensors of one group, in the order in which they were fed. Numbers
/// without extent are left out: they saturate. So is NaN, which is counted.
class range_observer {
public:
    explicit range_observer(const tensor_scheme& scheme) : scheme_(scheme) {}

    void feed(std::span<const float> numbers) { feed(numbers, range_of(numbers)); }
    /// The same where their range is known.
    void feed(std::span<const float> numbers, const observed_range& observed) {
        const value_range& own = observed.range;
        undefined_ += observed.undefined;
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

    /// The range to be quantized.
    [[nodiscard]] value_range range() const {
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
    /// The smallest and the largest number that was fed.
    [[nodiscard]] const value_range& seen() const { return seen_; }
    [[nodiscard]] std::size_t count() const { return count_; }
    /// How many were NaN.
    [[nodiscard]] std::size_t undefined() const { return undefined_; }

private:
    tensor_scheme scheme_;
    value_range seen_;
    value_range average_;
    histogram numbers_;
    std::size_t count_ = 0;
    std::size_t undefined_ = 0;
};

}  // namespace headrace

#endif
