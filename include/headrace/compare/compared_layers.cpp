// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/compared_layers.hpp.

#include <headrace/compare/compared_layers.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headrace::detail {

namespace {

integer_meaning meaning_of(const signature_quantization& q) {
    return headrace::meaning_of(q.scale, -q.scale * static_cast<double>(q.zero_point), q.lowest, q.highest);
}

}  // namespace

std::vector<double> real_numbers(const layer_value& layer, const tensor& t) {
    std::vector<double> numbers = t.to<double>();
    if (layer.numbers.scale == 0) return numbers;
    const integer_meaning by = meaning_of(layer.numbers);
    for (double& x : numbers) x = by.scale * x + by.offset;
    return numbers;
}

std::optional<integer_meaning> known_meaning(
    const layer_value& reference, const layer_value& other, const layer_value* between) {
    const dtype type = meta_of(other.stored)->dtype;
    const bool real = is_floating(meta_of(reference.stored)->dtype) || reference.numbers.scale != 0;
    if (is_floating(type) || !real) return integer_meaning{};
    if (other.numbers.scale != 0) return meaning_of(other.numbers);
    for (const layer_value* layer : {&reference, between}) {
        if (layer != nullptr && layer->numbers.scale != 0 && meta_of(layer->stored)->dtype == type)
            return meaning_of(layer->numbers);
    }
    return std::nullopt;
}

namespace {

// One fitted line for each order.
struct fits_by_order {
    std::vector<fit_sums> of;
    fits_by_order& operator+=(const fits_by_order& more) {
        of.resize(more.of.size());
        for (std::size_t i = 0; i != of.size(); ++i) of[i] += more.of[i];
        return *this;
    }
};

std::int64_t lowest_of(dtype t) { return -(std::int64_t{1} << (traits_of(t).bits - 1)); }

}  // namespace

result<void> settle(const graph& reference, const graph& other, std::vector<compared_layers>& pairs,
    const comparison_options& options) {
    if (std::ranges::none_of(pairs, &compared_layers::is_open)) return {};
    const pair_runner runner(reference, other, pairs, options);
    const auto add = [&](fits_by_order& sums, std::size_t i, const tensor& x, const tensor& y) {
        if (!pairs[i].is_open()) return;
        const std::vector<double> real = real_numbers(*pairs[i].reference, x);
        sums.of.resize(pairs[i].orders.size());
        for (std::size_t k = 0; k != sums.of.size(); ++k)
            sums.of[k].add(real, elements_in_order(y, pairs[i].orders[k]));
    };
    HEADRACE_TRY(fits, runner.sum<fits_by_order>(add));
    for (std::size_t i = 0; i != pairs.size(); ++i) {
        compared_layers& p = pairs[i];
        if (!p.is_open()) continue;
        const auto best = std::ranges::min_element(fits[i].of, {}, &fit_sums::residual);
        p.orders = {p.orders[static_cast<std::size_t>(best - fits[i].of.begin())]};
        if (p.meaning) continue;
        const fit_sums& fit = *best;
        const dtype type = meta_of(p.other->stored)->dtype;
        p.meaning = headrace::meaning_of(fit.scale(), fit.offset(), lowest_of(type), -lowest_of(type) - 1);
        p.fitted = true;
    }
    return {};
}

}  // namespace headrace::detail
