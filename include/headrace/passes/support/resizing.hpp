// SPDX-License-Identifier: MIT
// Defines headrace::build::resize, shared by the lowerings of float and of quantized upsampling.
#ifndef HEADRACE_PASSES_SUPPORT_RESIZING_HPP
#define HEADRACE_PASSES_SUPPORT_RESIZING_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <tuple>
#include <utility>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

using bilinear_ops = ops<aten::upsample_bilinear2d_vec, aten::upsample_bilinear2d>;
using linear_ops = joined<bilinear_ops, ops<aten::upsample_linear1d_vec, aten::upsample_linear1d>>;
using nearest_ops = ops<aten::upsample_nearest2d_vec, aten::upsample_nearest2d, aten::upsample_nearest1d_vec,
    aten::upsample_nearest1d>;
using nearest_exact_ops = ops<aten::_upsample_nearest_exact2d_vec, aten::_upsample_nearest_exact2d,
    aten::_upsample_nearest_exact1d_vec, aten::_upsample_nearest_exact1d>;
enum class sampling_mode { nearest, nearest_exact, half_pixel, aligned };

/// RESIZE's parameters for one axis: output o reads position (o * d + offset) / n.
struct sampled_axis {
    std::int64_t n = 1, d = 1, offset = 0, border = 0;

    /// True if output o reads position o.
    [[nodiscard]] bool is_identity() const { return n == d && border == offset; }
    /// True if RESIZE's ERROR_IFs and level 8K's limit on the scale are met.
    [[nodiscard]] bool is_legal() const {
        return n > 0 && d > 0 && n <= 2048 && d < 16 * n && n <= 256 * d && offset >= -n && offset < 16 * n &&
            border >= -16 * n && border < n;
    }
};

/// Returns the closest fraction with a small denominator, by continued fractions: exact for usual scales.
[[nodiscard]] inline std::pair<std::int64_t, std::int64_t> fraction(double x) {
    std::int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
    double rest = x;
    for (int i = 0; i != 32; ++i) {
        const double whole = std::floor(rest);
        if (!(whole <= 16384)) break;  // later terms cannot be small, and may exceed all integers
        const auto k = static_cast<std::int64_t>(whole);
        const std::int64_t p2 = k * p1 + p0, q2 = k * q1 + q0;
        if (p2 > 1024 || q2 > 16384) break;
        p0 = std::exchange(p1, p2);
        q0 = std::exchange(q1, q2);
        if (std::abs(static_cast<double>(p1) / static_cast<double>(q1) - x) < 1e-9 * x) break;
        rest = 1 / (rest - whole);
    }
    return {p1, q1};
}

/// Returns the scale that determines which elements an axis reads; 0 if its sizes determine that: if no scale
/// above 0 is given, corners are aligned, an axis keeps its size, or nearest doubles it
/// (ATen/native/UpSample.h).
[[nodiscard]] inline double counting_scale(
    sampling_mode mode, std::int64_t in, std::int64_t out, double scale) {
    const bool copies = out == in && mode != sampling_mode::nearest_exact;
    const bool doubles = out == 2 * in && mode == sampling_mode::nearest;
    return scale > 0 && mode != sampling_mode::aligned && !copies && !doubles ? scale : 0;
}

/// Returns RESIZE's parameters. PyTorch reads (o + 1/2) * in / out - 1/2 (half pixel), o * (in - 1) / (out -
/// 1) (aligned corners), floor(o * in / out) (nearest) or floor((o + 1/2) * in / out) (nearest-exact), with 1
/// / scale in place of in / out if the scale counts. n and d are doubled so that halves become integers.
[[nodiscard]] inline sampled_axis sampling(
    sampling_mode mode, std::int64_t in, std::int64_t out, double scale) {
    if (in == 1) return {2 * out, 2, 0, 2 * (out - 1)};  // there is only one element to read
    scale = counting_scale(mode, in, out, scale);
    std::int64_t n = out, d = in;
    if (mode == sampling_mode::aligned) {
        n = out > 1 ? out - 1 : 1;
        d = out > 1 ? in - 1 : 1;
    } else if (scale > 0) {
        std::tie(n, d) = fraction(scale);
    }
    const std::int64_t divisor = std::max<std::int64_t>(std::gcd(n, d), 1);
    n = 2 * (n / divisor);
    d = 2 * (d / divisor);
    sampled_axis a{n, d, 0, 0};
    if (mode == sampling_mode::half_pixel || mode == sampling_mode::nearest_exact) a.offset = (d - n) / 2;
    if (mode == sampling_mode::nearest) a.offset = -n / 2;  // RESIZE rounds to nearest, PyTorch rounds down
    a.border = (out - 1) * d - (in - 1) * n + a.offset;
    return a;
}

