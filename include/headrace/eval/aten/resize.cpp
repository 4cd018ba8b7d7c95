// SPDX-License-Identifier: MIT
// Defines the kernels of ATen's upsampling and of grid_sampler.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>

namespace headrace::eval {

namespace {

/// The source of one resampled element: up to four elements with their weights.
struct taps {
    std::array<std::int64_t, 4> at{};
    std::array<double, 4> weight{};
    std::size_t count = 0;
};

/// An axis that is resampled. PyTorch computes positions from both sizes and from the given scale, if any.
struct resampled_axis {
    std::int64_t in = 1, out = 1;
    std::optional<double> scale{};
    bool align_corners = false;
};

/// Computed in float, as in PyTorch: rounding decides which element is read for a position on an edge.
[[nodiscard]] inline float step_of(const resampled_axis& a) {
    return a.scale && *a.scale > 0 ? static_cast<float>(1.0 / *a.scale)
                                   : static_cast<float>(a.in) / static_cast<float>(a.out);
}
/// Returns the last element at or before a position, which a scale may put past the end of the axis.
[[nodiscard]] inline std::int64_t element_before(float position, std::int64_t size) {
    const float last = static_cast<float>(size - 1);
    return position < last ? static_cast<std::int64_t>(std::floor(std::max(position, 0.F))) : size - 1;
}
[[nodiscard]] inline taps nearest_tap(const resampled_axis& a, std::int64_t o, float shift) {
    std::int64_t at = element_before((static_cast<float>(o) + shift) * step_of(a), a.in);
    if (shift == 0 && a.out == a.in) at = o;
    if (shift == 0 && a.out == 2 * a.in) at = o / 2;
    return {{std::min(at, a.in - 1)}, {1.0}, 1};
}
/// Returns the position of result `o` between the elements.
[[nodiscard]] inline float source_position(const resampled_axis& a, std::int64_t o) {
    if (a.align_corners) {
        const float step = a.out > 1 ? static_cast<float>(a.in - 1) / static_cast<float>(a.out - 1) : 0.F;
        return step * static_cast<float>(o);
    }
    return step_of(a) * (static_cast<float>(o) + 0.5F) - 0.5F;
}
[[nodiscard]] inline taps linear_taps(const resampled_axis& a, std::int64_t o) {
    if (a.out == a.in) return {{o}, {1.0}, 1};
    const float position = std::max(source_position(a, o), 0.F);
    const std::int64_t first = element_before(position, a.in);
    const double fraction = std::min(static_cast<double>(position - static_cast<float>(first)), 1.0);
    return {{first, std::min(first + 1, a.in - 1)}, {1 - fraction, fraction}, 2};
}
/// Returns the weights of four adjacent elements; the position is `fraction` past the second.
[[nodiscard]] inline std::array<double, 4> cubic_weights(double fraction) {
    constexpr double sharpness = -0.75;
    std::array<double, 4> weights{};
    for (std::size_t k = 0; k != 4; ++k) {
        const double x = std::fabs(static_cast<double>(k) - 1 - fraction);
        weights[k] = x <= 1 ? ((sharpness + 2) * x - (sharpness + 3)) * x * x + 1
                            : ((sharpness * x - 5 * sharpness) * x + 8 * sharpness) * x - 4 * sharpness;
    }
    return weights;
}
[[nodiscard]] taps cubic_taps(const resampled_axis& a, std::int64_t o) {
    const float beyond = 4.F + static_cast<float>(a.in);  // from here on, all taps are the last element
    const float position = std::clamp(source_position(a, o), -4.F, beyond);
    const float first = std::floor(position);
    const double fraction = static_cast<double>(position - first);
    taps t{{}, cubic_weights(fraction), 4};
    for (std::size_t k = 0; k != 4; ++k) {
        t.at[k] = std::clamp<std::int64_t>(
            static_cast<std::int64_t>(first) - 1 + static_cast<std::int64_t>(k), 0, a.in - 1);
    }
    return t;
}

/// Resamples one axis: `taps_of(axis, o)` returns the sources of result o. Each sum is rounded to float, like
/// PyTorch's fused multiply-adds: values quantized next are often ties, which that rounding decides.
template <class F>
[[nodiscard]] std::vector<double> resample(const std::vector<double>& in, extents& shape, std::size_t axis,
    resampled_axis a, bool single, F taps_of) {
    const axis_view from(shape, static_cast<std::int64_t>(axis));
    shape[axis] = a.out;
    const axis_view to(shape, static_cast<std::int64_t>(axis));
    std::vector<double> out(idx(elements_in(shape)));
    for (std::int64_t o = 0; o != a.out; ++o) {
        const taps t = taps_of(a, o);
        to.for_each_line([&](std::int64_t n, std::int64_t k) {
            double sum = 0;
            for (std::size_t i = 0; i != t.count; ++i) {
                if (t.weight[i] == 0) continue;
                sum += t.weight[i] * in[from.at(n, t.at[i], k)];
                if (single) sum = static_cast<double>(static_cast<float>(sum));
            }
            out[to.at(n, o, k)] = sum;
        });
    }
    return out;
}

/// Returns the scales of an op, in any form that its schema has, for each axis after batch and channels.
template <class Args>
[[nodiscard]] std::array<std::optional<double>, 3> scales_of(const Args& a) {
    if constexpr (requires { a.scale_factors; }) {
        std::array<std::optional<double>, 3> scales;
        for (std::size_t i = 0; a.scale_factors && i != a.scale_factors->size() && i != 3; ++i) {
            scales[i] = (*a.scale_factors)[i];
        }
        return scales;
    } else if constexpr (requires { a.scales_d; }) {
        return {a.scales_d, a.scales_h, a.scales_w};
    } else if constexpr (requires { a.scales_h; }) {
        return {a.scales_h, a.scales_w, std::nullopt};
    } else {
        return {a.scales, std::nullopt, std::nullopt};
    }
}
template <class Args>
[[nodiscard]] value upsampled(const Args& a) {
    if constexpr (requires { a.input; }) {
        return a.input;
    } else {
        return a.self;
    }
}
template <class Args, class F>
void upsample(evaluation& e, const Args& a, bool align_corners, F taps_of) {
    const tensor& in = e.input(upsampled(a));
    const auto scales = scales_of(a);
    extents shape = in.shape();
    std::vector<double> numbers = in.to<double>();
    for (std::size_t d = shape.size(); d-- > 2;) {
        const resampled_axis axis{shape[d], e.output_shape()[d], scales[d - 2], align_corners};
        numbers = resample(numbers, shape, d, axis, in.type() != dtype::float64, taps_of);
    }
    e.output().assign(numbers);
}
template <one_of<ops<aten::upsample_nearest1d, aten::upsample_nearest1d_vec, aten::upsample_nearest2d,
    aten::upsample_nearest2d_vec, aten::upsample_nearest3d, aten::upsample_nearest3d_vec>>
        Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    upsample(e, a, false, [](const resampled_axis& r, std::int64_t o) { return nearest_tap(r, o, 0.F); });
}
template <one_of<ops<aten::_upsample_nearest_exact1d, aten::_upsample_nearest_exact1d_vec,
    aten::_upsample_nearest_exact2d, aten::_upsample_nearest_exact2d_vec, aten::_upsample_nearest_exact3d,
    aten::_upsample_nearest_exact3d_vec>>
        Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    upsample(e, a, false, [](const resampled_axis& r, std::int64_t o) { return nearest_tap(r, o, 0.5F); });
}
template <one_of<ops<aten::upsample_linear1d, aten::upsample_linear1d_vec, aten::upsample_bilinear2d,
    aten::upsample_bilinear2d_vec, aten::upsample_trilinear3d, aten::upsample_trilinear3d_vec>>
        Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    upsample(e, a, a.align_corners, linear_taps);
}
template <one_of<ops<aten::upsample_bicubic2d, aten::upsample_bicubic2d_vec>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    upsample(e, a, a.align_corners, cubic_taps);
}

