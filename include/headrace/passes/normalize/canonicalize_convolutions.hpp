// SPDX-License-Identifier: MIT
// Defines headrace::canonicalize_convolutions.
#ifndef HEADRACE_PASSES_NORMALIZE_CANONICALIZE_CONVOLUTIONS_HPP
#define HEADRACE_PASSES_NORMALIZE_CANONICALIZE_CONVOLUTIONS_HPP

#include <algorithm>
#include <optional>
#include <string_view>
#include <type_traits>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/window.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Rewrites every form of convolution to `aten.convolution` over a batch, with its lists at full length. The
/// odd element of padding="same" becomes a pad of its own (torch.nn.Conv2d).
struct canonicalize_convolutions : pass {
    using runs_after = pass_list<canonical_variants>;
    using ensures = pass_list<canonical_convolutions>;
    static constexpr std::string_view summary = "every convolution as aten.convolution over a batch";
    using layers = ops_where<aten::dialect, trait::convolving, trait::spatial>;
    using targeted_ops = joined<layers, ops<aten::convolution>>;
    using produces = ops<aten::convolution, aten::constant_pad_nd, aten::unsqueeze, aten::squeeze_dim>;

    template <one_of<layers> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
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

    std::optional<value> operator()(const args<aten::convolution>& a, emit<produces>& e) const {
        const std::size_t dims = spatial_dims(e, a.weight);
        for (const int_list* list : {&a.stride, &a.padding, &a.dilation, &a.output_padding}) {
            if (list->size() != dims) return convolve(e, a);
        }
        return std::nullopt;
    }

private:
    static std::size_t spatial_dims(const emitter& e, value weight) { return e.rank(weight) - 2; }

    static value convolve_padded_by_name(
        emit<produces>& e, args<aten::convolution> a, std::string_view name) {
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
        if (!std::all_of(odd.begin(), odd.end(), [](std::int64_t n) { return n == 0; })) {
            a.input = e.make<aten::constant_pad_nd>({.self = a.input, .pad = int_list(odd)});
        }
        a.padding = int_list(padding);
        return convolve(e, a);
    }

    // Makes a convolution with a batch, and with all lists at full length.
    static value convolve(emit<produces>& e, args<aten::convolution> a) {
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

}  // namespace headrace

#endif
