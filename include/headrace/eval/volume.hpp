// SPDX-License-Identifier: MIT
// Defines headrace::convolve and headrace::pool: convolutions and poolings of one to three dimensions, all as
// three.
#ifndef HEADRACE_EVAL_VOLUME_HPP
#define HEADRACE_EVAL_VOLUME_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <headrace/eval/product.hpp>

namespace headrace::eval {

/// Sizes or steps of the three dimensions; those that are missing come first.
using triple = std::array<std::int64_t, 3>;

/// The last `count` sizes, behind as many `missing` as are needed. One number stands for all dimensions.
[[nodiscard]] inline triple triple_of(std::span<const std::int64_t> items, std::size_t count,
                                      std::int64_t missing) {
    triple t{missing, missing, missing};
    for (std::size_t d = 0; d != count && !items.empty(); ++d) {
        t[3 - count + d] = items.size() == 1 ? items[0] : items[items.size() - count + d];
    }
    return t;
}
[[nodiscard]] inline std::int64_t volume_of(const triple& t) { return t[0] * t[1] * t[2]; }

/// A convolution: input [batch, channels, in...], weight [features, channels / groups, kernel...], result
/// [batch, features, out...]. A transposed one is that of swapped input and result.
struct convolution_shape {
    std::int64_t batch = 1, channels = 1, features = 1, groups = 1;
    triple in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1};
    triple stride{1, 1, 1}, before{0, 0, 0}, dilation{1, 1, 1};
};

/// Calls `f(row, column, i)` for each element of a patch matrix [channels * kernel, out] that lies at i in
/// the input; the others are padding.
template <class F>
void for_each_patch(const convolution_shape& s, std::int64_t channels, F f) {
    std::int64_t row = 0;
    for (std::int64_t c = 0; c != channels; ++c) {
        for_each_index<3>({s.kernel[0], s.kernel[1], s.kernel[2]},
                          {extents{1, 0, 0}, extents{0, 1, 0}, extents{0, 0, 1}}, [&](const auto& k) {
                              triple first;
                              for (std::size_t d = 0; d != 3; ++d)
                                  first[d] = k[d] * s.dilation[d] - s.before[d];
                              std::int64_t column = 0;
                              for (std::int64_t z = 0; z != s.out[0]; ++z) {
                                  const std::int64_t iz = first[0] + z * s.stride[0];
                                  for (std::int64_t y = 0; y != s.out[1]; ++y) {
                                      const std::int64_t iy = first[1] + y * s.stride[1];
                                      const bool inside = iz >= 0 && iz < s.in[0] && iy >= 0 && iy < s.in[1];
                                      if (!inside) {
                                          column += s.out[2];
                                          continue;
                                      }
                                      const std::int64_t line = ((c * s.in[0] + iz) * s.in[1] + iy) * s.in[2];
                                      for (std::int64_t x = 0; x != s.out[2]; ++x, ++column) {
                                          const std::int64_t ix = first[2] + x * s.stride[2];
                                          if (ix >= 0 && ix < s.in[2]) f(row, column, idx(line + ix));
                                      }
                                  }
                              }
                              ++row;
                          });
    }
}

[[nodiscard]] inline std::vector<double> convolve(const convolution_shape& s, const std::vector<double>& in,
                                                  const std::vector<double>& weight) {
    const std::int64_t channels = s.channels / s.groups;
    const std::int64_t features = s.features / s.groups;
    const std::int64_t rows = channels * volume_of(s.kernel);
    const std::int64_t columns = volume_of(s.out);
    std::vector<double> out(idx(s.batch * s.features * columns));
    std::vector<double> patches(idx(rows * columns));
    for (std::int64_t i = 0; i != s.batch * s.groups; ++i) {
        const double* from = in.data() + i * channels * volume_of(s.in);
        for_each_patch(s, channels, [&](std::int64_t r, std::int64_t c, std::size_t at) {
            patches[idx(r * columns + c)] = from[at];
        });
        const double* filters = weight.data() + i % s.groups * features * rows;
        multiply(filters, patches.data(), out.data() + i * features * columns, features, rows, columns);
    }
    return out;
}

