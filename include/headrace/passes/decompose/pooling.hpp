// SPDX-License-Identifier: MIT
// Defines the decompositions of pooling, and of upsampling over three axes.
#ifndef HEADRACE_PASSES_DECOMPOSE_POOLING_HPP
#define HEADRACE_PASSES_DECOMPOSE_POOLING_HPP

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/window.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/narrowing.hpp>
#include <headrace/passes/support/resizing.hpp>

namespace headrace {

struct decompose_dilated_pooling;
/// Decomposes pooling and upsampling over three axes; TOSA's pooling and RESIZE have two spatial axes (TOSA
/// 1.0, 2.2 and 2.11). These ops are separable: first over height and width of every slice, with slices next
/// to channels, and then over the depth of every column. A window's element count is the product of its
/// counts along the axes, even if it is clipped, so averages of averages are right.
struct decompose_volumes : pass {
    using phase = decomposition;
    using runs_before = pass_list<decompose_dilated_pooling>;
    static constexpr std::string_view summary =
        "3-d pooling and upsampling as 2-d of every slice, then of every column";

    using max_pools = ops<aten::max_pool3d, aten::max_pool3d_with_indices>;
    using adaptive_averages = ops<aten::adaptive_avg_pool3d, aten::_adaptive_avg_pool3d>;
    using nearest = ops<aten::upsample_nearest3d, aten::upsample_nearest3d_vec>;
    using nearest_exact = ops<aten::_upsample_nearest_exact3d, aten::_upsample_nearest_exact3d_vec>;
    using linear = ops<aten::upsample_trilinear3d, aten::upsample_trilinear3d_vec>;
    using targeted_ops = joined<max_pools, adaptive_averages, nearest, nearest_exact, linear,
        ops<aten::avg_pool3d, aten::adaptive_max_pool3d>>;
    using produces = ops<aten::max_pool2d, aten::avg_pool2d, aten::adaptive_avg_pool2d,
        aten::adaptive_max_pool2d, aten::upsample_nearest2d, aten::_upsample_nearest_exact2d,
        aten::upsample_bilinear2d, aten::reshape>;

    value operator()(const args<aten::max_pool3d>& a, emit<produces>& e) const { return max_pool(a, e); }
    std::tuple<value, value> operator()(
        const args<aten::max_pool3d_with_indices>& a, emit<produces>& e) const {
        return {refuses_indices(e) ? value{} : max_pool(a, e), {}};
    }
    value operator()(const args<aten::avg_pool3d>& a, emit<produces>& e) const {
        const triple kernel(a.kernel_size), stride(a.stride.empty() ? a.kernel_size : a.stride),
            padding(a.padding);
        return separately(e, a.self, [&](value v, const part& p) {
            // The caller's divisor replaces both divisions, so the first step computes sums.
            const bool sums = a.divisor_override && !p.of_columns;
            return e.make<aten::avg_pool2d>({.self = v,
                .kernel_size = kernel.of(p, 1),
                .stride = stride.of(p, 1),
                .padding = padding.of(p, 0),
                .ceil_mode = a.ceil_mode,
                .count_include_pad = a.count_include_pad,
                .divisor_override = sums ? std::optional<std::int64_t>(1) : a.divisor_override});
        });
    }
    template <one_of<adaptive_averages> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return separately(e, a.self, [&](value v, const part& p) {
            return e.make<aten::adaptive_avg_pool2d>({.self = v, .output_size = p.size});
        });
    }
    std::tuple<value, value> operator()(const args<aten::adaptive_max_pool3d>& a, emit<produces>& e) const {
        if (refuses_indices(e)) return {};
        const auto pool = [&](value v, const part& p) {
            return e.make<aten::adaptive_max_pool2d>({.self = v, .output_size = p.size});
        };
        return {separately(e, a.self, pool), {}};
    }
    template <one_of<joined<nearest, nearest_exact>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        using plane_op = std::conditional_t<one_of<Op, nearest>, aten::upsample_nearest2d,
            aten::_upsample_nearest_exact2d>;
        return separately(e, resized_input(a), [&](value v, const part& p) {
            const auto [h, w] = scales_of(a, p);
            return e.make<plane_op>({.self = v, .output_size = p.size, .scales_h = h, .scales_w = w});
        });
    }
    template <one_of<linear> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return separately(e, resized_input(a), [&](value v, const part& p) {
            const auto [h, w] = scales_of(a, p);
            return e.make<aten::upsample_bilinear2d>({.self = v,
                .output_size = p.size,
                .align_corners = a.align_corners,
                .scales_h = h,
                .scales_w = w});
        });
    }

