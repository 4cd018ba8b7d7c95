// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/masks/seen_numbers.hpp.

#include <headrace/quantization/masks/seen_numbers.hpp>

#include <headrace/quantization/observers/observe.hpp>
#include <headrace/quantization/observers/point_runner.hpp>

namespace headrace {

namespace {

// True if in some row along the axis all numbers are finite and stand for minus infinity.
bool has_excluded_row(const tensor& t, std::int64_t axis) {
    const auto at = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(t.rank()) : axis);
    if (at >= t.rank() || t.size() == 0 || t.type() != dtype::float32) return false;
    std::size_t inner = 1;
    for (std::size_t d = at + 1; d < t.rank(); ++d) inner *= static_cast<std::size_t>(t.dim(d));
    const auto length = static_cast<std::size_t>(t.dim(at));
    const auto numbers = t.data<float>();
    for (std::size_t outer = 0; outer != numbers.size(); outer += length * inner) {
        for (std::size_t i = 0; i != inner; ++i) {
            bool excluded = true;
            for (std::size_t k = 0; excluded && k != length; ++k) {
                const float x = numbers[outer + k * inner + i];
                excluded = seems_excluding(x) && std::isfinite(x);
            }
            if (excluded) return true;
        }
    }
    return false;
}

seen_numbers numbers_of(const tensor& t) {
    seen_numbers seen;
    if (t.type() == dtype::float32) {
        for (const float x : t.data<float>()) seen.add(x);
    } else {
        for (const double x : t.to<double>()) seen.add(static_cast<float>(x));
    }
    return seen;
}

}  // namespace

result<std::vector<seen_numbers>> see_numbers(const graph& g, std::span<const seen_value> values,
    const sample_source& samples, const parallel_for& in_parallel) {
    std::vector<quantization_point> points;
    for (const seen_value& v : values) points.push_back(observed_point(v.source));
    const point_runner runner(g, points);
    std::vector<std::vector<seen_numbers>> of_sample(samples.count);
    const auto see = [&](std::size_t s, std::span<const tensor> found) {
        for (std::size_t i = 0; i != values.size(); ++i) {
            of_sample[s].push_back(numbers_of(found[i]));
            if (values[i].axis)
                of_sample[s].back().has_excluded_row = has_excluded_row(found[i], *values[i].axis);
        }
    };
    HEADRACE_TRY(runner.run_samples(samples, samples.count, in_parallel, see));
    std::vector<seen_numbers> all(values.size());
    for (const std::vector<seen_numbers>& own : of_sample) {
        for (std::size_t i = 0; i != all.size(); ++i) all[i].add(own[i]);
    }
    return all;
}

void seen_numbers::add(float x) {
    if (std::isnan(x)) return;
    value_range& range = seems_excluding(x) ? low : seems_excluding(x, false) ? high : ordinary;
    range = {std::min(range.lowest, x), std::max(range.highest, x)};
    if (has_many || std::ranges::binary_search(different, x)) return;
    different.insert(std::ranges::upper_bound(different, x), x);
    has_many = different.size() > few;
}

void seen_numbers::add(const seen_numbers& other) {
    for (auto range : {&seen_numbers::ordinary, &seen_numbers::low, &seen_numbers::high}) {
        value_range& own = this->*range;
        const value_range& more = other.*range;
        own = {std::min(own.lowest, more.lowest), std::max(own.highest, more.highest)};
    }
    has_many = has_many || other.has_many;
    has_excluded_row = has_excluded_row || other.has_excluded_row;
    for (const float x : other.different) {
        if (!has_many) add(x);
    }
}

bool seen_numbers::is_mask(bool is_low) const {
    constexpr float distance = 8;
    if (!excludes_some(is_low)) return false;
    const float nearest = is_low ? -low.highest : high.lowest;
    return ordinary.empty() || distance * std::max(-ordinary.lowest, ordinary.highest) <= nearest;
}

}  // namespace headrace