/// The transposed convolution of `s`: from [batch, features, out...] to [batch, channels, in...].
[[nodiscard]] inline std::vector<double> convolve_transposed(const convolution_shape& s,
                                                             const std::vector<double>& in,
                                                             const std::vector<double>& weight) {
    const std::int64_t channels = s.channels / s.groups;
    const std::int64_t features = s.features / s.groups;
    const std::int64_t rows = channels * volume_of(s.kernel);
    const std::int64_t columns = volume_of(s.out);
    std::vector<double> out(idx(s.batch * s.channels * volume_of(s.in)), 0.0);
    for (std::int64_t i = 0; i != s.batch * s.groups; ++i) {
        const Eigen::Map<const matrix<double>> filters(weight.data() + i % s.groups * features * rows,
                                                       features, rows);
        const Eigen::Map<const matrix<double>> from(in.data() + i * features * columns, features, columns);
        const matrix<double> patches = filters.transpose() * from;
        double* to = out.data() + i * channels * volume_of(s.in);
        for_each_patch(s, channels,
                       [&](std::int64_t r, std::int64_t c, std::size_t at) { to[at] += patches(r, c); });
    }
    return out;
}

/// Adds one bias per feature to [batch, features, out].
inline void add_bias(std::vector<double>& out, const std::vector<double>& bias, std::int64_t features,
                     std::int64_t columns) {
    for (std::size_t i = 0; i != out.size(); ++i) {
        out[i] += bias[bias.size() == 1 ? 0 : i / idx(columns) % idx(features)];
    }
}

// --- pooling ---------------------------------------------------------------------------

/// The elements of one axis that one result is made of, and how many of them an average counts.
struct pool_range {
    std::int64_t first, end, step, weight;
};
using pool_ranges = std::array<std::vector<pool_range>, 3>;

struct pool_axis {
    std::int64_t size, out, kernel, stride, before, dilation;
    bool count_padding;
};
[[nodiscard]] inline std::vector<pool_range> ranges_of(const pool_axis& p) {
    std::vector<pool_range> ranges;
    ranges.reserve(idx(p.out));
    for (std::int64_t o = 0; o != p.out; ++o) {
        const std::int64_t start = o * p.stride - p.before;
        const std::int64_t first =
            start >= 0 ? start : start + (-start + p.dilation - 1) / p.dilation * p.dilation;
        const std::int64_t end = std::min(start + (p.kernel - 1) * p.dilation + 1, p.size);
        const std::int64_t padded_end = std::min(start + p.kernel, p.size + p.before);
        ranges.push_back({first, end, p.dilation,
                          p.count_padding ? padded_end - start : std::max<std::int64_t>(0, end - first)});
    }
    return ranges;
}
/// Adaptive pooling: as equal parts as there are.
[[nodiscard]] inline std::vector<pool_range> adaptive_ranges(std::int64_t size, std::int64_t out) {
    std::vector<pool_range> ranges;
    ranges.reserve(idx(out));
    for (std::int64_t o = 0; o != out; ++o) {
        const std::int64_t first = o * size / out;
        const std::int64_t end = ((o + 1) * size + out - 1) / out;
        ranges.push_back({first, end, 1, end - first});
    }
    return ranges;
}

/// For each result, in order: `begin(weight)`, then `element(i)` for each of its elements, i their position.
template <class Begin, class Element>
void pool(std::int64_t planes, const triple& in, const pool_ranges& ranges, Begin begin, Element element) {
    for (std::int64_t p = 0; p != planes; ++p) {
        for (const pool_range& z : ranges[0]) {
            for (const pool_range& y : ranges[1]) {
                for (const pool_range& x : ranges[2]) {
                    begin(z.weight * y.weight * x.weight);
                    for (std::int64_t k = z.first; k < z.end; k += z.step) {
                        for (std::int64_t j = y.first; j < y.end; j += y.step) {
                            const std::int64_t line = ((p * in[0] + k) * in[1] + j) * in[2];
                            for (std::int64_t i = x.first; i < x.end; i += x.step) element(idx(line + i));
                        }
                    }
                }
            }
        }
    }
}

}  // namespace headrace::eval

#endif
