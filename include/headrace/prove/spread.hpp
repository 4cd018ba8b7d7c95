// SPDX-License-Identifier: MIT
// Defines headrace::prove::spread, the intervals of a tensor's elements by their position on one axis.
#ifndef HEADRACE_PROVE_SPREAD_HPP
#define HEADRACE_PROVE_SPREAD_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <headrace/base/sizes.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/infer/ranges/interval.hpp>

namespace headrace::prove {

/// The intervals of a tensor's elements: one for each position on `axis`, such as that of channels, or one
/// for all elements.
struct spread {
    static constexpr std::size_t no_axis = SIZE_MAX;

    std::size_t axis = no_axis;
    std::vector<interval> parts{interval{}};  ///< never empty

    spread() = default;
    spread(const interval& all) : parts{all} {}
    spread(std::size_t along, std::vector<interval> of_positions);

    [[nodiscard]] bool is_uniform() const { return axis == no_axis; }
    [[nodiscard]] const interval& at(std::size_t position) const {
        return parts[parts.size() == 1 ? 0 : position];
    }
    /// Returns the intervals along that axis: those of its positions, or that of all elements.
    [[nodiscard]] spread along(std::size_t wanted) const { return axis == wanted ? *this : spread(all()); }
    [[nodiscard]] interval all() const;
    template <class F>
    [[nodiscard]] spread mapped(F f) const {
        spread out = *this;
        std::ranges::transform(out.parts, out.parts.begin(), f);
        return out;
    }
};

/// Returns the axis along which two spreads are combined: that of the finer one.
[[nodiscard]] inline std::size_t common_axis(const spread& a, const spread& b) {
    return a.parts.size() >= b.parts.size() ? a.axis : b.axis;
}
/// Applies `f(interval, interval)` to elementwise operands of equal rank; sizes of 1 are broadcast.
template <class F>
[[nodiscard]] spread combined(const spread& a, const spread& b, F f) {
    const std::size_t axis = common_axis(a, b);
    const spread left = a.along(axis);
    const spread right = b.along(axis);
    std::vector<interval> parts(std::max(left.parts.size(), right.parts.size()));
    for (std::size_t i = 0; i != parts.size(); ++i) parts[i] = f(left.at(i), right.at(i));
    return {axis, std::move(parts)};
}
[[nodiscard]] inline spread joined(const spread& a, const spread& b) {
    return combined(a, b, [](const interval& x, const interval& y) { return x | y; });
}

/// Returns the intervals of known elements along the only axis longer than 1, or else along the last one.
[[nodiscard]] spread spread_of(const eval::tensor& known);
/// Returns the intervals after a reshape, as long as the axis remains apart, is merged or is divided.
[[nodiscard]] spread reshaped(const spread& a, sizes from, sizes to);
/// Returns the intervals after the sum, maximum, … over an axis of `count` elements: `fold(i, n)` is the
/// interval of the result of `n` elements in `i`, `join` that of the results of two groups.
[[nodiscard]] spread reduced(const spread& a, std::size_t over, std::int64_t count,
    const std::function<interval(const interval&, std::int64_t)>& fold,
    const std::function<interval(const interval&, const interval&)>& join);

}  // namespace headrace::prove

#endif