private:
    /// One of the two steps, and the height and width of its result.
    struct part {
        bool of_columns;
        int_list size;
    };
    /// Three numbers, or one for all axes.
    struct triple {
        explicit triple(const int_list& n)
            : depth(n[0]), height(n[n.size() == 3 ? 1 : 0]), width(n[n.size() - 1]) {}
        /// Returns the numbers for a step: columns have no width.
        [[nodiscard]] int_list of(const part& p, std::int64_t none) const {
            return p.of_columns ? int_list{depth, none} : int_list{height, width};
        }
        std::int64_t depth, height, width;
    };

    static value max_pool(const auto& a, emit<produces>& e) {
        const triple kernel(a.kernel_size), stride(a.stride.empty() ? a.kernel_size : a.stride),
            padding(a.padding), dilation(a.dilation);
        return separately(e, a.self, [&](value v, const part& p) {
            return e.make<aten::max_pool2d>({.self = v,
                .kernel_size = kernel.of(p, 1),
                .stride = stride.of(p, 1),
                .padding = padding.of(p, 0),
                .dilation = dilation.of(p, 1),
                .ceil_mode = a.ceil_mode});
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

    /// `step` makes images of the result's size from [N, C · D, H, W], then its depth from [N, C, D, H · W].
    static value separately(emit<produces>& e, value v, function_ref<value(value, const part&)> step) {
        const int_list in = e.shape(v);
        const int_list out = e.result_meta().shape;
        const std::size_t lead = in.size() - 3;
        const std::int64_t batch = lead == 2 ? in[0] : 1;
        const std::int64_t channels = in[lead - 1];
        const int_list plane{out[lead + 1], out[lead + 2]};
        const std::int64_t area = plane[0] * plane[1];
        const auto reshaped = [&](value x, int_list shape) {
            return e.make<aten::reshape>({.self = x, .shape = shape});
        };
        v = reshaped(v, {batch, channels * in[lead], in[lead + 1], in[lead + 2]});
        v = step(v, part{false, plane});
        v = reshaped(v, {batch, channels, in[lead], area});
        v = step(v, part{true, {out[lead], area}});
        return reshaped(v, out);
    }

    static bool refuses_indices(emitter& e) {
        if (use_count({const_cast<node*>(&e.current()), 1}) == 0) return false;
        e.unsupported("TOSA's poolings give no indices; use only the first result");
        return true;
    }
};
HEADRACE_COMPILED_PASS(decompose_volumes);

/// Decomposes adaptive pooling. Output i pools the bin [floor(i · in / out), ceil((i + 1) · in / out)) of its
/// axis (PyTorch, torch.nn.AdaptiveAvgPool2d). If all bins of both axes have equal sizes and strides, a
/// single pooling does it; otherwise one axis is pooled after the other, bin by bin.
struct decompose_adaptive_pooling : pass {
    using phase = decomposition;
    using runs_after = pass_list<canonical_pooling>;
    static constexpr std::string_view summary =
        "adaptive pooling as one pooling of equal bins, or bin by bin and concatenated";

    using targeted_ops = ops<aten::adaptive_avg_pool2d, aten::adaptive_max_pool2d>;
    using produces = ops<aten::avg_pool2d, aten::max_pool2d, aten::slice_tensor, aten::cat>;

    value operator()(const args<aten::adaptive_avg_pool2d>& a, emit<produces>& e) const {
        return pool<aten::avg_pool2d>(e, a.self);
    }
    std::tuple<value, value> operator()(const args<aten::adaptive_max_pool2d>& a, emit<produces>& e) const {
        return {pool<aten::max_pool2d>(e, a.self), {}};
    }

private:
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

    template <class Pool>
    static value pool(emit<produces>& e, value v) {
        const bins h{e.shape(v)[2], e.result_meta().shape[2]};
        const bins w{e.shape(v)[3], e.result_meta().shape[3]};
        if (std::min({h.in, h.out, w.in, w.out}) < 1)
            return e.unsupported("pooling from or to an empty tensor: TOSA has no empty tensors");
        if (h.uniform() && w.uniform()) {
            return e.make<Pool>(
                {.self = v, .kernel_size = {h.size(), w.size()}, .stride = {h.stride(), w.stride()}});
        }
        // The mean over a bin is the mean of its row means, since all rows of a bin have the same length.
        return along<Pool>(e, along<Pool>(e, v, 2, h), 3, w);
    }

    template <class Pool>
    static value along(emit<produces>& e, value v, std::int64_t axis, const bins& b) {
        const auto pool_once = [&](value part, std::int64_t size, std::int64_t stride) {
            const bool rows = axis == 2;
            return e.make<Pool>({.self = part,
                .kernel_size = {rows ? size : 1, rows ? 1 : size},
                .stride = {rows ? stride : 1, rows ? 1 : stride}});
        };
        if (b.uniform()) return pool_once(v, b.size(), b.stride());
        if (!e.may_unroll(b.out)) return {};
        value_list parts;
        for (std::int64_t i = 0; i != b.out; ++i) {
            const value bin =
                e.make<aten::slice_tensor>({.self = v, .dim = axis, .start = b.begin(i), .end = b.end(i)});
            parts.push_back(pool_once(bin, b.end(i) - b.begin(i), 1));
        }
        return e.make<aten::cat>({.tensors = parts, .dim = axis});
    }
};
HEADRACE_COMPILED_PASS(decompose_adaptive_pooling);

/// TOSA's MAX_POOL2D has no dilation and does not take INT32 (TOSA 1.0, 2.2.8). Rows and columns are pooled
/// one after the other.
struct decompose_dilated_pooling : pass {
    using phase = decomposition;
    using runs_after = pass_list<canonical_pooling>;
    static constexpr std::string_view summary =
        "max over a dilated window, or of int32, as max of its taps, slices of the input";

    using targeted_ops = ops<aten::max_pool2d>;
    using produces = ops<aten::slice_tensor, aten::maximum, aten::constant_pad_nd>;

    std::optional<value> operator()(const args<aten::max_pool2d>& a, emit<produces>& e) const {
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
            .value = lowest(e.dtype(a.self))});
        return along(e, along(e, padded, 2, w[0], out[2]), 3, w[1], out[3]);
    }

private:
    static scalar lowest(dtype t) {
        if (is_floating(t)) return -std::numeric_limits<double>::infinity();
        return build::bounds_of(narrowed(t)).first;
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
