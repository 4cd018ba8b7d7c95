// SPDX-License-Identifier: MIT
// Defines headrace::histogram, the distribution of a stream of tensors, and the ranges that follow from it.
#ifndef HEADRACE_QUANTIZATION_HISTOGRAM_HPP
#define HEADRACE_QUANTIZATION_HISTOGRAM_HPP

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <headrace/quantization/tensor_scheme.hpp>

namespace headrace {

/// Does a number say how wide a range is? Infinities do not, nor does what stands for them, such as the
/// lowest float32 in an attention mask: they saturate. What is left can be multiplied by the bins of a
/// histogram.
[[nodiscard]] inline bool has_extent(float x) { return std::abs(x) <= 1e34F; }

/// True if a number on its way to a softmax leaves its element out: minus infinity, and what models write for
/// it, from -1e4 to the lowest float32. No computed score is as low.
[[nodiscard]] inline bool excludes(double x, bool low = true) {
    constexpr double bound = 1e4;
    return low ? x <= -bound : x >= bound;
}
/// True if `x` excludes after scores may have been added to it, such as 3 - 1e4.
[[nodiscard]] inline bool seems_excluding(float x, bool low = true) {
    return excludes(2 * static_cast<double>(x), low);
}

/// The range of the numbers that have extent, and how many have none.
struct observed_range {
    value_range range;
    std::size_t undefined = 0;  ///< NaN
    std::size_t infinite = 0;   ///< infinities and what stands for them
    value_range large{};        ///< of those that stand for them, infinities left out
    value_range extreme{};      ///< of all, infinities among them
};
[[nodiscard]] observed_range range_of(std::span<const float> numbers);

/// 2048 equal bins over the range of all numbers so far; when the range grows, what was counted is counted
/// anew from the middles of sixteenths of bins (torchao, HistogramObserver). Counts are float32, and every
/// step is rounded as there, so that ranges are the same to the last bit. Numbers that mean infinity are left
/// out.
class histogram {
public:
    static constexpr int bins = 2048;

    void feed(std::span<const float> numbers) { feed(numbers, range_of(numbers)); }
    /// The same where their range is known.
    void feed(std::span<const float> numbers, const observed_range& own);

    [[nodiscard]] bool empty() const { return range_.empty(); }
    [[nodiscard]] const value_range& range() const { return range_; }
    [[nodiscard]] std::span<const float> counts() const { return counts_; }

    /// The bins that lose least when they are quantized to `levels` numbers: ends are dropped as long as the
    /// loss does not grow (torchao, HistogramObserver._non_linear_param_search).
    [[nodiscard]] value_range least_loss(std::int64_t levels) const;
    /// All numbers but that share of them at each end: 99.99 leaves out 0.01 % below and as much above.
    [[nodiscard]] value_range percentile(double percent) const;
    /// The range with the smallest mean square error among those that shrink each end in 40 steps, one after
    /// the other (Nagel et al., A White Paper on Neural Network Quantization, arXiv:2106.08295, section 3).
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

#ifndef HEADRACE_COMPILED
#include <headrace/quantization/histogram_definition.hpp>
#endif

#endif
