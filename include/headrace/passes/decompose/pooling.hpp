// SPDX-License-Identifier: MIT
// Defines the decompositions of pooling, and of upsampling over three axes.
#ifndef HEADRACE_PASSES_DECOMPOSE_POOLING_HPP
#define HEADRACE_PASSES_DECOMPOSE_POOLING_HPP

#include <headrace/infer/window.hpp>
#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/narrowing.hpp>

namespace headrace {

struct decompose_dilated_pooling;
/// Decomposes pooling and upsampling over three axes; TOSA's pooling and RESIZE have two spatial axes (TOSA
/// 1.0, 2.2 and 2.11). These ops are separable: first over height and width of every slice, with slices next
/// to channels, and then over the depth of every column. A window's element count is the product of its
/// counts along the axes, even if it is clipped, so averages of averages are right.
struct decompose_volumes : pass_in<decomposition> {
    using runs_before = pass_list<decompose_dilated_pooling>;
    static constexpr std::string_view summary =
        "3-d pooling and upsampling as 2-d of every slice, then of every column";

    static auto rewrites() {
        return rules(
            on<aten::max_pool3d> = [](auto x, const auto& a) { return max_pool(x, a); },
            on<aten::max_pool3d_with_indices> = code<largest_in_windows>(),
            on<aten::adaptive_avg_pool3d, aten::_adaptive_avg_pool3d> =
                [](auto x, const auto&) { return adaptive_pool<aten::adaptive_avg_pool2d>(x); },
            on<aten::upsample_nearest3d, aten::upsample_nearest3d_vec> =
                [](auto x, const auto& a) { return upsampled<aten::upsample_nearest2d>(x, a); },
            on<aten::_upsample_nearest_exact3d, aten::_upsample_nearest_exact3d_vec> =
                [](auto x, const auto& a) { return upsampled<aten::_upsample_nearest_exact2d>(x, a); },
            on<aten::upsample_trilinear3d, aten::upsample_trilinear3d_vec> =
                [](auto x, const auto& a) {
                    return upsampled<aten::upsample_bilinear2d>(x, a, a.align_corners);
                },
            on<aten::avg_pool3d> =
                [](auto x, const auto& a) {
                    return separately(x, [&](const auto& v, const part& p) {
                        // The caller's divisor replaces both divisions, so the first step computes sums.
                        const bool sums = a.divisor_override && !p.of_columns;
                        return call<aten::avg_pool2d>(v, p.sizes_of(a.kernel_size, 1),
                            p.sizes_of(stride_of(a), 1), p.sizes_of(a.padding, 0), a.ceil_mode,
                            a.count_include_pad, sums ? std::optional<std::int64_t>(1) : a.divisor_override);
                    });
                },
            on<aten::adaptive_max_pool3d> = code<largest_in_bins>());
    }

private:
    /// One of the two steps, and the height and width of its result.
    struct part {
        bool of_columns;
        int_list size;

        /// Returns the sizes for this step from those of all axes, or from one for all. Columns have no
        /// width: it is `none`.
        [[nodiscard]] int_list sizes_of(const int_list& n, std::int64_t none) const {
            return of_columns ? int_list{n[0], none} : int_list{n[n.size() == 3 ? 1 : 0], n[n.size() - 1]};
        }
    };
    // `step` makes images of the result's size from [N, C · D, H, W], then its depth from [N, C, D, H · W].
    static auto separately(const auto& x, const auto& step) {
        const int_list in = x.shape();
        const int_list out = x.result_meta().shape;
        const std::size_t lead = in.size() - 3;
        const std::int64_t batch = lead == 2 ? in[0] : 1;
        const std::int64_t channels = in[lead - 1];
        const int_list plane{out[lead + 1], out[lead + 2]};
        const std::int64_t area = plane[0] * plane[1];
        const auto images =
            call<aten::reshape>(x, int_list{batch, channels * in[lead], in[lead + 1], in[lead + 2]});
        const auto columns =
            call<aten::reshape>(step(images, part{false, plane}), int_list{batch, channels, in[lead], area});
        return call<aten::reshape>(step(columns, part{true, {out[lead], area}}), out);
    }
    static const int_list& stride_of(const auto& a) { return a.stride.empty() ? a.kernel_size : a.stride; }

