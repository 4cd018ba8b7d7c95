// SPDX-License-Identifier: MIT
// Defines headrace::convolve and headrace::pool: convolutions and poolings of one to three dimensions, all as
// three.
#ifndef HEADRACE_EVAL_VOLUME_HPP
#define HEADRACE_EVAL_VOLUME_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <headrace/base/ceil_div.hpp>
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

/// The part of a line of results that a tap of the kernel reaches in the input.
struct tap_line {
    std::int64_t row;     ///< of the patch matrix [channels * kernel, out]
    std::int64_t column;  ///< of the first result
    std::int64_t at;      ///< the input's element for it; those of the others are `step` apart
    std::int64_t step;
    std::int64_t count;
};

/// The taps of one axis: which results tap `tap` reaches, and where the first of all would lie in the input.
struct tap_reach {
    std::int64_t first, begin, end;

    tap_reach(const convolution_shape& s, std::size_t axis, std::int64_t tap)
        : first(tap * s.dilation[axis] - s.before[axis]),
          begin(first >= 0 ? 0 : ceil_div(-first, s.stride[axis])),
          end(first >= s.in[axis] ? 0
                                  : std::min((s.in[axis] - first - 1) / s.stride[axis] + 1, s.out[axis])) {}
};

/// Calls `f(line)` for each line of the patch matrix; what no line holds is padding.
template <class F>
void for_each_tap(const convolution_shape& s, std::int64_t channels, F f) {
    std::int64_t row = 0;
    const auto add_lines = [&](std::int64_t c, const tap_reach& rz, const tap_reach& ry,
                               const tap_reach& rx) {
        if (rx.begin >= rx.end) return;
        for (std::int64_t z = rz.begin; z < rz.end; ++z) {
            const std::int64_t plane = c * s.in[0] + rz.first + z * s.stride[0];
            for (std::int64_t y = ry.begin; y < ry.end; ++y) {
                const std::int64_t line = plane * s.in[1] + ry.first + y * s.stride[1];
                f(tap_line{row, (z * s.out[1] + y) * s.out[2] + rx.begin,
                           line * s.in[2] + rx.first + rx.begin * s.stride[2], s.stride[2],
                           rx.end - rx.begin});
            }
        }
    };
    for (std::int64_t c = 0; c != channels; ++c) {
        for (std::int64_t z = 0; z != s.kernel[0]; ++z) {
            for (std::int64_t y = 0; y != s.kernel[1]; ++y) {
                for (std::int64_t x = 0; x != s.kernel[2]; ++x, ++row)
                    add_lines(c, tap_reach(s, 0, z), tap_reach(s, 1, y), tap_reach(s, 2, x));
            }
        }
    }
}

/// Is the patch matrix the input as it is?
[[nodiscard]] inline bool is_pointwise(const convolution_shape& s) {
    constexpr triple ones{1, 1, 1};
    return s.kernel == ones && s.stride == ones && s.before == triple{0, 0, 0} && s.in == s.out;
}

/// out[features, columns] += weight[features, rows] * patches[rows, columns], for one group.
inline void add_group(const convolution_shape&, const double* weight, const double* patches, double* out,
                      std::int64_t features, std::int64_t rows, std::int64_t columns) {
    add_product(weight, patches, out, features, rows, columns);
}
/// As PyTorch sums it: groups begin with the bias, and one column is a matrix by a vector.
inline void add_group(const convolution_shape& s, const float* weight, const float* patches, float* out,
                      std::int64_t features, std::int64_t rows, std::int64_t columns) {
    if (s.groups > 1) return continue_product(weight, patches, out, features, rows, columns);
    if (columns == 1) return add_product_transposed(patches, weight, out, 1, rows, features);
    add_product(weight, patches, out, features, rows, columns);
}

/// [batch, features, columns] with one bias for each feature, or one for all; 0 where there is none.
template <class T>
[[nodiscard]] std::vector<T> filled_with_bias(const std::vector<T>& bias, std::int64_t batch,
                                              std::int64_t features, std::int64_t columns) {
    std::vector<T> out(idx(batch * features * columns));
    if (bias.empty()) return out;
    auto to = out.begin();
    for (std::int64_t p = 0; p != batch * features; ++p)
        to = std::fill_n(to, columns, bias[bias.size() == 1 ? 0 : idx(p % features)]);
    return out;
}

template <class T>
[[nodiscard]] std::vector<T> convolve(const convolution_shape& s, const std::vector<T>& in,
                                      const std::vector<T>& weight, const std::vector<T>& bias) {
    const std::int64_t channels = s.channels / s.groups;
    const std::int64_t features = s.features / s.groups;
    const std::int64_t rows = channels * volume_of(s.kernel);
    const std::int64_t columns = volume_of(s.out);
    const bool as_it_is = is_pointwise(s);
    std::vector<T> out = filled_with_bias(bias, s.batch, s.features, columns);
    std::vector<T> patches(as_it_is ? 0 : idx(rows * columns));
    for (std::int64_t i = 0; i != s.batch * s.groups; ++i) {
        const T* from = in.data() + i * channels * volume_of(s.in);
        if (!as_it_is) {
            for_each_tap(s, channels, [&](const tap_line& t) {
                T* to = patches.data() + t.row * columns + t.column;
                if (t.step == 1) {
                    std::copy_n(from + t.at, t.count, to);
                } else {
                    for (std::int64_t k = 0; k != t.count; ++k) to[k] = from[t.at + k * t.step];
                }
            });
        }
        add_group(s, weight.data() + i % s.groups * features * rows, as_it_is ? from : patches.data(),
                  out.data() + i * features * columns, features, rows, columns);
    }
    return out;
}

/// The transposed convolution of `s`: from [batch, features, out...] to [batch, channels, in...].
[[nodiscard]] inline std::vector<double> convolve_transposed(const convolution_shape& s,
                                                             const std::vector<double>& in,
                                                             const std::vector<double>& weight,
                                                             const std::vector<double>& bias) {
    const std::int64_t channels = s.channels / s.groups;
    const std::int64_t features = s.features / s.groups;
    const std::int64_t rows = channels * volume_of(s.kernel);
    const std::int64_t columns = volume_of(s.out);
    std::vector<double> out = filled_with_bias(bias, s.batch, s.channels, volume_of(s.in));
    for (std::int64_t i = 0; i != s.batch * s.groups; ++i) {
        const Eigen::Map<const matrix<double>> filters(weight.data() + i % s.groups * features * rows,
                                                       features, rows);
        const Eigen::Map<const matrix<double>> from(in.data() + i * features * columns, features, columns);
        const matrix<double> patches = filters.transpose() * from;
        double* to = out.data() + i * channels * volume_of(s.in);
        for_each_tap(s, channels, [&](const tap_line& t) {
            for (std::int64_t k = 0; k != t.count; ++k) to[t.at + k * t.step] += patches(t.row, t.column + k);
        });
    }
    return out;
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
        const std::int64_t first = start >= 0 ? start : start + ceil_div(-start, p.dilation) * p.dilation;
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
        const std::int64_t end = ceil_div((o + 1) * size, out);
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