/// The common arguments of ATen's resizing ops, whose own arguments differ.
struct resize_request {
    value input{};  ///< [N, C, H, W] or [N, C, W]
    sampling_mode mode = sampling_mode::nearest;
    std::array<double, 2> scales{};
};

template <class Args>
[[nodiscard]] value resized_input(const Args& a) {
    if constexpr (requires { a.input; }) {
        return a.input;
    } else {
        return a.self;
    }
}
/// Returns the scales of the spatial axes; 0 if the model gives a size instead.
template <class Args>
[[nodiscard]] std::array<double, 2> resize_scales(const Args& a) {
    if constexpr (requires { a.scale_factors; }) {
        if (!a.scale_factors || a.scale_factors->empty()) return {0, 0};
        return {(*a.scale_factors)[0], (*a.scale_factors)[a.scale_factors->size() - 1]};
    } else if constexpr (requires { a.scales_h; }) {
        return {a.scales_h.value_or(0), a.scales_w.value_or(0)};
    } else {
        return {a.scales.value_or(0), 0};
    }
}
template <op_tag Op>
[[nodiscard]] sampling_mode sampling_mode_of(const args<Op>& a) {
    if constexpr (requires { a.align_corners; }) {
        return a.align_corners ? sampling_mode::aligned : sampling_mode::half_pixel;
    } else {
        return one_of<Op, nearest_exact_ops> ? sampling_mode::nearest_exact : sampling_mode::nearest;
    }
}

namespace build {

using resize_ops = joined<ops<tosa::resize>, reshape_ops, transpose_ops>;

/// The result of RESIZE. Interpolated integers are multiples of 1 / unit: their weights are integers.
struct resized {
    value image{};  ///< with the axes and the shape of the op's result
    std::int64_t unit = 1;
};

/// Upsamples by RESIZE (TOSA 1.0, 2.11.1). [N, C, W] gets a height of 1.
inline resized resize(emit<resize_ops> e, const resize_request& r) {
    const int_list result = e.result_meta().shape;
    const bool is_row = e.rank(r.input) == 3;
    shape_builder in(e.shape(r.input));
    shape_builder out(result);
    if (is_row) {
        in.insert(2, 1);
        out.insert(2, 1);
    }
    const value input = is_row ? reshape(e, r.input, in) : r.input;
    sampled_axis axes[2];
    for (std::size_t i = 0; i != 2; ++i) {
        const double scale = !is_row ? r.scales[i] : i == 0 ? 0 : r.scales[0];
        axes[i] = sampling(r.mode, in[2 + i], out[2 + i], scale);
        if (!axes[i].is_legal()) {
            return {e.unsupported({"resizing ", in[2 + i], " to ", out[2 + i],
                " is beyond TOSA's RESIZE (a numerator of at most 2048, a scale above 1/16 "
                "and at most 256)"})};
        }
    }
    const auto& [h, w] = axes;
    if (h.is_identity() && w.is_identity()) return {reshape(e, input, result)};
    const bool interpolates = r.mode == sampling_mode::half_pixel || r.mode == sampling_mode::aligned;
    const value made = e.make<tosa::resize>({.input = transpose(e, input, to_channels_last(4)),
        .scale = const_shape(e, shape_builder{h.n, h.d, w.n, w.d}),
        .offset = const_shape(e, shape_builder{h.offset, w.offset}),
        .border = const_shape(e, shape_builder{h.border, w.border}),
        .mode = interpolates ? resize_mode::bilinear : resize_mode::nearest});
    return {reshape(e, transpose(e, made, to_channels_first(4)), result), interpolates ? h.n * w.n : 1};
}
template <op_tag Op>
resized resize(emit<resize_ops> e, const args<Op>& a) {
    return resize(e, {resized_input(a), sampling_mode_of<Op>(a), resize_scales(a)});
}

}  // namespace build
}  // namespace headrace

#endif
