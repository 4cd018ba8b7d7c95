// SPDX-License-Identifier: MIT
// Defines the functions of headrace/eval/volume.hpp.
#include <headrace/eval/volume.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>

#include <headrace/base/ceil_div.hpp>
#include <headrace/eval/product.hpp>

namespace headrace::eval {

triple triple_of(std::span<const std::int64_t> items, std::size_t count, std::int64_t missing) {
    triple t{missing, missing, missing};
    for (std::size_t d = 0; d != count && !items.empty(); ++d) {
        t[3 - count + d] = items.size() == 1 ? items[0] : items[items.size() - count + d];
    }
    return t;
}

std::vector<double> convolve(const convolution_shape& s, std::span<const double> in,
    std::span<const double> weight, std::span<const double> bias) {
    const std::int64_t channels = s.channels / s.groups;
    const std::int64_t features = s.features / s.groups;
    const std::int64_t rows = channels * volume_of(s.kernel);
    const std::int64_t columns = volume_of(s.out);
    std::vector<double> out(idx(s.batch * s.features * columns));
    fill_with_bias<double>(out, bias, s.features, columns);
    patch_matrix<double> patches(s);
    for (std::int64_t i = 0; i != s.batch * s.groups; ++i) {
        add_product(weight.data() + i % s.groups * features * rows,
            patches.of(in.data() + i * channels * volume_of(s.in)), out.data() + i * features * columns,
            features, rows, columns);
    }
    return out;
}

std::vector<double> convolve_transposed(const convolution_shape& s, std::span<const double> in,
    std::span<const double> weight, std::span<const double> bias) {
    const std::int64_t channels = s.channels / s.groups;
    const std::int64_t features = s.features / s.groups;
    const std::int64_t rows = channels * volume_of(s.kernel);
    const std::int64_t columns = volume_of(s.out);
    std::vector<double> out(idx(s.batch * s.channels * volume_of(s.in)));
    fill_with_bias<double>(out, bias, s.channels, volume_of(s.in));
    for (std::int64_t i = 0; i != s.batch * s.groups; ++i) {
        const Eigen::Map<const matrix<double>> filters(
            weight.data() + i % s.groups * features * rows, features, rows);
        const Eigen::Map<const matrix<double>> from(in.data() + i * features * columns, features, columns);
        const matrix<double> patches = filters.transpose() * from;
        double* to = out.data() + i * channels * volume_of(s.in);
        for_each_tap(s, channels, [&](const tap_line& t) {
            for (std::int64_t k = 0; k != t.count; ++k) to[t.at + k * t.step] += patches(t.row, t.column + k);
        });
    }
    return out;
}

std::vector<pool_range> ranges_of(const pool_axis& p) {
    std::vector<pool_range> ranges;
    ranges.reserve(idx(p.out));
    for (std::int64_t o = 0; o != p.out; ++o) {
        const std::int64_t start = o * p.stride - p.before;
        const std::int64_t first = start >= 0 ? start : start + ceil_div(-start, p.dilation) * p.dilation;
        const std::int64_t end = std::min(start + (p.kernel - 1) * p.dilation + 1, p.size);
        const std::int64_t padded_end = std::min(start + p.kernel, p.size + p.before);
        ranges.push_back({first, end, p.dilation,
            p.count_padding ? padded_end - start : std::max<std::int64_t>(0, end - first)});
    }
    return ranges;
}

std::vector<pool_range> adaptive_ranges(std::int64_t size, std::int64_t out) {
    std::vector<pool_range> ranges;
    ranges.reserve(idx(out));
    for (std::int64_t o = 0; o != out; ++o) {
        const std::int64_t first = o * size / out;
        const std::int64_t end = ceil_div((o + 1) * size, out);
        ranges.push_back({first, end, 1, end - first});
    }
    return ranges;
}

}  // namespace headrace::eval
