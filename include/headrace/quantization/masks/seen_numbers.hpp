// SPDX-License-Identifier: MIT
// Defines headrace::seen_numbers, which tells numbers that stand for infinity from others, and
// headrace::see_numbers, which runs a graph on samples to observe the numbers of some values.
#ifndef HEADRACE_QUANTIZATION_MASKS_SEEN_NUMBERS_HPP
#define HEADRACE_QUANTIZATION_MASKS_SEEN_NUMBERS_HPP

#include <algorithm>
#include <span>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/quantization/observers/observe.hpp>

namespace headrace {

/// The numbers observed in a value over all samples.
struct seen_numbers {
    static constexpr std::size_t few = 16;

    value_range ordinary{};          ///< range of numbers that do not stand for infinity
    value_range low{}, high{};       ///< ranges of numbers that stand for minus and plus infinity
    std::vector<float> different{};  ///< in ascending order, unless there are many
    bool has_many = false;           ///< more than `few` distinct numbers
    bool has_excluded_row =
        false;  ///< numbers along some row of the requested axis are all finite and stand for minus infinity

    void add(float x);
    void add(const seen_numbers& other);

    [[nodiscard]] bool empty() const { return ordinary.empty() && low.empty() && high.empty(); }
    [[nodiscard]] bool excludes_some(bool is_low) const { return !(is_low ? low : high).empty(); }
    /// True if numbers standing for infinity are far from all others, as masks are and large numbers are not.
    [[nodiscard]] bool is_mask(bool is_low) const;
    [[nodiscard]] bool is_zero_or_one() const {
        const auto is_either = [](float x) { return x == 0 || x == 1; };
        return !empty() && !has_many && std::ranges::all_of(different, is_either);
    }
};

/// A value to observe; `axis` is an axis along which a softmax is taken.
struct seen_value {
    value source;
    std::optional<std::int64_t> axis{};
};

/// Returns the numbers of each value over all samples; empty without samples.
[[nodiscard]] result<std::vector<seen_numbers>> see_numbers(const graph& g,
    std::span<const seen_value> values, const sample_source& samples, const parallel_for& in_parallel);

}  // namespace headrace

#endif
