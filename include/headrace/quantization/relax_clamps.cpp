// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/relax_clamps.hpp.

#include <headrace/quantization/relax_clamps.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/quantization/observers/observe.hpp>
#include <headrace/quantization/observers/point_runner.hpp>
#include <headrace/quantization/replacements.hpp>

namespace headrace {

namespace {

// Returns the upper bound of a clamp from 0; nothing for other nodes.
std::optional<double> bound_above_zero(const node& n) {
    constexpr double of_relu6 = 6;
    if (is<aten::relu6>(n)) return of_relu6;
    const auto* a = args_if<aten::hardtanh>(n);
    if (a == nullptr || a->min_val.to_double() != 0 || !(a->max_val.to_double() > 0)) return std::nullopt;
    return a->max_val.to_double();
}

// Returns the largest number of each point over all samples; infinity if any is NaN.
result<std::vector<float>> largest_numbers(const graph& g, std::span<const quantization_point> points,
    const sample_source& samples, const parallel_for& in_parallel) {
    constexpr float infinite = std::numeric_limits<float>::infinity();
    std::vector<std::vector<float>> of_sample(samples.count);
    const point_runner runner(g, points);
    const auto take_largest = [&](std::size_t s, std::span<const tensor> found) {
        for (const tensor& t : found) {
            float largest = -infinite;
            for (const float x : t.data<float>()) largest = std::max(largest, std::isnan(x) ? infinite : x);
            of_sample[s].push_back(largest);
        }
    };
    HEADRACE_TRY(runner.run_samples(samples, samples.count, in_parallel, take_largest));
    std::vector<float> largest(points.size(), -infinite);
    for (const std::vector<float>& own : of_sample) {
        for (std::size_t i = 0; i != largest.size(); ++i) largest[i] = std::max(largest[i], own[i]);
    }
    return largest;
}

}  // namespace

result<std::size_t> relax_clamps(graph& g, const sample_source& samples, const parallel_for& in_parallel) {
    std::vector<node*> clamps;
    std::vector<quantization_point> points;
    for (node& n : g.nodes()) {
        if (!bound_above_zero(n) || meta_of(n.result())->dtype != dtype::float32) continue;
        clamps.push_back(&n);
        points.push_back(observed_point(n.operand(0)));
    }
    if (clamps.empty()) return std::size_t{0};
    HEADRACE_TRY(largest, largest_numbers(g, points, samples, in_parallel));
    std::size_t replaced = 0;
    for (std::size_t i = 0; i != clamps.size(); ++i) {
        node& n = *clamps[i];
        if (static_cast<double>(largest[i]) >= *bound_above_zero(n)) continue;
        replace_with<aten::relu>(g, n, {.self = n.operand(0)});
        ++replaced;
    }
    return replaced;
}

}  // namespace headrace
