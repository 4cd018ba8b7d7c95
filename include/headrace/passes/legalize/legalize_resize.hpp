// SPDX-License-Identifier: MIT
// Defines headrace::legalize_resize.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_RESIZE_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_RESIZE_HPP

#include <cmath>
#include <cstdlib>
#include <numeric>

#include <headrace/passes/support/convolution.hpp>

namespace headrace {

/// Lowers upsampling of [N, C, H, W] to RESIZE (TOSA 1.0, 2.11.1), which reads position (o * d + offset) / n
/// of its axis for output o. PyTorch reads (o + 1/2) * in / out - 1/2 (half pixel), o * (in - 1) / (out - 1)
/// (align_corners), or floor(o * in / out) (nearest) or floor((o + 1/2) * in / out) (nearest-exact), with 1 /
/// scale in place of in / out where the caller gave a scale.
struct legalize_resize : pass {
    using bilinear = ops<aten::upsample_bilinear2d_vec, aten::upsample_bilinear2d>;
    using nearest = ops<aten::upsample_nearest2d_vec, aten::upsample_nearest2d>;
    using nearest_exact = ops<aten::_upsample_nearest_exact2d_vec, aten::_upsample_nearest_exact2d,
                              aten::_upsample_nearest_exact1d_vec, aten::_upsample_nearest_exact1d>;
    using one_dimensional =
        ops<aten::upsample_nearest1d_vec, aten::upsample_nearest1d, aten::upsample_linear1d_vec,
            aten::upsample_linear1d, aten::_upsample_nearest_exact1d_vec, aten::_upsample_nearest_exact1d>;
    using targets = joined<bilinear, nearest, nearest_exact, one_dimensional>;
    using produces = joined<ops<tosa::resize>, build::reshape_ops, build::transpose_ops>;

    template <one_of<targets> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        constexpr bool rows_only = one_of<Op, one_dimensional>;
        value input = input_of(a);
        const int_list result = e.result_meta().shape;
        shape_builder in(e.shape(input));
        shape_builder out(result);
        if constexpr (rows_only) {
            in.insert(2, 1);
            out.insert(2, 1);
            input = build::reshape(e, input, in);
        }
        const auto scales = scales_of(a);
        axis axes[2];
        for (std::size_t i = 0; i != 2; ++i) {
            const double scale = rows_only && i == 0 ? 0 : scales[rows_only ? 0 : i];
            axes[i] = sampling(mode_of<Op>(a), in[2 + i], out[2 + i], scale);
            if (!axes[i].legal()) return e.unsupported(fault(in[2 + i], out[2 + i]));
        }
        const sampling_mode mode = mode_of<Op>(a);
        const bool interpolates = mode == sampling_mode::half_pixel || mode == sampling_mode::aligned;
        return build::reshape(e, resized(e, input, axes, interpolates), result);
    }

private:
    enum class sampling_mode { nearest, nearest_exact, half_pixel, aligned };

    /// RESIZE's parameters for one axis.
    struct axis {
        std::int64_t n = 1, d = 1, offset = 0, border = 0;

        // ERROR_IFs of RESIZE, and level 8K's limit on the scale.
        [[nodiscard]] bool legal() const {
            return n > 0 && d > 0 && n <= 2048 && d < 16 * n && n <= 256 * d && offset >= -n &&
                   offset < 16 * n && border >= -16 * n && border < n;
        }
    };

    static std::string fault(std::int64_t in, std::int64_t out) {
        return "resizing " + std::to_string(in) + " to " + std::to_string(out) +
               " is beyond TOSA's RESIZE (a numerator of at most 2048, a scale above 1/16 and at most 256)";
    }

    template <class Args>
    static value input_of(const Args& a) {
        if constexpr (requires { a.input; })
            return a.input;
        else
            return a.self;
    }
    template <class Op>
    static sampling_mode mode_of(const args<Op>& a) {
        if constexpr (requires { a.align_corners; }) {
            return a.align_corners ? sampling_mode::aligned : sampling_mode::half_pixel;
        } else {
            return one_of<Op, nearest_exact> ? sampling_mode::nearest_exact : sampling_mode::nearest;
        }
    }
    // Of height and width; 0 where the caller gave an output size.
    template <class Args>
    static std::array<double, 2> scales_of(const Args& a) {
        if constexpr (requires { a.scale_factors; }) {
            if (!a.scale_factors || a.scale_factors->empty()) return {0, 0};
            const auto& s = *a.scale_factors;
            return {s[0], s[s.size() - 1]};
        } else if constexpr (requires { a.scales_h; }) {
            return {a.scales_h.value_or(0), a.scales_w.value_or(0)};
        } else {
            return {a.scales.value_or(0), 0};
        }
    }

    // The closest fraction with a small denominator, by continued fractions; exact for what people write.
    static std::pair<std::int64_t, std::int64_t> fraction(double x) {
        std::int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
        double rest = x;
        for (int i = 0; i != 32; ++i) {
            const double whole = std::floor(rest);
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

    // Output o reads (o * d + offset) / n, n and d doubled so that halves are whole.
    static axis sampling(sampling_mode mode, std::int64_t in, std::int64_t out, double scale) {
        if (in == 1) return {2 * out, 2, 0, 2 * (out - 1)};  // whatever is read, it is the only element
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
        axis a{n, d, 0, 0};
        if (mode == sampling_mode::half_pixel || mode == sampling_mode::nearest_exact) a.offset = (d - n) / 2;
        if (mode == sampling_mode::nearest) a.offset = -n / 2;  // RESIZE rounds to nearest, PyTorch down
        a.border = (out - 1) * d - (in - 1) * n + a.offset;
        return a;
    }

    static value resized(emit<produces>& e, value input, const axis (&axes)[2], bool interpolates) {
        const auto& [h, w] = axes;
        const value made =
            e.make<tosa::resize>({.input = build::transpose(e, input, build::to_channels_last(4)),
                                  .scale = build::const_shape(e, shape_builder{h.n, h.d, w.n, w.d}),
                                  .offset = build::const_shape(e, shape_builder{h.offset, w.offset}),
                                  .border = build::const_shape(e, shape_builder{h.border, w.border}),
                                  .mode = interpolates ? resize_mode::bilinear : resize_mode::nearest});
        return build::transpose(e, made, build::to_channels_first(4));
    }
};

}  // namespace headrace

#endif
