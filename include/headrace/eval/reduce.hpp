// SPDX-License-Identifier: MIT
// Defines headrace::reduction, which maps elements of an operand to elements of a reduced result.
#ifndef HEADRACE_EVAL_REDUCE_HPP
#define HEADRACE_EVAL_REDUCE_HPP

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <headrace/eval/map.hpp>

namespace headrace::eval {

/// Maps elements of an operand whose indices differ only in reduced axes to one element of the result.
class reduction {
public:
    /// No axes means all axes.
    reduction(const extents& shape, std::span<const std::int64_t> axes)
        : shape_(shape), strides_(shape.size(), 0) {
        std::vector<bool> reduced(shape_.size(), axes.empty());
        for (const std::int64_t axis : axes) {
            if (!shape_.empty()) reduced[wrap_axis(axis, shape_.size())] = true;
        }
        for (std::size_t d = shape_.size(); d-- > 0;) {
            if (reduced[d]) continue;
            strides_[d] = results_;
            results_ *= shape_[d];
        }
    }

    [[nodiscard]] std::int64_t result_count() const { return results_; }
    /// Returns the number of elements reduced into each result.
    [[nodiscard]] std::int64_t count() const { return results_ == 0 ? 0 : elements_in(shape_) / results_; }

    /// True if the elements of each result are contiguous.
    [[nodiscard]] bool takes_rows() const {
        bool reduced = false;
        for (std::size_t d = 0; d != shape_.size(); ++d) {
            if (shape_[d] == 1) continue;
            if (reduced && strides_[d] != 0) return false;
            reduced = reduced || strides_[d] == 0;
        }
        return true;
    }

    /// Calls `f(i, r)` for each element i, which is reduced into result r.
    template <class F>
    void for_each(F f) const {
        std::size_t i = 0;
        for_each_index<1>(shape_, {strides_}, [&](const auto& at) { f(i++, idx(at[0])); });
    }
    /// Computes result = f(result, element), starting from `first`.
    template <class T, class F>
    [[nodiscard]] std::vector<T> fold(const std::vector<T>& elements, T first, F f) const {
        std::vector<T> results(idx(results_), first);
        for_each([&](std::size_t i, std::size_t r) { results[r] = f(results[r], elements[i]); });
        return results;
    }
    [[nodiscard]] std::vector<double> mean(const std::vector<double>& elements) const {
        std::vector<double> results = fold(elements, 0.0, plus());
        for (double& x : results) x /= static_cast<double>(count());
        return results;
    }
    /// Returns the sum of squared differences from the mean, divided by count() - correction.
    [[nodiscard]] std::vector<double> variance(const std::vector<double>& elements, double correction) const {
        const std::vector<double> means = mean(elements);
        std::vector<double> results(idx(results_), 0.0);
        for_each([&](std::size_t i, std::size_t r) {
            const double difference = elements[i] - means[r];
            results[r] += difference * difference;
        });
        const double divisor = std::max(0.0, static_cast<double>(count()) - correction);
        for (double& x : results) x /= divisor;
        return results;
    }

private:
    extents shape_;
    extents strides_;
    std::int64_t results_ = 1;
};

/// Returns the axes of an op, in any form that its schema has.
[[nodiscard]] inline extents axes_list(std::nullopt_t) { return {}; }
[[nodiscard]] inline extents axes_list(std::int64_t axis) { return {axis}; }
[[nodiscard]] inline extents axes_list(const int_list& axes) { return extents(axes.begin(), axes.end()); }
template <class Axes>
[[nodiscard]] extents axes_list(const std::optional<Axes>& axes) {
    return axes ? axes_list(*axes) : extents();
}

/// A value below or above all numbers.
template <class T>
[[nodiscard]] constexpr T lowest_number() {
    using limits = std::numeric_limits<T>;
    return limits::has_infinity ? -limits::infinity() : limits::lowest();
}
template <class T>
[[nodiscard]] constexpr T highest_number() {
    using limits = std::numeric_limits<T>;
    return limits::has_infinity ? limits::infinity() : limits::max();
}

/// Returns the position along the axis of the element that `beats` all before it; NaN beats everything.
template <class F>
[[nodiscard]] std::vector<std::int64_t> positions_of_best(const tensor& in, const axis_view& view, F beats) {
    std::vector<std::int64_t> best;
    best.reserve(idx(view.outer * view.inner));
    visit_compute(in.type(), [&]<class T>(T) {
        const std::vector<T> numbers = in.to<T>();
        view.for_each_line([&](std::int64_t o, std::int64_t k) {
            std::int64_t at = 0;
            for (std::int64_t i = 1; i < view.size; ++i) {
                const T x = numbers[view.at(o, i, k)];
                const T y = numbers[view.at(o, at, k)];
                if (y == y && (x != x || beats(x, y))) at = i;
            }
            best.push_back(at);
        });
    });
    return best;
}

}  // namespace headrace::eval

#endif
