// SPDX-License-Identifier: MIT
// Defines headrace::decompose_bicubic and decompose_sampling: images at other positions.
#ifndef HEADRACE_PASSES_DECOMPOSE_RESAMPLING_HPP
#define HEADRACE_PASSES_DECOMPOSE_RESAMPLING_HPP

#include <cmath>

#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/support/resizing.hpp>

namespace headrace {

/// Decomposes resampling that RESIZE cannot do: it interpolates at most linearly, and only within limits
/// (TOSA 1.0, 2.11.1). Resampling is a product with a matrix R for each axis. A row of R holds the weights of
/// the elements that an element of the result is computed from; elements beyond the edge are taken from the
/// edge. These are four, with Keys' kernel and -3/4 as in PyTorch, or, with antialiasing, all within a kernel
/// as wide as the step of the result. Nearest neighbours are selected by index.
struct decompose_bicubic : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "resampling beyond RESIZE as R · x · Sᵀ with constant R and S, or as selections";

    using bicubic = ops<aten::upsample_bicubic2d, aten::upsample_bicubic2d_vec>;

    static auto rewrites() {
        return rules(
            real_rules(
                on_each<bicubic> = [](auto x, const auto& a) { return resampled<taps::cubic>(x, a); },
                on<aten::_upsample_bilinear2d_aa, aten::_upsample_bilinear2d_aa_vec> =
                    [](auto x, const auto& a) { return of_floats<taps::wide_linear>(x, a); },
                on<aten::_upsample_bicubic2d_aa, aten::_upsample_bicubic2d_aa_vec> =
                    [](auto x, const auto& a) { return of_floats<taps::wide_cubic>(x, a); }),
            on_each<linear_ops> =
                [](auto x, const auto& a) {
                    const sampling_mode mode =
                        a.align_corners ? sampling_mode::aligned : sampling_mode::half_pixel;
                    return choose(!is_floating(x.dtype()) || fits_resize(x, a, mode), unchanged,
                        [&] { return in_result_type(resampled<taps::linear>(real(x), a)); });
                },
            on_each<nearest_ops> = [](auto x,
                                       const auto& a) { return selected(x, a, sampling_mode::nearest); },
            on_each<nearest_exact_ops> =
                [](auto x, const auto& a) { return selected(x, a, sampling_mode::nearest_exact); });
    }

private:
    enum class taps { linear, cubic, wide_linear, wide_cubic };
    struct axis {
        std::int64_t in, out;
        double scale;  ///< 0: derived from the sizes
        bool align_corners;
    };

