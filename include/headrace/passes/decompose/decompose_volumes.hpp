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
/// TOSA's poolings and RESIZE have two spatial axes (TOSA 1.0, 2.2 and 2.11). Those over three are
/// separable: first height and width of every slice, the slices standing beside the channels, and then the
/// depth of every column. A window's number of elements is the product of those along its axes, which holds
/// for clipped windows as well, so that averages of averages are right.
struct decompose_volumes : pass {
    using phase = decomposition;
    using runs_before = pass_list<decompose_dilated_pooling>;
    using max_pools = ops<aten::max_pool3d, aten::max_pool3d_with_indices>;
    using adaptive_averages = ops<aten::adaptive_avg_pool3d, aten::_adaptive_avg_pool3d>;
    using nearest = ops<aten::upsample_nearest3d, aten::upsample_nearest3d_vec>;
    using linear = ops<aten::upsample_trilinear3d, aten::upsample_trilinear3d_vec>;
    using targets = joined<max_pools, adaptive_averages, nearest, linear,
                           ops<aten::avg_pool3d, aten::adaptive_max_pool3d>>;
    using produces =
        ops<aten::max_pool2d, aten::avg_pool2d, aten::adaptive_avg_pool2d, aten::adaptive_max_pool2d,
            aten::upsample_nearest2d, aten::upsample_bilinear2d, aten::reshape>;

    value operator()(const args<aten::max_pool3d>& a, emit<produces>& e) const { return max_pool(a, e); }
    std::tuple<value, value> operator()(const args<aten::max_pool3d_with_indices>& a,
                                        emit<produces>& e) const {
        if (second_is_used(e)) return {refuse_indices(e), {}};
        return {max_pool(a, e), {}};
    }
    value operator()(const args<aten::avg_pool3d>& a, emit<produces>& e) const {
        const triple kernel(a.kernel_size), stride(a.stride.empty() ? a.kernel_size : a.stride),
            padding(a.padding);
        // The caller's divisor replaces both: sums first.
        const auto divisor = a.divisor_override ? std::optional<std::int64_t>(1) : std::nullopt;
        return separately(
            e, a.self,
            [&](value v, const image&) {
                return e.make<aten::avg_pool2d>({.self = v,
                                                 .kernel_size = kernel.plane(),
                                                 .stride = stride.plane(),
                                                 .padding = padding.plane(),
                                                 .ceil_mode = a.ceil_mode,
                                                 .count_include_pad = a.count_include_pad,
                                                 .divisor_override = divisor});
            },
            [&](value v, const image&) {
                return e.make<aten::avg_pool2d>({.self = v,
                                                 .kernel_size = {kernel.depth, 1},
                                                 .stride = {stride.depth, 1},
                                                 .padding = {padding.depth, 0},
                                                 .ceil_mode = a.ceil_mode,
                                                 .count_include_pad = a.count_include_pad,
                                                 .divisor_override = a.divisor_override});
            });
    }
    template <one_of<adaptive_averages> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const auto pool = [&](value v, const image& to) {
            return e.make<aten::adaptive_avg_pool2d>({.self = v, .output_size = {to.height, to.width}});
        };
        return separately(e, a.self, pool, pool);
    }
    std::tuple<value, value> operator()(const args<aten::adaptive_max_pool3d>& a, emit<produces>& e) const {
        if (second_is_used(e)) return {refuse_indices(e), {}};
        const auto pool = [&](value v, const image& to) {
            node* made =
                e.make_node<aten::adaptive_max_pool2d>({.self = v, .output_size = {to.height, to.width}});
            return made == nullptr ? value{} : made->result();
        };
        return {separately(e, a.self, pool, pool), {}};
    }
    template <one_of<nearest> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return resized(e, a, [&](value v, const image& to, std::optional<double> h, std::optional<double> w) {
            return e.make<aten::upsample_nearest2d>(
                {.self = v, .output_size = {to.height, to.width}, .scales_h = h, .scales_w = w});
        });
    }
    template <one_of<linear> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return resized(e, a, [&](value v, const image& to, std::optional<double> h, std::optional<double> w) {
            return e.make<aten::upsample_bilinear2d>({.self = v,
                                                      .output_size = {to.height, to.width},
                                                      .align_corners = a.align_corners,
                                                      .scales_h = h,
                                                      .scales_w = w});
        });
    }

private:
    struct image {
        std::int64_t height, width;
    };
    /// Three numbers, or one for all.
    struct triple {
        explicit triple(const int_list& n)
            : depth(n[0]), height(n[n.size() == 3 ? 1 : 0]), width(n[n.size() - 1]) {}
        [[nodiscard]] int_list plane() const { return {height, width}; }
        std::int64_t depth, height, width;
    };

    template <class Args>
    static value max_pool(const Args& a, emit<produces>& e) {
        const triple kernel(a.kernel_size), stride(a.stride.empty() ? a.kernel_size : a.stride),
            padding(a.padding), dilation(a.dilation);
        return separately(
            e, a.self,
            [&](value v, const image&) {
                return e.make<aten::max_pool2d>({.self = v,
                                                 .kernel_size = kernel.plane(),
                                                 .stride = stride.plane(),
                                                 .padding = padding.plane(),
                                                 .dilation = dilation.plane(),
                                                 .ceil_mode = a.ceil_mode});
            },
            [&](value v, const image&) {
                return e.make<aten::max_pool2d>({.self = v,
                                                 .kernel_size = {kernel.depth, 1},
                                                 .stride = {stride.depth, 1},
                                                 .padding = {padding.depth, 0},
                                                 .dilation = {dilation.depth, 1},
                                                 .ceil_mode = a.ceil_mode});
            });
    }

    template <class Args, class Resize>
    static value resized(emit<produces>& e, const Args& a, Resize&& resize) {
        std::optional<double> d, h, w;
        if constexpr (requires { a.scale_factors; }) {
            if (a.scale_factors && a.scale_factors->size() == 3) {
                d = (*a.scale_factors)[0];
                h = (*a.scale_factors)[1];
                w = (*a.scale_factors)[2];
            }
        } else {
            d = a.scales_d;
            h = a.scales_h;
            w = a.scales_w;
        }
        return separately(
            e, resized_input(a), [&](value v, const image& to) { return resize(v, to, h, w); },
            [&](value v, const image& to) { return resize(v, to, d, std::nullopt); });
    }

    /// `planes` makes images of a size from [N, C · D, H, W], and `columns` the result's depth from
    /// [N, C, D, H · W].
    template <class Planes, class Columns>
    static value separately(emit<produces>& e, value v, Planes&& planes, Columns&& columns) {
        const int_list in = e.shape(v);
        const int_list out = e.result_meta().shape;
        const std::size_t lead = in.size() - 3;
        const std::int64_t batch = lead == 2 ? in[0] : 1;
        const std::int64_t channels = in[lead - 1];
        const image plane{out[lead + 1], out[lead + 2]};
        const auto viewed = [&](value x, int_list shape) {
            return e.make<aten::reshape>({.self = x, .shape = shape});
        };
        v = viewed(v, {batch, channels * in[lead], in[lead + 1], in[lead + 2]});
        v = planes(v, plane);
        v = viewed(v, {batch, channels, in[lead], plane.height * plane.width});
        v = columns(v, image{out[lead], plane.height * plane.width});
        return viewed(v, out);
    }

    static bool second_is_used(const emitter& e) {
        return use_count({const_cast<node*>(&e.current()), 1}) != 0;
    }
    static value refuse_indices(emitter& e) {
        return e.unsupported("TOSA's poolings give no indices; use only the first result");
    }
};

}  // namespace headrace

#endif
