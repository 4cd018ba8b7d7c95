// SPDX-License-Identifier: MIT
// Defines the passes that give convolutions and poolings one form each.
#ifndef HEADRACE_PASSES_NORMALIZE_WINDOWS_HPP
#define HEADRACE_PASSES_NORMALIZE_WINDOWS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/window.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Rewrites every form of convolution to `aten.convolution` over a batch, with its lists at full length. The
/// odd element of padding="same" becomes a pad of its own (torch.nn.Conv2d).
struct canonicalize_convolutions : pass {
    using runs_after = pass_list<canonical_variants>;
    using ensures = pass_list<canonical_convolutions>;
    static constexpr std::string_view summary = "every convolution as aten.convolution over a batch";
    using layers = ops_where<aten::dialect, trait::convolving, trait::spatial>;

    static auto rewrites() {
        return rules(on_each<layers> =
                         code<made>([](auto op, emit<made> e, const auto& a) { return of_layer(op, e, a); }),
            on<aten::convolution> = code<completed>());
    }

private:
    using made = ops<aten::convolution, aten::constant_pad_nd, aten::unsqueeze, aten::squeeze_dim>;
    template <op_tag Op>
    static value of_layer(Op, emit<made> e, const args<Op>& a) {
        args<aten::convolution> layer{.input = a.input,
            .weight = a.weight,
            .bias = a.bias,
            .stride = a.stride,
            .padding = {},
            .dilation = a.dilation,
            .transposed = has_trait<Op>(trait::transposed),
            .output_padding = int_list{0},
            .groups = a.groups};
        if constexpr (std::is_same_v<decltype(a.padding), std::string_view>) {
            return convolve_padded_by_name(e, layer, a.padding);
        } else {
            if constexpr (requires { a.output_padding; }) layer.output_padding = a.output_padding;
            layer.padding = a.padding;
            return convolve(e, layer);
        }
    }

    static std::optional<value> completed(emit<made> e, const args<aten::convolution>& a) {
        const std::size_t dims = spatial_dims(e, a.weight);
        for (const int_list* list : {&a.stride, &a.padding, &a.dilation, &a.output_padding}) {
            if (list->size() != dims) return convolve(e, a);
        }
        return std::nullopt;
    }
    static std::size_t spatial_dims(const emitter& e, value weight) { return e.rank(weight) - 2; }

    static value convolve_padded_by_name(emit<made> e, args<aten::convolution> a, std::string_view name) {
        const std::size_t dims = spatial_dims(e, a.weight);
        shape_builder padding = shape_builder::filled(dims, 0);
        shape_builder odd = shape_builder::filled(2 * dims, 0);  // for aten.constant_pad_nd: last axis first
        if (name == "same") {
            for (std::size_t i = 0; i != dims; ++i) {
                window w{.kernel = e.shape(a.weight)[2 + i],
                    .dilation = a.dilation[a.dilation.size() == 1 ? 0 : i]};
                w = same_padded(w);
                padding[i] = w.before;
                odd[2 * (dims - 1 - i) + 1] = w.after - w.before;
            }
        } else if (name != "valid") {
            return e.unsupported("padding must be \"same\" or \"valid\"");
        }
        if (std::any_of(odd.begin(), odd.end(), [](std::int64_t n) { return n != 0; })) {
            a.input = e.make<aten::constant_pad_nd>({.self = a.input, .pad = int_list(odd)});
        }
        a.padding = int_list(padding);
        return convolve(e, a);
    }

    // Makes a convolution with a batch, and with all lists at full length.
    static value convolve(emit<made> e, args<aten::convolution> a) {
        const std::size_t dims = spatial_dims(e, a.weight);
        for (int_list* list : {&a.stride, &a.padding, &a.dilation, &a.output_padding}) {
            if (list->size() != dims) *list = int_list(shape_builder::filled(dims, list->front()));
        }
        const bool batched = e.rank(a.input) == dims + 2;
        if (!batched) a.input = e.make<aten::unsqueeze>({.self = a.input, .dim = 0});
        const value result = e.make<aten::convolution>(a);
        return batched ? result : e.make<aten::squeeze_dim>({.self = result, .dim = 0});
    }
};
HEADRACE_COMPILED_PASS(canonicalize_convolutions);

/// Rewrites pooling over one spatial axis, or without a batch, to `avg_pool2d`, `max_pool2d` and
/// `adaptive_avg_pool2d` over [N, C, H, W], and drops indices that are not read.
struct canonicalize_pooling : pass {
    using runs_after = pass_list<canonical_variants>;
    using ensures = pass_list<canonical_pooling>;
    static constexpr std::string_view summary =
        "poolings over one axis or without a batch as poolings over [N, C, H, W]";