    template <taps Taps>
    static auto of_floats(const auto& x, const auto& a) {
        return refuse_if(!is_floating(x.result_meta().dtype), x,
            "interpolated integers are rounded; interpolate floats", [&] { return resampled<Taps>(x, a); });
    }
    // Checks each spatial axis: the last two, or the last one.
    static bool fits_resize(const auto& x, const auto& a, sampling_mode mode) {
        const auto scales = resize_scales(a);
        for (std::size_t i = 2; i < x.rank(); ++i) {
            if (!sampling(mode, x.shape()[i], x.result_meta().shape[i], scales[i - 2]).is_legal())
                return false;
        }
        return true;
    }
    static auto selected(const auto& x, const auto& a, sampling_mode mode) {
        const auto scales = resize_scales(a);
        const auto along = [&](const auto& v, std::size_t i) {
            const std::int64_t in = x.shape()[i];
            const std::int64_t out = x.result_meta().shape[i];
            const auto step = step_of<float>({in, out, counting_scale(mode, in, out, scales[i - 2]), false});
            const float shift = mode == sampling_mode::nearest ? 0 : 0.5F;
            const auto positions = constant_by(x, dtype::int64, shape_builder{out}, [&](std::int64_t o) {
                return scalar(whole_within(std::floor((static_cast<float>(o) + shift) * step), in - 1));
            });
            return call<aten::index_select>(v, static_cast<std::int64_t>(i), positions);
        };
        return choose(
            fits_resize(x, a, mode), unchanged, x.rank() == 3, [&] { return along(x, 2); },
            [&] { return along(along(x, 2), 3); });
    }
    template <taps Taps>
    static auto resampled(const auto& x, const auto& a) {
        const auto scales = resize_scales(a);
        const auto along = [&](std::size_t i) {
            return axis{x.shape()[i], x.result_meta().shape[i], scales[i - 2], a.align_corners};
        };
        const auto matrix = [&](const axis& i, bool transposed) {
            shape_builder shape = shape_builder::filled(x.rank() - 2, 1);
            shape.push_back(transposed ? i.in : i.out);
            shape.push_back(transposed ? i.out : i.in);
            const bool small = x.may_compute(saturating_mul(i.in, i.out), dtype::float32);
            return x.tensor(
                dtype::float32, shape, small ? weights_of<Taps>(i, transposed) : pmr_vector<float>());
        };
        return choose(
            x.rank() == 3, [&] { return call<aten::matmul>(x, matrix(along(2), true)); },
            [&] {
                return call<aten::matmul>(
                    call<aten::matmul>(matrix(along(2), false), x), matrix(along(3), true));
            });
    }
    // Returns the distance of the positions that neighbouring results are computed from.
    template <class Real>
    static Real step_of(const axis& a) {
        if (a.align_corners)
            return a.out > 1 ? static_cast<Real>(a.in - 1) / static_cast<Real>(a.out - 1) : 0;
        return a.scale > 0 ? static_cast<Real>(1 / a.scale)
                           : static_cast<Real>(a.in) / static_cast<Real>(a.out);
    }
    // Computed in float32, as in PyTorch.
    static float position_of(const axis& a, std::int64_t o) {
        const auto n = static_cast<float>(o);
        return a.align_corners ? n * step_of<float>(a) : step_of<float>(a) * (n + 0.5F) - 0.5F;
    }
    static double kernel(double distance, double s = -0.75) {
        const double x = std::abs(distance);
        if (x >= 2) return 0;
        return x <= 1 ? ((s + 2) * x - (s + 3)) * x * x + 1 : ((s * x - 5 * s) * x + 8 * s) * x - 4 * s;
    }
    // Rounds a position toward zero and clamps it to [0, `most`]: a scale may put it anywhere.
    static std::int64_t whole_within(double position, std::int64_t most) {
        return position > 0 ? static_cast<std::int64_t>(std::min(position, static_cast<double>(most))) : 0;
    }
    static double triangle(double distance) { return std::max(1 - std::abs(distance), 0.0); }

    template <taps Taps>
    static pmr_vector<float> weights_of(const axis& a, bool transposed) {
        pmr_vector<float> matrix(static_cast<std::size_t>(a.in * a.out), 0.F);
        const auto add = [&](std::int64_t o, std::int64_t i, double weight) {
            matrix[static_cast<std::size_t>(transposed ? i * a.out + o : o * a.in + i)] +=
                static_cast<float>(weight);
        };
        for (std::int64_t o = 0; o != a.out; ++o) {
            if constexpr (Taps == taps::wide_linear || Taps == taps::wide_cubic) {
                add_wide<Taps>(a, o, add);
            } else {
                add_near<Taps>(a, o, add);
            }
        }
        return matrix;
    }
    template <taps Taps>
    static void add_near(const axis& a, std::int64_t o, const auto& add) {
        constexpr bool is_cubic = Taps == taps::cubic;
        // Linear positions before the first element are moved to it.
        const float position = is_cubic ? position_of(a, o) : std::max(position_of(a, o), 0.F);
        const float first = std::floor(position);
        for (std::int64_t tap = is_cubic ? -1 : 0; tap != (is_cubic ? 3 : 2); ++tap) {
            const double at = static_cast<double>(first) + static_cast<double>(tap);
            const std::int64_t i = whole_within(at, a.in - 1);
            const double distance = static_cast<double>(tap) - static_cast<double>(position - first);
            add(o, i, is_cubic ? kernel(distance) : triangle(distance));
        }
    }
    // The kernel spans as many elements as one result element represents; its weights are normalized to a sum
    // of 1 (ATen/native/cpu/UpSampleKernel.cpp).
    template <taps Taps>
    static void add_wide(const axis& a, std::int64_t o, const auto& add) {
        constexpr bool is_cubic = Taps == taps::wide_cubic;
        const auto step = step_of<double>(a);
        const double width = std::max(step, 1.0);
        const double reach = (is_cubic ? 2 : 1) * width;
        const double center = step * (static_cast<double>(o) + 0.5);
        const std::int64_t first = whole_within(center - reach + 0.5, a.in);
        const std::int64_t end = whole_within(center + reach + 0.5, a.in);
        const auto weight = [&](std::int64_t i) {
            const double distance = (static_cast<double>(i) - center + 0.5) / width;
            return is_cubic ? kernel(distance, -0.5) : triangle(distance);
        };
        double total = 0;
        for (std::int64_t i = first; i < end; ++i) total += weight(i);
        for (std::int64_t i = first; i < end; ++i) add(o, i, total == 0 ? 0 : weight(i) / total);
    }
};
HEADRACE_COMPILED_PASS(decompose_bicubic);