    static auto max_pool(const auto& x, const auto& a) {
        return separately(x, [&](const auto& v, const part& p) {
            return call<aten::max_pool2d>(v, p.sizes_of(a.kernel_size, 1), p.sizes_of(stride_of(a), 1),
                p.sizes_of(a.padding, 0), p.sizes_of(a.dilation, 1), a.ceil_mode);
        });
    }
    template <class Pool>
    static auto adaptive_pool(const auto& x) {
        return separately(x, [](const auto& v, const part& p) { return call<Pool>(v, p.size); });
    }
    static std::tuple<value, value> largest_in_windows(
        emit<ops<aten::max_pool2d, aten::reshape>> e, const args<aten::max_pool3d_with_indices>& a) {
        return {refuses_indices(e) ? value{} : max_pool(term(e, a.self), a).value(), {}};
    }
    static std::tuple<value, value> largest_in_bins(
        emit<ops<aten::adaptive_max_pool2d, aten::reshape>> e, const args<aten::adaptive_max_pool3d>& a) {
        if (refuses_indices(e)) return {};
        return {adaptive_pool<aten::adaptive_max_pool2d>(term(e, a.self)).value(), {}};
    }
    static bool refuses_indices(emitter e) {
        if (use_count({const_cast<node*>(&e.current()), 1}) == 0) return false;
        e.unsupported("TOSA's poolings give no indices; use only the first result");
        return true;
    }
    template <class Plane>
    static auto upsampled(const auto& x, const auto& a, auto... align_corners) {
        return separately(x, [&](const auto& v, const part& p) {
            const auto [h, w] = scales_of(a, p);
            return call<Plane>(v, p.size, align_corners..., h, w);
        });
    }
    using scale = std::optional<double>;
    static std::pair<scale, scale> scales_of(const auto& a, const part& p) {
        if constexpr (requires { a.scale_factors; }) {
            if (!a.scale_factors || a.scale_factors->size() != 3) return {};
            const auto& s = *a.scale_factors;
            return p.of_columns ? std::pair<scale, scale>(s[0], {}) : std::pair<scale, scale>(s[1], s[2]);
        } else {
            return p.of_columns ? std::pair<scale, scale>(a.scales_d, {}) : std::pair(a.scales_h, a.scales_w);
        }
    }
};
HEADRACE_COMPILED_PASS(decompose_volumes);

/// Decomposes adaptive pooling. Output i pools the bin [floor(i · in / out), ceil((i + 1) · in / out)) of its
/// axis (PyTorch, torch.nn.AdaptiveAvgPool2d). If all bins of both axes have equal sizes and strides, a
/// single pooling does it; otherwise one axis is pooled after the other, bin by bin.
struct decompose_adaptive_pooling : pass_in<decomposition> {
    using runs_after = pass_list<canonical_pooling>;
    static constexpr std::string_view summary =
        "adaptive pooling as one pooling of equal bins, or bin by bin and concatenated";

    static auto rewrites() {
        return rules(on<aten::adaptive_avg_pool2d> = code<pooled<aten::avg_pool2d>>(),
            on<aten::adaptive_max_pool2d> = code<largest>());
    }

private:
    template <class Pool>
    using made = ops<Pool, aten::slice_tensor, aten::cat>;
    struct bins {
        std::int64_t in = 1;
        std::int64_t out = 1;

        [[nodiscard]] constexpr std::int64_t begin(std::int64_t i) const { return i * in / out; }
        [[nodiscard]] constexpr std::int64_t end(std::int64_t i) const {
            return ((i + 1) * in + out - 1) / out;
        }
        [[nodiscard]] constexpr std::int64_t size() const { return end(0); }
        [[nodiscard]] constexpr std::int64_t stride() const { return out == 1 ? in : begin(1); }
        // With a remainder of r elements, the last bin begins r - 1 elements later than `stride` implies.
        [[nodiscard]] constexpr bool uniform() const { return out == 1 || (in % out <= 1 && in >= out); }
    };