    static auto rewrites() {
        return rules(on<aten::avg_pool1d> = code<made>(
                         [](emit<made> e, const auto& a) { return pooled<aten::avg_pool2d>(e, a); }),
            on<aten::max_pool1d> =
                code<made>([](emit<made> e, const auto& a) { return pooled<aten::max_pool2d>(e, a); }),
            on<aten::adaptive_avg_pool1d> = code<made>(
                [](emit<made> e, const auto& a) { return adaptive<aten::adaptive_avg_pool2d>(e, a); }),
            on<aten::avg_pool2d, aten::max_pool2d, aten::adaptive_avg_pool2d> =
                code<made>([](auto op, emit<made> e, const auto& a) { return unbatched(op, e, a); }),
            on<aten::_adaptive_avg_pool2d> = code<made>([](emit<made> e, const auto& a) {
                return over_batch<aten::adaptive_avg_pool2d>(
                    e, {.self = a.self, .output_size = a.output_size});
            }),
            on<aten::max_pool1d_with_indices> = code<made>([](emit<made> e, const auto& a) {
                return without_indices(e, [&] { return pooled<aten::max_pool2d>(e, a); });
            }),
            on<aten::max_pool2d_with_indices> = code<plane_maxima>(),
            on<aten::adaptive_max_pool1d> = code<made>([](emit<made> e, const auto& a) {
                return without_indices(e, [&] { return adaptive<aten::adaptive_max_pool2d>(e, a); });
            }),
            on<aten::adaptive_max_pool2d> = code<adaptive_maxima>());
    }

private:
    using made = ops<aten::avg_pool2d, aten::max_pool2d, aten::adaptive_avg_pool2d, aten::adaptive_max_pool2d,
        aten::unsqueeze, aten::squeeze_dim>;
    using pair = std::tuple<value, value>;  // of a pooling and its indices, which are empty

    template <op_tag To>
    static value pooled(emit<made> e, const auto& a) {
        args<To> plane{.self = a.self,
            .kernel_size = {1, a.kernel_size[0]},
            .stride = {1, a.stride.empty() ? a.kernel_size[0] : a.stride[0]},
            .padding = {0, a.padding[0]},
            .ceil_mode = a.ceil_mode};
        if constexpr (requires { a.dilation; }) plane.dilation = {1, a.dilation[0]};
        if constexpr (requires { a.count_include_pad; }) plane.count_include_pad = a.count_include_pad;
        return over_rows<To>(e, plane);
    }
    template <op_tag To>
    static value adaptive(emit<made> e, const auto& a) {
        return over_rows<To>(e, {.self = a.self, .output_size = {1, a.output_size[0]}});
    }
    template <op_tag Op>
    static std::optional<value> unbatched(Op, emit<made> e, const args<Op>& a) {
        if (e.rank(a.self) == 4) return std::nullopt;
        return over_batch<Op>(e, a);
    }
    static pair plane_maxima(emit<made> e, const args<aten::max_pool2d_with_indices>& a) {
        return without_indices(e, [&] {
            return over_batch<aten::max_pool2d>(
                e, convert_args<aten::max_pool2d, aten::max_pool2d_with_indices>(a));
        });
    }
    static std::optional<pair> adaptive_maxima(emit<made> e, const args<aten::adaptive_max_pool2d>& a) {
        if (!indices_are_used(e) && e.rank(a.self) == 4) return std::nullopt;
        return without_indices(e, [&] { return over_batch<aten::adaptive_max_pool2d>(e, a); });
    }

    static bool indices_are_used(const emitter& e) {
        return use_count({const_cast<node*>(&e.current()), 1}) != 0;
    }
    static pair without_indices(emitter e, const auto& pool) {
        if (!indices_are_used(e)) return {pool(), {}};
        return {e.unsupported("TOSA's poolings give no indices; use only the first result"), {}};
    }
    template <op_tag To>
    static value over_batch(emit<made> e, args<To> a) {
        if (e.rank(a.self) == 4) return e.template make<To>(a);
        a.self = e.make<aten::unsqueeze>({.self = a.self, .dim = 0});
        return e.make<aten::squeeze_dim>({.self = e.template make<To>(a), .dim = 0});
    }
    template <op_tag To>
    static value over_rows(emit<made> e, args<To> a) {
        a.self = e.make<aten::unsqueeze>({.self = a.self, .dim = -2});
        return e.make<aten::squeeze_dim>({.self = over_batch<To>(e, a), .dim = -2});
    }
};
HEADRACE_COMPILED_PASS(canonicalize_pooling);

}  // namespace headrace

#endif
