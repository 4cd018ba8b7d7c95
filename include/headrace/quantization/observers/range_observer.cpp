// SPDX-License-Identifier: MIT
// Defines the members of headrace::range_observer.

#include <headrace/quantization/observers/range_observer.hpp>

#include <algorithm>
#include <span>

namespace headrace {

void range_observer::feed(
    std::span<const float> numbers, const observed_range& observed, std::size_t point, std::size_t count) {
    const value_range& own = observed.range;
    undefined_ += observed.undefined;
    if (observed.extreme.lowest < lowest_.number) lowest_ = {observed.extreme.lowest, point};
    if (observed.extreme.highest > highest_.number) highest_ = {observed.extreme.highest, point};
    large_ = {
        std::min(large_.lowest, observed.large.lowest), std::max(large_.highest, observed.large.highest)};
    if (own.empty()) return;
    count_ += count;
    const bool first = seen_.empty();
    seen_ = {std::min(seen_.lowest, own.lowest), std::max(seen_.highest, own.highest)};
    if (scheme_.observer == observer_kind::moving_average) {
        constexpr float weight = 0.01F;  // torchao's averaging_constant
        average_ = first ? own
                         : value_range{average_.lowest + weight * (own.lowest - average_.lowest),
                               average_.highest + weight * (own.highest - average_.highest)};
    } else if (needs_numbers()) {
        numbers_.feed(numbers, observed);
    }
}

value_range range_observer::range() const {
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

}  // namespace headrace
