// SPDX-License-Identifier: MIT
// Defines headrace::spell_kernel_ops.
#ifndef HEADRACE_PASSES_EXECUTORCH_SPELL_KERNEL_OPS_HPP
#define HEADRACE_PASSES_EXECUTORCH_SPELL_KERNEL_OPS_HPP

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/aten_view.hpp>
#include <headrace/pass/op_map.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Turns composite ops into the core ops that ExecuTorch has kernels for, where one op becomes one op or two:
/// softmax into `_softmax`, layer_norm into the first result of `native_layer_norm`.
struct spell_kernel_ops : pass {
    using runs_after = pass_list<functional, canonical_variants>;
    using invalidates = pass_list<no_dead_code, duplicates_merged, nodes_sorted>;
    static constexpr std::string_view summary = "composite ops as core ops that the runtime has";
    static constexpr bool repeatable = true;
    using softmaxes = ops<aten::softmax_int, aten::log_softmax_int>;
    using permutes = ops<aten::t, aten::movedim_int, aten::movedim_intlist>;
    using splits = ops<aten::split_sizes, aten::unsafe_split_tensor, aten::unsafe_split_with_sizes,
                       aten::chunk, aten::tensor_split_sections, aten::tensor_split_indices>;
    using alls = ops<aten::all, aten::all_dim, aten::all_dims>;
    using upsamples = ops<aten::upsample_nearest2d, aten::upsample_bilinear2d>;
    using row_upsamples = ops<aten::upsample_nearest1d, aten::upsample_linear1d>;
    using row_upsamples_by_vector = ops<aten::upsample_nearest1d_vec, aten::upsample_linear1d_vec>;
    using index_writes = ops<aten::index_copy, aten::index_add>;
    using synonyms = op_map<becomes<aten::_unsafe_index_tensor, aten::index_tensor>,
                            becomes<aten::_unsafe_index_put, aten::index_put>,
                            becomes<aten::broadcast_to, aten::expand>, becomes<aten::tile, aten::repeat>>;
    using targeted_ops =
        joined<softmaxes, permutes, splits, alls, upsamples, row_upsamples, row_upsamples_by_vector,
               index_writes, synonyms::keys,
               ops<aten::layer_norm, aten::group_norm, aten::batch_norm, aten::max_pool2d,
                   aten::adaptive_avg_pool2d, aten::sum, aten::aminmax, aten::arange, aten::arange_start,
                   aten::gather, aten::linear, aten::pad, aten::grid_sampler>>;
    using produces = joined<
        synonyms::values,
        ops<aten::_softmax, aten::_log_softmax, aten::_to_copy, aten::permute, aten::narrow, aten::any,
            aten::any_dim, aten::any_dims, aten::logical_not, aten::native_layer_norm,
            aten::native_group_norm, aten::_native_batch_norm_legit_no_stats,
            aten::_native_batch_norm_legit_no_training, aten::max_pool2d_with_indices,
            aten::_adaptive_avg_pool2d, aten::sum_dim_intlist, aten::upsample_nearest2d_vec,
            aten::upsample_bilinear2d_vec, aten::unsqueeze, aten::squeeze_dim, aten::amin, aten::amax,
            aten::arange_start_step, aten::constant_pad_nd, aten::reflection_pad1d, aten::reflection_pad2d,
            aten::reflection_pad3d, aten::replication_pad1d, aten::replication_pad2d, aten::replication_pad3d,
            aten::mul_scalar, aten::gather, aten::linear, aten::cat, aten::grid_sampler_2d>>;

