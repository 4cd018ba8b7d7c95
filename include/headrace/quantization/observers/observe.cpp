// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/observers/observe.hpp.

#include <headrace/quantization/observers/observe.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/strings.hpp>
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

// The points whose values observers are fed, by group.
class fed_points {
public:
    fed_points(const quantization_groups& groups, std::span<const quantization_point> points)
        : points_of_(groups.size()) {
        for (std::size_t i = 0; i != points.size(); ++i) {
            const auto group = points[i].group;
            if (groups.is_bias(group) || groups.scheme(group).per_channel || groups.scheme(group).fixed)
                continue;
            if (points_of_[group].empty()) groups_.push_back(group);
            points_of_[group].push_back(i);
        }
    }

    [[nodiscard]] std::span<const std::size_t> groups() const { return groups_; }
    [[nodiscard]] std::span<const std::size_t> points_of(std::size_t group) const {
        return points_of_[group];
    }

    /// Calls `f(point)` for each, in the order of a record.
    template <class F>
    void for_each(const F& f) const {
        for (const std::size_t group : groups_) {
            for (const std::size_t p : points_of_[group]) f(p);
        }
    }

    /// Returns a line for each point: its value, its group and the observer.
    [[nodiscard]] std::string text(
        const quantization_groups& groups, std::span<const quantization_point> points) const {
        std::string lines;
        for_each([&](std::size_t p) {
            const value v = points[p].source;
            lines += join_text(v.producer->name(), '#', v.result, ' ', points[p].group, ' ',
                static_cast<int>(groups.scheme(points[p].group).observer), '\n');
        });
        return lines;
    }

private:
    std::vector<std::vector<std::size_t>> points_of_;
    std::vector<std::size_t> groups_;
};

struct sample_values {
    std::vector<tensor> tensors;
    std::vector<observed_range> ranges;
    std::vector<std::size_t> counts;
};

result<sample_values> from_record(
    result<std::vector<observed_values>> recorded, const fed_points& fed, std::size_t points) {
    HEADRACE_TRY(given, std::move(recorded));
    sample_values values{
        std::vector<tensor>(points), std::vector<observed_range>(points), std::vector<std::size_t>(points)};
    std::size_t next = 0;
    bool is_short = false;
    fed.for_each([&](std::size_t p) {
        is_short = is_short || next == given.size();
        if (is_short) return;
        const observed_values& own = given[next++];
        values.ranges[p] = own.range;
        values.counts[p] = own.count;
        values.tensors[p] =
            tensor::of(dtype::float32, {static_cast<std::int64_t>(own.numbers.size())}, own.numbers);
    });
    if (is_short || next != given.size()) return malformed("the statistics are of other values");
    return values;
}

std::vector<observed_values> to_record(const sample_values& values, const fed_points& fed,
    std::span<const quantization_point> points, std::span<const range_observer> observers) {
    std::vector<observed_values> record;
    fed.for_each([&](std::size_t p) {
        observed_values& own = record.emplace_back();
        own.range = values.ranges[p];
        own.count = values.counts[p];
        const auto numbers = values.tensors[p].data<float>();
        if (observers[points[p].group].needs_numbers()) own.numbers.assign(numbers.begin(), numbers.end());
    });
    return record;
}

}  // namespace

result<std::vector<range_observer>> observe_ranges(const graph& g, const quantization_groups& groups,
    std::span<const quantization_point> points, const sample_source& samples, const parallel_for& in_parallel,
    std::span<const value> masks) {
    const point_runner runner(g, points);
    std::vector<range_observer> observers;
    for (quantization_groups::key k = 0; k != groups.size(); ++k) observers.emplace_back(groups.scheme(k));
    const fed_points fed(groups, points);
    const sample_statistics& statistics = samples.statistics;
    if (statistics.begin) {
        HEADRACE_TRY(statistics.begin(fed.text(groups, points)));
    }
    // Ranges are computed where samples run: samples run in parallel, but the readers of one tensor do not.
    const auto run_sample = [&](std::size_t i) -> result<sample_values> {
        if (statistics.recorded) return from_record(statistics.recorded(i), fed, points.size());
        HEADRACE_TRY(inputs, samples.inputs(i));
        HEADRACE_TRY(tensors, runner.run(inputs));
        sample_values values{std::move(tensors), std::vector<observed_range>(points.size()),
            std::vector<std::size_t>(points.size())};
        fed.for_each([&](std::size_t p) {
            const bool is_mask = std::ranges::find(masks, points[p].source) != masks.end();
            if (is_mask) values.tensors[p] = ordinary_numbers(values.tensors[p]);
            values.counts[p] = values.tensors[p].data<float>().size();
            values.ranges[p] = range_of(values.tensors[p].data<float>());
        });
        return values;
    };
    result<void> recorded;  // by one more reader, in the order of the samples
    const auto observe = [&](std::size_t i, const sample_values& values) {
        if (i == fed.groups().size()) {
            if (recorded) recorded = statistics.record(to_record(values, fed, points, observers));
            return;
        }
        range_observer& observer = observers[fed.groups()[i]];
        for (const std::size_t p : fed.points_of(fed.groups()[i])) {
            const auto numbers =
                observer.needs_numbers() ? values.tensors[p].data<float>() : std::span<const float>();
            observer.feed(numbers, values.ranges[p], p, values.counts[p]);
        }
    };
    const std::size_t readers = fed.groups().size() + (statistics.record ? 1 : 0);
    HEADRACE_TRY(read_in_order<sample_values>(samples.count, run_sample, readers, observe, in_parallel));
    HEADRACE_TRY(std::move(recorded));
    return observers;
}

}  // namespace headrace