    static std::tuple<value, value> largest(emit<made<aten::max_pool2d>> e, value v) {
        return {pooled<aten::max_pool2d>(e, v), {}};
    }
    template <class Pool>
    static value pooled(emit<made<Pool>> e, value v) {
        const bins h{e.shape(v)[2], e.result_meta().shape[2]};
        const bins w{e.shape(v)[3], e.result_meta().shape[3]};
        if (std::min({h.in, h.out, w.in, w.out}) < 1)
            return e.unsupported("pooling from or to an empty tensor: TOSA has no empty tensors");
        if (h.uniform() && w.uniform()) {
            return e.template make<Pool>(
                {.self = v, .kernel_size = {h.size(), w.size()}, .stride = {h.stride(), w.stride()}});
        }
        // The mean over a bin is the mean of its row means, since all rows of a bin have the same length.
        return along<Pool>(e, along<Pool>(e, v, 2, h), 3, w);
    }
    template <class Pool>
    static value along(emit<made<Pool>> e, value v, std::int64_t axis, const bins& b) {
        const auto pool_once = [&](value part, std::int64_t size, std::int64_t stride) {
            const bool rows = axis == 2;
            return e.template make<Pool>({.self = part,
                .kernel_size = {rows ? size : 1, rows ? 1 : size},
                .stride = {rows ? stride : 1, rows ? 1 : stride}});
        };
        if (b.uniform()) return pool_once(v, b.size(), b.stride());
        if (!e.may_unroll(b.out)) return {};
        value_list parts;
        for (std::int64_t i = 0; i != b.out; ++i) {
            const value bin = e.template make<aten::slice_tensor>(
                {.self = v, .dim = axis, .start = b.begin(i), .end = b.end(i)});
            parts.push_back(pool_once(bin, b.end(i) - b.begin(i), 1));
        }
        return e.template make<aten::cat>({.tensors = parts, .dim = axis});
    }
};
HEADRACE_COMPILED_PASS(decompose_adaptive_pooling);

/// TOSA's MAX_POOL2D has no dilation and does not take INT32 (TOSA 1.0, 2.2.8). Rows and columns are pooled
/// one after the other.
struct decompose_dilated_pooling : pass_in<decomposition> {
    using runs_after = pass_list<canonical_pooling>;
    static constexpr std::string_view summary =
        "max over a dilated window, or of int32, as max of its taps, slices of the input";

    static auto rewrites() { return rules(on<aten::max_pool2d> = code<largest>()); }

private:
    using made = ops<aten::slice_tensor, aten::maximum, aten::constant_pad_nd>;
    static std::optional<value> largest(emit<made> e, const args<aten::max_pool2d>& a) {
        auto windows = windows_of({a.kernel_size, a.stride, a.padding, a.dilation}, 2);
        if (!windows) return e.fail(std::move(windows).error());
        const auto& w = windows.value();
        const bool dilated = w[0].dilation != 1 || w[1].dilation != 1;
        if (!dilated && narrowed(e.dtype(a.self)) != dtype::int32) return std::nullopt;
        const int_list& in = e.shape(a.self);
        const int_list& out = e.result_meta().shape;
        const auto after = [&](std::size_t i) {  // elements that the last window needs past the axis
            const std::int64_t end = (out[2 + i] - 1) * w[i].stride + w[i].extent();
            return std::max<std::int64_t>(end - in[2 + i] - w[i].before, 0);
        };
        const value padded = e.make<aten::constant_pad_nd>({.self = a.self,
            .pad = {w[1].before, after(1), w[0].before, after(0)},
            .value = build::bounds_of(narrowed(e.dtype(a.self))).first});
        return along(e, along(e, padded, 2, w[0], out[2]), 3, w[1], out[3]);
    }
    static value along(emit<ops<aten::slice_tensor, aten::maximum>> e, value v, std::int64_t axis,
        const window& w, std::int64_t positions) {
        value highest;
        for (std::int64_t tap = 0; e.may_unroll(w.kernel) && tap != w.kernel; ++tap) {
            const std::int64_t begin = tap * w.dilation;
            const std::int64_t end = begin + (positions - 1) * w.stride + 1;
            const value taken = e.make<aten::slice_tensor>(
                {.self = v, .dim = axis, .start = begin, .end = end, .step = w.stride});
            highest = tap == 0 ? taken : e.make<aten::maximum>(highest, taken);
        }
        return highest;
    }
};
HEADRACE_COMPILED_PASS(decompose_dilated_pooling);

}  // namespace headrace

#endif