struct decompose_rounding;
/// Decomposes sampling an image at computed positions (PyTorch, torch.nn.functional.grid_sample): pixels are
/// rows of a table, from which each position gathers the nearest one, or its four neighbours weighted by
/// distance.
struct decompose_sampling : pass_in<decomposition> {
    using runs_before = pass_list<decompose_rounding>;
    static constexpr std::string_view summary = "grid_sampler as weighted rows of a table of pixels";

    static auto rewrites() {
        return real_rules(on_each<ops<aten::grid_sampler, aten::grid_sampler_2d>> = [](auto image, auto grid,
                                                                                        const auto& a) {
            constexpr std::int64_t max_pixels = 1 << 24;  // float32 has no more exact integers
            return choose(
                image.rank() != 4, [&] { return image.unsupported("only images are sampled"); },
                a.interpolation_mode > 1,
                [&] { return image.unsupported("only the modes bilinear and nearest are lowered"); },
                element_count(image.shape()) > max_pixels,
                [&] { return image.unsupported("the image has more pixels than float32 has integers"); },
                [&] { return sampled(image, grid, a); });
        });
    }

private:
    static auto sampled(const auto& image, const auto& grid, const auto& a) {
        const sizes s = image.shape();
        const auto rows = call<aten::permute>(image, int_list{0, 2, 3, 1});
        const auto table = call<aten::reshape>(rows, int_list{s[0] * s[2] * s[3], s[1]});
        const auto first = constant_by(image, dtype::float32, shape_builder{s[0], 1, 1},
            [&](std::int64_t n) { return scalar(n * s[2] * s[3]); });
        const auto x = position(call<aten::select_int>(grid, -1, 0), s[3], a);
        const auto y = position(call<aten::select_int>(grid, -1, 1), s[2], a);
        const auto pixel = [&](const auto& at_x, const auto& at_y, const auto& weight) {
            const auto index = first + clamped(at_y, s[2]) * static_cast<double>(s[3]) + clamped(at_x, s[3]);
            const auto row = call<aten::embedding>(table, as(index, dtype::int32));
            const auto kept = choose(a.padding_mode != 0, weight,
                [&] { return weight * real(logical_and(is_inside(at_x, s[3]), is_inside(at_y, s[2]))); });
            return row * unsqueezed(kept, -1);
        };
        const auto nearest = [&] { return pixel(call<aten::round>(x), call<aten::round>(y), x * 0.0 + 1.0); };
        const auto linear = [&] {
            const auto left = floor(x);
            const auto top = floor(y);
            const auto right = left + 1;
            const auto bottom = top + 1;
            return pixel(left, top, (right - x) * (bottom - y)) +
                pixel(right, top, (x - left) * (bottom - y)) + pixel(left, bottom, (right - x) * (y - top)) +
                pixel(right, bottom, (x - left) * (y - top));
        };
        return call<aten::permute>(choose(a.interpolation_mode == 1, nearest, linear), int_list{0, 3, 1, 2});
    }
    // Maps [-1, 1] to positions between pixels, rounding in the same order as PyTorch.
    static auto position(const auto& g, std::int64_t size, const auto& a) {
        const auto n = static_cast<double>(size);
        const double low = a.align_corners ? 0 : -0.5;
        const double span = a.align_corners ? n - 1 : n;
        const auto place = choose(
            a.align_corners, [&] { return (g + 1) * 0.5 * (n - 1); },
            [&] { return ((g + 1) * n - 1) * 0.5; });
        const auto reflected = [&] {
            const auto distance = abs(place - low);
            const auto rest = distance - floor(distance * (0.5 / span)) * (2 * span);
            return span - abs(rest - span) + low;
        };
        return choose(
            a.padding_mode == 0, place, a.padding_mode == 2 && span != 0,
            [&] { return clamped(reflected(), size); }, [&] { return clamped(place, size); });
    }
    static auto clamped(const auto& x, std::int64_t size) {
        return clamp(x, scalar(0.0), scalar(static_cast<double>(size - 1)));
    }
    static auto is_inside(const auto& x, std::int64_t size) {
        return logical_and(x >= 0, x <= static_cast<double>(size - 1));
    }
};
HEADRACE_COMPILED_PASS(decompose_sampling);

}  // namespace headrace

#endif