    template <one_of<softmaxes> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const dtype type = e.result_meta().dtype;
        value x = a.self;
        if (e.dtype(x) != type) x = e.make<aten::_to_copy>({.self = x, .dtype = type});
        if constexpr (__is_same(Op, aten::softmax_int)) {
            return e.make<aten::_softmax>({.self = x, .dim = a.dim, .half_to_float = false});
        } else {
            return e.make<aten::_log_softmax>({.self = x, .dim = a.dim, .half_to_float = false});
        }
    }

    value operator()(const args<aten::layer_norm>& a, emit<produces>& e) const {
        return first_of<aten::native_layer_norm>(e, {a.input, a.normalized_shape, a.weight, a.bias, a.eps});
    }
    value operator()(const args<aten::group_norm>& a, emit<produces>& e) const {
        const int_list& shape = e.shape(a.input);
        std::int64_t area = 1;
        for (std::size_t i = 2; i < shape.size(); ++i) area *= shape[i];
        return first_of<aten::native_group_norm>(
            e, {a.input, a.weight, a.bias, shape[0], shape[1], area, a.num_groups, a.eps});
    }
    /// By statistics that are given, or by those of the batch, as instance_norm has it.
    value operator()(const args<aten::batch_norm>& a, emit<produces>& e) const {
        if (a.running_mean && a.running_var && !a.training) {
            return first_of<aten::_native_batch_norm_legit_no_training>(
                e, {a.input, a.weight, a.bias, *a.running_mean, *a.running_var, a.momentum, a.eps});
        }
        if (a.running_mean || a.running_var)
            return e.unsupported(
                "batch_norm that updates its running statistics; export the model after model.eval()");
        return first_of<aten::_native_batch_norm_legit_no_stats>(
            e, {a.input, a.weight, a.bias, true, a.momentum, a.eps});
    }
    value operator()(const args<aten::max_pool2d>& a, emit<produces>& e) const {
        return first_of<aten::max_pool2d_with_indices>(
            e, {a.self, a.kernel_size, a.stride, a.padding, a.dilation, a.ceil_mode});
    }
    value operator()(const args<aten::adaptive_avg_pool2d>& a, emit<produces>& e) const {
        return e.make<aten::_adaptive_avg_pool2d>({.self = a.self, .output_size = a.output_size});
    }
    value operator()(const args<aten::grid_sampler>& a, emit<produces>& e) const {
        if (e.rank(a.input) != 4) return e.unsupported("only images are sampled, not volumes");
        return e.make<aten::grid_sampler_2d>(convert_args<aten::grid_sampler_2d, aten::grid_sampler>(a));
    }
    value operator()(const args<aten::sum>& a, emit<produces>& e) const {
        return e.make<aten::sum_dim_intlist>({.self = a.self, .dim = {}, .dtype = a.dtype});
    }
    template <one_of<synonyms::keys> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        using to = synonyms::at<Op>;
        if constexpr (__is_same(Op, aten::broadcast_to)) {
            return e.make<to>({.self = a.self, .size = a.size});
        } else if constexpr (__is_same(Op, aten::tile)) {
            shape_builder repeats = shape_builder::filled(e.result_meta().rank(), 1);
            const std::size_t missing = repeats.size() - a.dims.size();
            for (std::size_t i = 0; i != a.dims.size(); ++i) repeats[missing + i] = a.dims[i];
            return e.make<to>({.self = a.self, .repeats = int_list(repeats)});
        } else {
            return e.make<to>(convert_args<to, Op>(a));
        }
    }
    std::tuple<value, value> operator()(const args<aten::aminmax>& a, emit<produces>& e) const {
        const int_list axes = a.dim ? int_list{*a.dim} : int_list{};
        return {e.make<aten::amin>({.self = a.self, .dim = axes, .keepdim = a.keepdim}),
                e.make<aten::amax>({.self = a.self, .dim = axes, .keepdim = a.keepdim})};
    }
    value operator()(const args<aten::arange>& a, emit<produces>& e) const {
        return e.make<aten::arange_start_step>({0, a.end, 1, e.result_meta().dtype});
    }
    value operator()(const args<aten::arange_start>& a, emit<produces>& e) const {
        return e.make<aten::arange_start_step>({a.start, a.end, 1, e.result_meta().dtype});
    }
    /// The kernel takes no vector, but a matrix of one row.
    std::optional<value> operator()(const args<aten::linear>& a, emit<produces>& e) const {
        if (e.rank(a.input) != 1) return std::nullopt;
        args<aten::linear> batched = a;
        batched.input = e.make<aten::unsqueeze>({.self = a.input, .dim = 0});
        return e.make<aten::squeeze_dim>({.self = e.make<aten::linear>(batched), .dim = 0});
    }
    /// The kernel takes indices of int64.
    std::optional<value> operator()(const args<aten::gather>& a, emit<produces>& e) const {
        if (e.dtype(a.index) == dtype::int64) return std::nullopt;
        args<aten::gather> same = a;
        same.index = e.make<aten::_to_copy>({.self = a.index, .dtype = dtype::int64});
        return e.make<aten::gather>(same);
    }
    value operator()(const args<aten::pad>& a, emit<produces>& e) const {
        const std::size_t axes = a.pad.size() / 2;
        if (a.mode == "constant")
            return e.make<aten::constant_pad_nd>(
                {.self = a.self, .pad = a.pad, .value = scalar(a.value.value_or(0.0))});
        if (a.mode == "reflect" && axes == 1) return e.make<aten::reflection_pad1d>({a.self, a.pad});
        if (a.mode == "reflect" && axes == 2) return e.make<aten::reflection_pad2d>({a.self, a.pad});
        if (a.mode == "reflect" && axes == 3) return e.make<aten::reflection_pad3d>({a.self, a.pad});
        if (a.mode == "replicate" && axes == 1) return e.make<aten::replication_pad1d>({a.self, a.pad});
        if (a.mode == "replicate" && axes == 2) return e.make<aten::replication_pad2d>({a.self, a.pad});
        if (a.mode == "replicate" && axes == 3) return e.make<aten::replication_pad3d>({a.self, a.pad});
        if (a.mode == "circular") return wrapped(e, a);
        return e.unsupported(
            "ExecuTorch has no kernel for padding of this mode; write it as a cat of slices");
    }

    /// The kernels take the sizes or the scales, from which the sizes follow.
    template <one_of<upsamples> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        std::optional<list<double>> scales;
        const double given[] = {a.scales_h.value_or(0), a.scales_w.value_or(0)};
        if (a.scales_h && a.scales_w) scales = list<double>(given, 2);
        return upsampled(e, a, a.self, a.output_size, scales);
    }
    /// One axis is an image of one row.
    template <one_of<row_upsamples> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return upsampled_row(e, a, a.self, a.scales);
    }
    template <one_of<row_upsamples_by_vector> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const auto& scales = a.scale_factors;
        const bool given = scales && scales->size() == 1;
        return upsampled_row(e, a, a.input, given ? std::optional((*scales)[0]) : std::nullopt);
    }

    /// The rows of an axis at given indices, as elements to write.
    template <one_of<index_writes> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        std::vector<std::optional<value>> indices(axis + 1);
        if (e.rank(a.self) == 0)
            return e.unsupported("ExecuTorch's index_put does not write to a tensor of rank 0");
        indices[axis] = a.index;
        value values = a.source;
        bool adds = false;
        if constexpr (__is_same(Op, aten::index_add)) {
            adds = true;
            if (a.alpha.to_double() != 1)
                values = e.make<aten::mul_scalar>({.self = values, .other = a.alpha});
        }
        return e.make<aten::index_put>({a.self, list<std::optional<value>>(indices), values, adds});
    }

    template <one_of<permutes> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const result<shape_builder> order = order_of(a, e.rank(a.self));
        if (!order) return e.fail(order.error());
        return e.make<aten::permute>({.self = a.self, .dims = int_list(order.value())});
    }

    /// The sizes of the parts are those of the results.
    template <one_of<splits> Op>
    value_list operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        value_list parts;
        std::int64_t start = 0;
        for (std::uint32_t i = 0; i != e.current().result_count && !e.failed(); ++i) {
            const std::int64_t size = e.result_meta(i).shape[axis];
            if constexpr (requires { a.indices; }) {
                const std::int64_t available = e.shape(a.self)[axis];
                start = std::min(part_start(a.indices, i, available), available - size);
            }
            parts.push_back(e.make<aten::narrow>(
                {.self = a.self, .dim = static_cast<std::int64_t>(axis), .start = start, .length = size}));
            start += size;
        }
        return parts;
    }

    /// All are true if none is false.
    template <one_of<alls> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const value is_false = e.make<aten::logical_not>({.self = a.self});
        value any;
        if constexpr (__is_same(Op, aten::all)) {
            any = e.make<aten::any>({.self = is_false});
        } else if constexpr (__is_same(Op, aten::all_dim)) {
            any = e.make<aten::any_dim>({.self = is_false, .dim = a.dim, .keepdim = a.keepdim});
        } else {
            any = e.make<aten::any_dims>({.self = is_false, .dim = a.dim, .keepdim = a.keepdim});
        }
        return e.make<aten::logical_not>({.self = any});
    }

