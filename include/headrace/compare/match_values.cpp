// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/match_values.hpp.

#include <headrace/compare/match_values.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/indices.hpp>
#include <range/v3/view/remove_if.hpp>
#include <range/v3/view/transform.hpp>

#include <headrace/compare/layer_difference.hpp>
#include <headrace/compare/layer_runner.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/run/signature_tensors.hpp>

namespace headrace {

namespace {

constexpr double least_likeness = 0.9;  // of the variance, explained by a line

std::vector<std::size_t> without(std::size_t count, const std::vector<bool>& taken) {
    return ranges::views::indices(count) |
        ranges::views::remove_if([&](std::size_t i) { return bool{taken[i]}; }) | ranges::to<std::vector>();
}

std::vector<value> values_of(std::span<const layer_value> layers, std::span<const std::size_t> which) {
    return which | ranges::views::transform([&](std::size_t i) { return layers[i].stored; }) |
        ranges::to<std::vector>();
}

// Returns how much of the variance of x a line through the other's numbers explains, in the best order.
double likeness(const tensor& x, const tensor& other) {
    if (x.size() != other.size()) return 0;
    double best = 0;
    const std::vector<double> reference = x.to<double>();
    for (const element_order& order : possible_orders(x.shape(), other.shape())) {
        fit_sums sums;
        sums.add(reference, elements_in_order(other, order));
        const double variance = sums.xx - sums.x * sums.x / sums.count;
        if (variance > 0) best = std::max(best, 1 - sums.residual() / variance);
    }
    return best;
}

// Returns the pairs of two lists, in the order of both, whose likenesses have the largest sum.
std::vector<layer_match> aligned(std::span<const tensor> a, std::span<const tensor> b) {
    std::vector<std::vector<double>> likenesses(a.size(), std::vector<double>(b.size()));
    std::vector<std::vector<double>> sums(a.size() + 1, std::vector<double>(b.size() + 1));
    for (std::size_t i = 0; i != a.size(); ++i) {
        for (std::size_t k = 0; k != b.size(); ++k) {
            likenesses[i][k] = likeness(a[i], b[k]);
            const double paired = likenesses[i][k] < least_likeness ? 0 : sums[i][k] + likenesses[i][k];
            sums[i + 1][k + 1] = std::max({sums[i][k + 1], sums[i + 1][k], paired});
        }
    }
    std::vector<layer_match> found;
    for (std::size_t i = a.size(), k = b.size(); i != 0 && k != 0;) {
        if (sums[i][k] == sums[i - 1][k]) {
            --i;
        } else if (sums[i][k] == sums[i][k - 1]) {
            --k;
        } else {
            found.push_back({--i, --k});
        }
    }
    std::ranges::reverse(found);
    return found;
}

}  // namespace

bool is_kernel_graph(const graph& g) {
    return g.census().contains(info_of_dialect<executorch::dialect>) ||
        g.census().contains(info_of_dialect<cortex_m::dialect>);
}

bool has_integer_kernels(const graph& g) {
    return g.census().contains(info_of_dialect<cortex_m::dialect>) ||
        std::ranges::any_of(g.regions(), [](const graph& region) { return has_integer_kernels(region); });
}

result<std::vector<layer_match>> match_values(const graph& reference, std::span<const layer_value> a,
    const graph& other, std::span<const layer_value> b, std::vector<layer_match> known,
    std::span<const tensor> inputs) {
    std::vector<bool> is_taken(a.size());
    std::vector<bool> is_other_taken(b.size());
    for (const layer_match m : known) {
        is_taken[m.reference] = true;
        is_other_taken[m.other] = true;
    }
    const std::vector<std::size_t> open = without(a.size(), is_taken);
    const std::vector<std::size_t> open_others = without(b.size(), is_other_taken);
    auto x = layer_runner(reference, values_of(a, open)).run(inputs);
    if (!x) return x.error().in("first model");
    auto y = layer_runner(other, values_of(b, open_others)).run(inputs_for(other, inputs));
    if (!y) return y.error().in("second model");
    for (const layer_match m : aligned(x.value(), y.value()))
        known.push_back({open[m.reference], open_others[m.other]});
    std::ranges::sort(known, {}, &layer_match::reference);
    return known;
}

}  // namespace headrace
