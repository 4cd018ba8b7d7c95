// SPDX-License-Identifier: MIT
// Defines headrace::decompose_volumes.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_VOLUMES_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_VOLUMES_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>
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

}  // namespace headrace

#endif
