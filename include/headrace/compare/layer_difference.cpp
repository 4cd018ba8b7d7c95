// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/layer_difference.hpp.

#include <headrace/compare/layer_difference.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headrace {

namespace detail {

eval::extents with_channels_last(std::span<const std::int64_t> shape) {
    eval::extents moved(shape.begin(), shape.end());
    std::rotate(moved.begin() + 1, moved.begin() + 2, moved.end());
    return moved;
}

}  // namespace detail

integer_meaning meaning_of(double scale, double offset, std::int64_t lowest, std::int64_t highest) {
    const double one = scale * (static_cast<double>(lowest) - 0.5) + offset;
    const double end = scale * (static_cast<double>(highest) + 0.5) + offset;
    return {scale, offset, std::min(one, end), std::max(one, end)};
}

namespace {

eval::extents without_ones(std::span<const std::int64_t> shape) {
    eval::extents kept;
    std::ranges::copy_if(shape, std::back_inserter(kept), [](std::int64_t size) { return size != 1; });
    return kept;
}

// Appends to `order` in all ways that the sizes allow, first axes first.
void extend_order(const eval::extents& exported, const eval::extents& lowered, element_order& order,
    std::vector<element_order>& found) {
    constexpr std::size_t max_orders = 24;  // for tensors whose axes all have the same size
    if (found.size() == max_orders) return;
    if (order.size() == exported.size()) {
        found.push_back(order);
        return;
    }
    for (std::size_t axis = 0; axis != lowered.size(); ++axis) {
        const bool used = std::ranges::find(order, axis) != order.end();
        if (used || lowered[axis] != exported[order.size()]) continue;
        order.push_back(axis);
        extend_order(exported, lowered, order, found);
        order.pop_back();
    }
}

}  // namespace

std::vector<element_order> possible_orders(
    std::span<const std::int64_t> exported, std::span<const std::int64_t> lowered) {
    std::vector<element_order> found;
    const eval::extents from = without_ones(exported);
    const eval::extents to = without_ones(lowered);
    // With equal sizes every prefix can be completed, so the search never backtracks in vain.
    if (from.size() != to.size() || !std::ranges::is_permutation(from, to)) return found;
    element_order order;
    extend_order(from, to, order, found);
    return found;
}

std::vector<double> elements_in_order(const tensor& t, const element_order& order) {
    if (std::ranges::is_sorted(order)) return t.to<double>();
    return eval::permuted(t.reshaped(without_ones(t.shape())), order).to<double>();
}

void layer_sums::add(
    std::span<const double> reference, std::span<const double> numbers, const integer_meaning& by) {
    for (std::size_t i = 0; i != reference.size(); ++i) {
        const double x = reference[i];
        const double y = by.scale * numbers[i] + by.offset;
        if (x == y || (std::isnan(x) && std::isnan(y))) {  // also true for infinities
            if (std::isfinite(x)) signal += x * x, other += y * y, product += x * y;
        } else {
            const double d = std::fabs(x - y);
            largest = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(largest, d);
            noise += d * d;
            signal += x * x;
            other += y * y;
            product += x * y;
        }
        beyond += x < by.lowest || x > by.highest ? 1 : 0;
    }
    count += static_cast<double>(reference.size());
}

double layer_sums::noise_ratio() const {
    if (noise == 0) return 0;
    const double ratio = noise / signal;
    return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
}

double layer_sums::cosine() const {
    if (signal == 0 && other == 0) return 1;
    const double c = product / std::sqrt(signal * other);
    return std::isnan(c) ? 0 : c;
}

void fit_sums::add(std::span<const double> reference, std::span<const double> numbers) {
    for (std::size_t i = 0; i != reference.size(); ++i) {
        q += numbers[i];
        x += reference[i];
        qq += numbers[i] * numbers[i];
        qx += numbers[i] * reference[i];
        xx += reference[i] * reference[i];
    }
    count += static_cast<double>(reference.size());
}

}  // namespace headrace
