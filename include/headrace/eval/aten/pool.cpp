// SPDX-License-Identifier: MIT
// Defines the kernels of ATen's poolings.
#include <headrace/eval/aten/pool.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>
#include <headrace/eval/volume.hpp>

namespace headrace::eval {

namespace {

[[nodiscard]] inline std::int64_t planes_of(const tensor& in, const triple& plane) {
    return volume_of(plane) == 0 ? 0 : in.size() / volume_of(plane);
}

}  // namespace

triple pooled_sizes(const extents& shape, std::size_t count) {
    return triple_of(std::span(shape).last(count), count, 1);
}
pool_ranges pool_ranges_of(const triple& in, const triple& out, const pool_arguments& a) {
    const triple kernel = triple_of(a.kernel, a.count, 1);
    const triple stride = triple_of(a.stride.empty() ? a.kernel : a.stride, a.count, 1);
    const triple before = triple_of(a.padding, a.count, 0);
    const triple dilation = triple_of(a.dilation, a.count, 1);
    pool_ranges ranges;
    for (std::size_t d = 0; d != 3; ++d) {
        ranges[d] = ranges_of({in[d], out[d], kernel[d], stride[d], before[d], dilation[d], a.count_padding});
    }
    return ranges;
}
void max_pool(evaluation& e, value self, const triple& in, const pool_ranges& ranges, bool nan_counts) {
    const tensor& from = e.input(self);
    const auto plane = static_cast<std::size_t>(volume_of(in));
    std::vector<std::int64_t> best;
    best.reserve(idx(e.output(0).size()));
    visit_compute(from.type(), [&]<class T>(T) {
        const std::vector<T> numbers = from.to<T>();
        const auto element = [&](std::size_t i) {
            std::int64_t& at = best.back();
            const bool is_nan = nan_counts && numbers[i] != numbers[i];
            if (at < 0 || numbers[i] > numbers[idx(at)] || is_nan) at = static_cast<std::int64_t>(i);
        };
        pool(
            planes_of(from, in), in, ranges, [&](std::int64_t) { best.push_back(-1); }, element);
    });
    visit_width(from.type(), [&]<class U>(U) {
        const std::span<U> out = e.output(0).mutable_data<U>();
        for (std::size_t i = 0; i != best.size(); ++i) {
            if (best[i] >= 0) out[i] = from.data<U>()[idx(best[i])];
        }
    });
    if (e.output_count() == 1 || !e.is_known(1)) return;
    for (std::int64_t& at : best) at = at < 0 ? 0 : static_cast<std::int64_t>(idx(at) % plane);
    e.output(1).assign(best);
}

namespace {

[[nodiscard]] inline pool_ranges adaptive_pool_ranges(const triple& in, const triple& out) {
    pool_ranges ranges;
    for (std::size_t d = 0; d != 3; ++d) ranges[d] = adaptive_ranges(in[d], out[d]);
    return ranges;
}

template <class T>
void average_pool_as(evaluation& e, value self, const triple& in, const pool_ranges& ranges,
    std::optional<std::int64_t> divisor) {
    const std::vector<T> numbers = e.input(self).to<T>();
    std::vector<T> out;
    out.reserve(idx(e.output().size()));
    T last_divisor = 1;
    const auto finish_last = [&] {
        if (!out.empty()) out.back() /= last_divisor;
    };
    const auto begin = [&](std::int64_t weight) {
        finish_last();
        out.push_back(0);
        last_divisor = static_cast<T>(divisor.value_or(weight));
    };
    pool(planes_of(e.input(self), in), in, ranges, begin, [&](std::size_t i) { out.back() += numbers[i]; });
    finish_last();
    e.output().assign(out);
}
inline void average_pool(evaluation& e, value self, const triple& in, const pool_ranges& ranges,
    std::optional<std::int64_t> divisor = std::nullopt) {
    if (is_float32(e, self)) return average_pool_as<float>(e, self, in, ranges, divisor);
    average_pool_as<double>(e, self, in, ranges, divisor);
}

template <class Op>
constexpr std::size_t pool_dimensions = 0;
template <>
constexpr std::size_t pool_dimensions<aten::avg_pool1d> = 1;
template <>
constexpr std::size_t pool_dimensions<aten::avg_pool2d> = 2;
template <>
constexpr std::size_t pool_dimensions<aten::avg_pool3d> = 3;
template <>
constexpr std::size_t pool_dimensions<aten::max_pool1d> = 1;
template <>
constexpr std::size_t pool_dimensions<aten::max_pool1d_with_indices> = 1;
template <>
constexpr std::size_t pool_dimensions<aten::max_pool2d> = 2;
template <>
constexpr std::size_t pool_dimensions<aten::max_pool2d_with_indices> = 2;
template <>
constexpr std::size_t pool_dimensions<aten::max_pool3d> = 3;
template <>
constexpr std::size_t pool_dimensions<aten::adaptive_avg_pool1d> = 1;
template <>
constexpr std::size_t pool_dimensions<aten::adaptive_avg_pool2d> = 2;
template <>
constexpr std::size_t pool_dimensions<aten::_adaptive_avg_pool2d> = 2;
template <>
constexpr std::size_t pool_dimensions<aten::adaptive_avg_pool3d> = 3;
template <>
constexpr std::size_t pool_dimensions<aten::_adaptive_avg_pool3d> = 3;
template <>
constexpr std::size_t pool_dimensions<aten::max_pool3d_with_indices> = 3;
template <>
constexpr std::size_t pool_dimensions<aten::adaptive_max_pool1d> = 1;
template <>
constexpr std::size_t pool_dimensions<aten::adaptive_max_pool2d> = 2;
template <>
constexpr std::size_t pool_dimensions<aten::adaptive_max_pool3d> = 3;

template <one_of<ops<aten::avg_pool1d, aten::avg_pool2d, aten::avg_pool3d>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    constexpr std::size_t count = pool_dimensions<Op>;
    const triple in = pooled_sizes(e.input(a.self).shape(), count);
    const pool_arguments p{count, a.kernel_size, a.stride, a.padding, {}, a.count_include_pad};
    const pool_ranges ranges = pool_ranges_of(in, pooled_sizes(e.output_shape(), count), p);
    if constexpr (requires { a.divisor_override; }) {
        average_pool(e, a.self, in, ranges, a.divisor_override);
    } else {
        average_pool(e, a.self, in, ranges);
    }
}
template <one_of<ops<aten::max_pool1d, aten::max_pool1d_with_indices, aten::max_pool2d,
    aten::max_pool2d_with_indices, aten::max_pool3d, aten::max_pool3d_with_indices>>
        Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    constexpr std::size_t count = pool_dimensions<Op>;
    const triple in = pooled_sizes(e.input(a.self).shape(), count);
    const pool_arguments p{count, a.kernel_size, a.stride, a.padding, a.dilation, false};
    max_pool(e, a.self, in, pool_ranges_of(in, pooled_sizes(e.output_shape(), count), p));
}
template <one_of<ops<aten::adaptive_avg_pool1d, aten::adaptive_avg_pool2d, aten::_adaptive_avg_pool2d,
    aten::adaptive_avg_pool3d, aten::_adaptive_avg_pool3d>>
        Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    constexpr std::size_t count = pool_dimensions<Op>;
    const triple in = pooled_sizes(e.input(a.self).shape(), count);
    average_pool(e, a.self, in, adaptive_pool_ranges(in, pooled_sizes(e.output_shape(), count)));
}
template <one_of<ops<aten::adaptive_max_pool1d, aten::adaptive_max_pool2d, aten::adaptive_max_pool3d>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    constexpr std::size_t count = pool_dimensions<Op>;
    const triple in = pooled_sizes(e.input(a.self).shape(), count);
    max_pool(e, a.self, in, adaptive_pool_ranges(in, pooled_sizes(e.output_shape(), count)));
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_pool_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
