// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/observers/observe.hpp.

#include <headrace/quantization/observers/observe.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <headrace/base/text.hpp>
#include <headrace/quantization/observers/point_runner.hpp>
#include <headrace/quantization/read_in_order.hpp>

namespace headrace {

namespace {

// Returns the numbers that do not stand for infinity.
tensor ordinary_numbers(const tensor& t) {
    std::vector<float> kept;
    std::ranges::copy_if(
        t.data<float>(), std::back_inserter(kept), [](float x) { return !seems_excluding(-std::abs(x)); });
    return tensor::of(dtype::float32, {static_cast<std::int64_t>(kept.size())}, kept);
}

}  // namespace

result<std::vector<range_observer>> observe_ranges(const graph& g, const quantization_groups& groups,
    std::span<const quantization_point> points, const sample_source& samples, const parallel_for& in_parallel,
    std::span<const value> masks) {
    const point_runner runner(g, points);
    std::vector<range_observer> observers;
    std::vector<std::vector<std::size_t>> points_of(groups.size());
    for (quantization_groups::key k = 0; k != groups.size(); ++k) observers.emplace_back(groups.scheme(k));
    std::vector<std::size_t> fed;
    for (std::size_t i = 0; i != points.size(); ++i) {
        const auto group = points[i].group;
        if (groups.is_bias(group) || groups.scheme(group).per_channel || groups.scheme(group).fixed) continue;
        if (points_of[group].empty()) fed.push_back(group);
        points_of[group].push_back(i);
    }
    // Ranges are computed where samples run: samples run in parallel, but the readers of one tensor do not.
    struct sample_values {
        std::vector<tensor> tensors;
        std::vector<observed_range> ranges;
    };
    const auto run_sample = [&](std::size_t i) -> result<sample_values> {
        HEADRACE_TRY(inputs, samples.inputs(i));
        HEADRACE_TRY(tensors, runner.run(inputs));
        std::vector<observed_range> ranges(tensors.size());
        for (const std::size_t group : fed) {
            for (const std::size_t p : points_of[group]) {
                const bool is_mask = std::ranges::find(masks, points[p].source) != masks.end();
                if (is_mask) tensors[p] = ordinary_numbers(tensors[p]);
                ranges[p] = range_of(tensors[p].data<float>());
            }
        }
        return sample_values{std::move(tensors), std::move(ranges)};
    };
    const auto observe = [&](std::size_t i, const sample_values& values) {
        for (const std::size_t p : points_of[fed[i]])
            observers[fed[i]].feed(values.tensors[p].data<float>(), values.ranges[p], p);
    };
    HEADRACE_TRY(read_in_order<sample_values>(samples.count, run_sample, fed.size(), observe, in_parallel));
    return observers;
}

}  // namespace headrace