// --- grid_sampler ----------------------------------------------------------------------

struct grid_modes {
    std::int64_t interpolation;  ///< 0 bilinear, 1 nearest, 2 bicubic
    std::int64_t padding;        ///< 0 zeros, 1 border, 2 reflection
    bool align_corners;
};
/// Maps [-1, 1] to a position between elements.
[[nodiscard]] inline double unpadded_position(double x, std::int64_t size, const grid_modes& m) {
    const auto n = static_cast<double>(size);
    return m.align_corners ? (x + 1) / 2 * (n - 1) : ((x + 1) * n - 1) / 2;
}
/// Maps a position back inside as the padding mode says.
[[nodiscard]] double padded_position(double position, std::int64_t size, const grid_modes& m) {
    const auto n = static_cast<double>(size);
    if (m.padding == 2) {
        const double low = m.align_corners ? 0 : -0.5;
        const double span = m.align_corners ? n - 1 : n;
        const double distance = std::fabs(position - low);
        const double rest = span == 0 ? 0 : std::fmod(distance, span);
        const bool back = span != 0 && std::fmod(std::floor(distance / span), 2.0) != 0;
        position = back ? span - rest + low : rest + low;
    }
    return m.padding == 0 ? position : limited(position, 0.0, n - 1);
}
/// Returns the elements around a position in a plane, with their weights; elements outside the plane are left
/// out.
[[nodiscard]] taps plane_taps(double x, double y, std::int64_t width, std::int64_t height) {
    taps t;
    for (int corner = 0; corner != 4; ++corner) {
        const double cx = std::floor(x) + corner % 2;
        const double cy = std::floor(y) + corner / 2;
        const bool inside =
            cx >= 0 && cx < static_cast<double>(width) && cy >= 0 && cy < static_cast<double>(height);
        if (!inside) continue;
        t.at[t.count] = static_cast<std::int64_t>(cy) * width + static_cast<std::int64_t>(cx);
        t.weight[t.count++] = (1 - std::fabs(x - cx)) * (1 - std::fabs(y - cy));
    }
    return t;
}
/// Calls `add(element, weight)` for the elements around a position in a plane. Each of the 16 is mapped back
/// inside separately, as the padding mode says.
template <class F>
void for_cubic_elements(
    double x, double y, std::int64_t width, std::int64_t height, const grid_modes& m, F add) {
    const std::array<double, 4> across = cubic_weights(x - std::floor(x));
    const std::array<double, 4> down = cubic_weights(y - std::floor(y));
    const auto inside = [&](double position, std::int64_t size) {
        const double at = padded_position(position, size, m);
        return at >= 0 && at < static_cast<double>(size) ? static_cast<std::int64_t>(at) : -1;
    };
    for (std::size_t i = 0; i != 4; ++i) {
        const std::int64_t row = inside(std::floor(y) + static_cast<double>(i) - 1, height);
        for (std::size_t j = 0; j != 4; ++j) {
            const std::int64_t column = inside(std::floor(x) + static_cast<double>(j) - 1, width);
            if (row >= 0 && column >= 0) add(row * width + column, down[i] * across[j]);
        }
    }
}
/// Calls `add(element, weight)` for the elements sampled at a grid point.
template <class F>
void for_sampled_elements(
    double x, double y, std::int64_t width, std::int64_t height, const grid_modes& m, F add) {
    x = unpadded_position(x, width, m);
    y = unpadded_position(y, height, m);
    if (m.interpolation == 2) return for_cubic_elements(x, y, width, height, m, add);
    x = padded_position(x, width, m);
    y = padded_position(y, height, m);
    const bool nearest = m.interpolation == 1;
    const taps t =
        plane_taps(nearest ? std::nearbyint(x) : x, nearest ? std::nearbyint(y) : y, width, height);
    for (std::size_t k = 0; k != t.count; ++k) add(t.at[k], t.weight[k]);
}
template <one_of<ops<aten::grid_sampler, aten::grid_sampler_2d>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const tensor& input = e.input(a.input);
    if (input.rank() != 4 || a.interpolation_mode < 0 || a.interpolation_mode > 2)
        return e.fail("only bilinear, nearest and bicubic sampling in 2D");
    const grid_modes modes{a.interpolation_mode, a.padding_mode, a.align_corners};
    const std::vector<double> in = input.template to<double>();
    const std::vector<double> grid = e.input(a.grid).template to<double>();
    const std::int64_t plane = input.dim(2) * input.dim(3);
    const std::int64_t points = e.output().dim(2) * e.output().dim(3);
    std::vector<double> out(idx(e.output().size()), 0.0);
    for (std::int64_t p = 0; p != input.dim(0) * points; ++p) {
        const auto add = [&](std::int64_t element, double weight) {
            for (std::int64_t c = 0; c != input.dim(1); ++c) {
                const std::int64_t image = p / points * input.dim(1) + c;
                out[idx(image * points + p % points)] += weight * in[idx(image * plane + element)];
            }
        };
        for_sampled_elements(grid[idx(2 * p)], grid[idx(2 * p + 1)], input.dim(3), input.dim(2), modes, add);
    }
    e.output().assign(out);
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_resize_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