private:
    // The end of an axis before it and its beginning behind it; the list has the last axis first.
    static value wrapped(emit<produces>& e, const args<aten::pad>& a) {
        value v = a.self;
        for (std::size_t i = 0; i + 1 < a.pad.size() && i / 2 < e.rank(a.self) && v; i += 2) {
            const std::size_t axis = e.rank(a.self) - 1 - i / 2;
            const std::int64_t size = e.shape(v)[axis];
            const auto part = [&](std::int64_t start, std::int64_t length) {
                return e.make<aten::narrow>(
                    {.self = v, .dim = static_cast<std::int64_t>(axis), .start = start, .length = length});
            };
            const std::int64_t before = a.pad[i];
            const std::int64_t after = a.pad[i + 1];
            if (before < 0 || after < 0)
                return e.unsupported("circular padding by a negative size; slice the tensor instead");
            value_list parts;
            if (before > 0) parts.push_back(part(size - before, before));
            parts.push_back(v);
            if (after > 0) parts.push_back(part(0, after));
            if (parts.size() != 1)
                v = e.make<aten::cat>({.tensors = parts, .dim = static_cast<std::int64_t>(axis)});
        }
        return v;
    }
    static value upsampled(emit<produces>& e, const auto& a, value image, const int_list& size,
                           const std::optional<list<double>>& scales) {
        const auto resized = scales ? std::nullopt : std::optional(size);
        if constexpr (requires { a.align_corners; }) {
            return e.make<aten::upsample_bilinear2d_vec>({image, resized, a.align_corners, scales});
        } else {
            return e.make<aten::upsample_nearest2d_vec>({image, resized, scales});
        }
    }
    static value upsampled_row(emit<produces>& e, const auto& a, value row, std::optional<double> scale) {
        const double given[] = {1, scale.value_or(0)};
        const auto scales = scale ? std::optional(list<double>(given, 2)) : std::nullopt;
        const value image = e.make<aten::unsqueeze>({.self = row, .dim = 2});
        const int_list size{1, e.result_meta().shape[2]};
        return e.make<aten::squeeze_dim>({.self = upsampled(e, a, image, size, scales), .dim = 2});
    }
    template <op_tag Op>
    static value first_of(emit<produces>& e, const args<Op>& a) {
        node* const made = e.make_node<Op>(a);
        return made == nullptr ? value{} : made->result(0);
    }
    static result<shape_builder> order_of(const args<aten::t>&, std::size_t rank) {
        shape_builder order = build::axes_in_order(rank);
        if (rank == 2) std::swap(order[0], order[1]);
        return order;
    }
    static result<shape_builder> order_of(const args<aten::movedim_int>& a, std::size_t rank) {
        if (rank == 0) return build::axes_in_order(rank);
        return moved_axes(sizes(&a.source, 1), sizes(&a.destination, 1), rank);
    }
    static result<shape_builder> order_of(const args<aten::movedim_intlist>& a, std::size_t rank) {
        return moved_axes(a.source, a.destination, rank);
    }
};
HEADRACE_COMPILED_CODE(spell_kernel_ops);

}  // namespace headrace

#endif
