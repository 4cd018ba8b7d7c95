// SPDX-License-Identifier: MIT
// Defines headrace::convolve and headrace::pool: convolutions and poolings in one to three dimensions, all
// computed in three.
#ifndef HEADRACE_EVAL_VOLUME_HPP
#define HEADRACE_EVAL_VOLUME_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>

#include <headrace/base/ceil_div.hpp>
#include <headrace/eval/iterate.hpp>

namespace headrace::eval {

/// Sizes or steps of the three dimensions; missing dimensions come first.
using triple = std::array<std::int64_t, 3>;

/// Returns the last `count` sizes, after as many `missing` as needed. A single number applies to all
/// dimensions.
[[nodiscard]] triple triple_of(std::span<const std::int64_t> items, std::size_t count, std::int64_t missing);
[[nodiscard]] inline std::int64_t volume_of(const triple& t) { return t[0] * t[1] * t[2]; }

/// A convolution: input [batch, channels, in...], weight [features, channels / groups, kernel...], result
/// [batch, features, out...]. A transposed convolution swaps input and result.
struct convolution_shape {
    std::int64_t batch = 1, channels = 1, features = 1, groups = 1;
    triple in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1};
    triple stride{1, 1, 1}, before{0, 0, 0}, dilation{1, 1, 1};
};

/// The part of a line of results for which a kernel tap is inside the input.
struct tap_line {
    std::int64_t row;     ///< of the patch matrix [channels * kernel, out]
    std::int64_t column;  ///< of the first result
    std::int64_t at;      ///< the input's element for that result; the next ones are `step` apart
    std::int64_t step;
    std::int64_t count;
};

/// The taps of one axis: the results for which tap `tap` is inside the input, and the input position of the
/// first result, which may be outside.
struct tap_reach {
    std::int64_t first, begin, end;

    tap_reach(const convolution_shape& s, std::size_t axis, std::int64_t tap)
        : first(tap * s.dilation[axis] - s.before[axis]),
          begin(first >= 0 ? 0 : ceil_div(-first, s.stride[axis])),
          end(first >= s.in[axis] ? 0
                                  : std::min((s.in[axis] - first - 1) / s.stride[axis] + 1, s.out[axis])) {}
};

/// Calls `f(line)` for each line of the patch matrix; elements outside all lines are padding.
template <class F>
void for_each_tap(const convolution_shape& s, std::int64_t channels, F f) {
    std::array<std::vector<tap_reach>, 3> taps;
    for (std::size_t axis = 0; axis != 3; ++axis) {
        for (std::int64_t tap = 0; tap != s.kernel[axis]; ++tap) taps[axis].emplace_back(s, axis, tap);
    }
    std::int64_t row = 0;
    const auto add_lines = [&](std::int64_t c, const tap_reach& rz, const tap_reach& ry,
                               const tap_reach& rx) {
        if (rx.begin >= rx.end) return;
        for (std::int64_t z = rz.begin; z < rz.end; ++z) {
            const std::int64_t plane = c * s.in[0] + rz.first + z * s.stride[0];
            for (std::int64_t y = ry.begin; y < ry.end; ++y) {
                const std::int64_t line = plane * s.in[1] + ry.first + y * s.stride[1];
                f(tap_line{row, (z * s.out[1] + y) * s.out[2] + rx.begin,
                    line * s.in[2] + rx.first + rx.begin * s.stride[2], s.stride[2], rx.end - rx.begin});
            }
        }
    };
    for (std::int64_t c = 0; c != channels; ++c) {
        for (const tap_reach& z : taps[0]) {
            for (const tap_reach& y : taps[1]) {
                for (const tap_reach& x : taps[2]) {
                    add_lines(c, z, y, x);
                    ++row;
                }
            }
        }
    }
}

/// True if the patch matrix is the input itself.
[[nodiscard]] inline bool is_pointwise(const convolution_shape& s) {
    constexpr triple ones{1, 1, 1};
    return s.kernel == ones && s.stride == ones && s.before == triple{0, 0, 0} && s.in == s.out;
}

/// Fills [batch, features, columns] with one bias per feature, or one for all; without a bias, does nothing.
template <class T>
void fill_with_bias(std::span<T> out, std::span<const T> bias, std::int64_t features, std::int64_t columns) {
    if (bias.empty()) return;
    using plane = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
    std::int64_t p = 0;
    for (std::span<T> rest = out; !rest.empty(); rest = rest.subspan(idx(columns)), ++p)
        plane(rest.data(), columns).setConstant(bias[bias.size() == 1 ? 0 : idx(p % features)]);
}

/// Returns the patch matrix [channels * kernel, out...] of one group; the input itself if they are equal.
template <class T>
class patch_matrix {
public:
    explicit patch_matrix(const convolution_shape& s)
        : shape_(s),
          channels_(s.channels / s.groups),
          columns_(volume_of(s.out)),
          patches_(is_pointwise(s) ? 0 : idx(channels_ * volume_of(s.kernel) * columns_)) {}

    [[nodiscard]] const T* of(const T* in) {
        if (patches_.empty()) return in;
        for_each_tap(shape_, channels_, [&](const tap_line& t) {
            T* to = patches_.data() + t.row * columns_ + t.column;
            if (t.step == 1) {
                std::copy_n(in + t.at, t.count, to);
            } else {
                for (std::int64_t k = 0; k != t.count; ++k) to[k] = in[t.at + k * t.step];
            }
        });
        return patches_.data();
    }

private:
    const convolution_shape& shape_;
    std::int64_t channels_, columns_;
    std::vector<T> patches_;
};

[[nodiscard]] std::vector<double> convolve(const convolution_shape& s, std::span<const double> in,
    std::span<const double> weight, std::span<const double> bias);

/// Computes the transposed convolution of `s`: from [batch, features, out...] to [batch, channels, in...].
[[nodiscard]] std::vector<double> convolve_transposed(const convolution_shape& s, std::span<const double> in,
    std::span<const double> weight, std::span<const double> bias);

// --- pooling ---------------------------------------------------------------------------

/// The elements of one axis that make up one result, and how many of them an average counts.
struct pool_range {
    std::int64_t first, end, step, weight;
};
using pool_ranges = std::array<std::vector<pool_range>, 3>;

struct pool_axis {
    std::int64_t size, out, kernel, stride, before, dilation;
    bool count_padding;
};
[[nodiscard]] std::vector<pool_range> ranges_of(const pool_axis& p);
/// Adaptive pooling: parts that are as equal as possible.
[[nodiscard]] std::vector<pool_range> adaptive_ranges(std::int64_t size, std::int64_t out);

/// Calls, for each result in order, `begin(weight)`, then `element(i)` for the position i of each of its
/// elements.
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
