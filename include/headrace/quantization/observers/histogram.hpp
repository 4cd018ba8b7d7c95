// SPDX-License-Identifier: MIT
// Defines headrace::histogram, the distribution of a stream of tensors, and ranges derived from it.
#ifndef HEADRACE_QUANTIZATION_OBSERVERS_HISTOGRAM_HPP
#define HEADRACE_QUANTIZATION_OBSERVERS_HISTOGRAM_HPP

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <headrace/quantization/tensor_scheme.hpp>

namespace headrace {

/// True if a number counts towards a range. Infinities do not, nor do numbers that stand for them, such as
/// the lowest float32 in an attention mask: they saturate. All others can be multiplied by the number of bins
/// of a histogram without overflow.
[[nodiscard]] inline bool has_extent(float x) { return std::abs(x) <= 1e34F; }

/// True if a number that reaches a softmax excludes its element: minus infinity, or the numbers that models
/// use instead, from -1e4 to the lowest float32. Computed scores do not get this low.
[[nodiscard]] inline bool excludes(double x, bool low = true) {
    constexpr double threshold = 1e4;
    return low ? x <= -threshold : x >= threshold;
}
/// True if `x` excludes even after a score may have been added to it, such as 3 - 1e4.
[[nodiscard]] inline bool seems_excluding(float x, bool low = true) {
    return excludes(2 * static_cast<double>(x), low);
}

/// The range of the numbers that have extent, and how many have none.
struct observed_range {
    value_range range;
    std::size_t undefined = 0;  ///< NaN
    std::size_t infinite = 0;   ///< infinities and numbers that stand for them
    value_range large{};        ///< range of the finite numbers that stand for infinities
    value_range extreme{};      ///< range of all numbers, including infinities
};
[[nodiscard]] observed_range range_of(std::span<const float> numbers);

/// Has 2048 equal bins over the range of all numbers so far. When the range grows, counts are redistributed
/// by the middles of sixteenths of bins (torchao, HistogramObserver). Counts are float32, and every step
/// rounds as torchao does, so that ranges agree to the last bit. Numbers that stand for infinity are left
/// out.
class histogram {
public:
    static constexpr int bins = 2048;

    void feed(std::span<const float> numbers) { feed(numbers, range_of(numbers)); }
    /// Like feed(numbers), for a known range.
    void feed(std::span<const float> numbers, const observed_range& own);

    [[nodiscard]] bool empty() const { return range_.empty(); }
    [[nodiscard]] const value_range& range() const { return range_; }
    [[nodiscard]] std::span<const float> counts() const { return counts_; }

    /// Returns the range of bins with the smallest loss when quantized to `levels` levels: drops bins at the
    /// ends as long as the loss does not grow (torchao, HistogramObserver._non_linear_param_search).
    [[nodiscard]] value_range least_loss(std::int64_t levels) const;
    /// Returns the range without the extremes: 99.99 leaves out 0.01 % of the numbers at each end.
    [[nodiscard]] value_range percentile(double percent) const;
    /// Returns the range with the smallest mean square error among those that shrink each end in 40 steps,
    /// one end after the other (Nagel et al., A White Paper on Neural Network Quantization, arXiv:2106.08295,
    /// section 3).
    [[nodiscard]] value_range least_square(const tensor_scheme& scheme) const;

private:
    void add(std::span<const float> numbers);
    void widen(value_range range);
    [[nodiscard]] double loss(int start, int end, std::int64_t levels) const;
    [[nodiscard]] double square_error(value_range range, const tensor_scheme& scheme) const;
    [[nodiscard]] float total() const;

    value_range range_;
    std::vector<float> counts_;
};

}  // namespace headrace

#endif
