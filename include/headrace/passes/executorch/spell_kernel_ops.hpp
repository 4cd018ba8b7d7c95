// SPDX-License-Identifier: MIT
// Defines headrace::spell_kernel_ops.
#ifndef HEADRACE_PASSES_EXECUTORCH_SPELL_KERNEL_OPS_HPP
#define HEADRACE_PASSES_EXECUTORCH_SPELL_KERNEL_OPS_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/aten_resize.hpp>
#include <headrace/infer/aten_view.hpp>
#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/joining.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/axis_order.hpp>
#include <headrace/passes/support/resizing.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Turns composite ops into the core ops that ExecuTorch has kernels for, where an op becomes one or two ops:
/// softmax becomes `_softmax`, layer_norm the first result of `native_layer_norm`.
struct spell_kernel_ops : pass {
    using runs_after = pass_list<functional, canonical_variants>;
    using invalidates = pass_list<no_dead_code, duplicates_merged, nodes_sorted>;
    static constexpr std::string_view summary = "composite ops as core ops that the runtime has";
    static constexpr bool repeatable = true;
    using permutes = ops<aten::t, aten::movedim_int, aten::movedim_intlist>;
    using splits = ops<aten::split_sizes, aten::unsafe_split_tensor, aten::unsafe_split_with_sizes,
        aten::chunk, aten::tensor_split_sections, aten::tensor_split_indices>;
    using upsamples = ops<aten::upsample_nearest2d, aten::upsample_bilinear2d>;
    using row_upsamples = ops<aten::upsample_nearest1d, aten::upsample_linear1d, aten::upsample_nearest1d_vec,
        aten::upsample_linear1d_vec>;
    using index_writes = ops<aten::index_copy, aten::index_add>;
    using targeted_ops = joined<permutes, splits, upsamples, row_upsamples, index_writes, nearest_exact_ops,
        ops<aten::arange, aten::arange_start, aten::pad, aten::eye, aten::eye_m, aten::linspace,
            aten::rand_like, aten::randn_like, aten::bernoulli, aten::bernoulli_p>>;
    using produces = ops<aten::permute, aten::narrow, aten::upsample_nearest2d_vec,
        aten::upsample_bilinear2d_vec, aten::unsqueeze, aten::squeeze_dim, aten::arange_start_step,
        aten::constant_pad_nd, aten::reflection_pad1d, aten::reflection_pad2d, aten::reflection_pad3d,
        aten::replication_pad1d, aten::replication_pad2d, aten::replication_pad3d, aten::mul_scalar,
        aten::index_put, aten::cat, aten::_to_copy, aten::eq_tensor, aten::index_select, aten::rand,
        aten::randn, aten::gt_tensor, aten::lt_scalar>;

    static auto rewrites() {
        return rules(
            on<aten::softmax_int> =
                [](auto x, const auto& a) { return call<aten::_softmax>(in_result_type(x), a.dim, false); },
            on<aten::log_softmax_int> =
                [](auto x, const auto& a) {
                    return call<aten::_log_softmax>(in_result_type(x), a.dim, false);
                },
            on<aten::layer_norm> =
                [](auto x, const auto& a) {
                    return call<aten::native_layer_norm>(x, a.normalized_shape, a.weight, a.bias, a.eps);
                },
            on<aten::group_norm> =
                [](auto x, const auto& a) {
                    const std::int64_t area = element_count(sizes(x.shape()).subspan(2));
                    return call<aten::native_group_norm>(
                        x, a.weight, a.bias, x.size(0), x.size(1), area, a.num_groups, a.eps);
                },
            // With the given statistics, or with those of the batch, as in instance_norm.
            on<aten::batch_norm> =
                [](auto x, const auto& a) {
                    return choose(
                        a.running_mean && a.running_var && !a.training,
                        [&] {
                            return call<aten::_native_batch_norm_legit_no_training>(
                                x, a.weight, a.bias, *a.running_mean, *a.running_var, a.momentum, a.eps);
                        },
                        a.running_mean || a.running_var,
                        [&] {
                            return x.unsupported(
                                "batch_norm that updates its running statistics; export the "
                                "model after model.eval()");
                        },
                        [&] {
                            return call<aten::_native_batch_norm_legit_no_stats>(
                                x, a.weight, a.bias, true, a.momentum, a.eps);
                        });
                },
            on<aten::max_pool2d> =
                [](auto x, const auto& a) {
                    return call<aten::max_pool2d_with_indices>(
                        x, a.kernel_size, a.stride, a.padding, a.dilation, a.ceil_mode);
                },
            on<aten::adaptive_avg_pool2d> =
                [](auto x, const auto& a) { return call<aten::_adaptive_avg_pool2d>(x, a.output_size); },
            on<aten::grid_sampler> =
                [](auto x, auto grid, const auto& a) {
                    return choose(
                        x.rank() != 4, [&] { return x.unsupported("only images are sampled, not volumes"); },
                        [&] {
                            return call<aten::grid_sampler_2d>(
                                x, grid, a.interpolation_mode, a.padding_mode, a.align_corners);
                        });
                },
            on<aten::sum> =
                [](auto x, const auto& a) {
                    return call<aten::sum_dim_intlist>(x, std::nullopt, false, a.dtype);
                },
            on<aten::aminmax> =
                [](auto x, const auto& a) {
                    const int_list axes = a.dim ? int_list{*a.dim} : int_list{};
                    return std::tuple{
                        call<aten::amin>(x, axes, a.keepdim), call<aten::amax>(x, axes, a.keepdim)};
                },
            // All are true if none is false.
            on<aten::all> = [](auto x) { return !call<aten::any>(!x); },
            on<aten::all_dim> = [](auto x,
                                    const auto& a) { return !call<aten::any_dim>(!x, a.dim, a.keepdim); },
            on<aten::all_dims> = [](auto x,
                                     const auto& a) { return !call<aten::any_dims>(!x, a.dim, a.keepdim); },
            on<aten::broadcast_to> = [](auto x, const auto& a) { return call<aten::expand>(x, a.size); },
            on<aten::tile> =
                [](auto x, const auto& a) {
                    shape_builder repeats = shape_builder::filled(x.result_meta().rank() - a.dims.size(), 1);
                    repeats.append(a.dims);
                    return call<aten::repeat>(x, int_list(repeats));
                },
            on<aten::_unsafe_index_tensor> =
                [](auto x, const auto& a) { return call<aten::index_tensor>(x, a.indices); },
            on<aten::_unsafe_index_put> =
                [](auto x, auto values, const auto& a) {
                    return call<aten::index_put>(x, a.indices, values, a.accumulate);
                },
            // The kernel does not take a vector, but a matrix of one row.
            on<aten::linear> =
                [](auto x, auto weight, const auto& a) {
                    return choose(x.rank() != 1, unchanged, [&] {
                        const auto row = call<aten::unsqueeze>(x, 0);
                        return call<aten::squeeze_dim>(call<aten::linear>(row, weight, a.bias), 0);
                    });
                },
            on<aten::one_hot> =
                [](auto x, const auto&) {
                    const std::int64_t classes = x.result_meta().shape.back();
                    const auto numbers = emitting<ops<>>(
                        [classes](emit<ops<>> e, value) {
                            return e.constant_of(dtype::int64, shape_builder{classes},
                                [](std::size_t i) { return scalar(static_cast<std::int64_t>(i)); });
                        },
                        x);
                    return as(call<aten::unsqueeze>(x, -1) == numbers, dtype::int64);
                },
            // The kernel exists for float32 only.
            on<aten::cdist> =
                [](auto x, auto y, const auto& a) {
                    return choose(
                        x.dtype() == dtype::float32,
                        [&] { return call<aten::_cdist_forward>(x, y, a.p, a.compute_mode); }, unchanged);
                },
            // The kernel takes int64 indices.
            on<aten::gather> =
                [](auto x, auto index, const auto& a) {
                    return choose(index.dtype() == dtype::int64, unchanged,
                        [&] { return call<aten::gather>(x, a.dim, as(index, dtype::int64), a.sparse_grad); });
                });
    }

    value operator()(const args<aten::arange>& a, emit<produces>& e) const {
        return e.make<aten::arange_start_step>({0, a.end, 1, e.result_meta().dtype});
    }
    value operator()(const args<aten::arange_start>& a, emit<produces>& e) const {
        return e.make<aten::arange_start_step>({a.start, a.end, 1, e.result_meta().dtype});
    }
    value operator()(const args<aten::rand_like>&, emit<produces>& e) const {
        return e.make<aten::rand>({.size = e.result_meta().shape, .dtype = e.result_meta().dtype});
    }
    value operator()(const args<aten::randn_like>&, emit<produces>& e) const {
        return e.make<aten::randn>({.size = e.result_meta().shape, .dtype = e.result_meta().dtype});
    }
    /// 1 where a random number from 0 to 1 is less than the probability.
    value operator()(const args<aten::bernoulli>& a, emit<produces>& e) const {
        const value less = e.make<aten::gt_tensor>(a.self, uniform(e));
        return e.make<aten::_to_copy>({.self = less, .dtype = e.result_meta().dtype});
    }
    value operator()(const args<aten::bernoulli_p>& a, emit<produces>& e) const {
        const value less = e.make<aten::lt_scalar>({uniform(e), scalar(a.p)});
        return e.make<aten::_to_copy>({.self = less, .dtype = e.result_meta().dtype});
    }
    /// An element is 1 if its row and its column have the same index.
    template <one_of<ops<aten::eye, aten::eye_m>> Op>
    value operator()(Op, const args<Op>&, emit<produces>& e) const {
        const tensor_meta& meta = e.result_meta();
        const auto numbers = [&](std::int64_t count) {
            return e.make<aten::arange_start_step>({0, count, 1, dtype::int64});
        };
        const value rows = e.make<aten::unsqueeze>({.self = numbers(meta.shape[0]), .dim = 1});
        const value equal = e.make<aten::eq_tensor>(rows, numbers(meta.shape[1]));
        return e.make<aten::_to_copy>({.self = equal, .dtype = meta.dtype});
    }
    /// From both ends to the middle, as PyTorch computes it.
    value operator()(const args<aten::linspace>& a, emit<produces>& e) const {
        const double start = a.start.to_double();
        const double end = a.end.to_double();
        const double step = a.steps > 1 ? (end - start) / static_cast<double>(a.steps - 1) : 0;
        return e.constant_of(e.result_meta().dtype, e.result_meta().shape, [&](std::size_t i) {
            const auto at = static_cast<std::int64_t>(i);
            return scalar(at < a.steps / 2 ? start + step * static_cast<double>(at)
                                           : end - step * static_cast<double>(a.steps - 1 - at));
        });
    }
    /// Selects the elements at constant positions, along one axis after the other.
    template <one_of<nearest_exact_ops> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        value v = resized_input(a);
        const auto scales = resize_scales(a);
        const int_list out = e.result_meta().shape;
        for (std::size_t axis = 2; axis < out.size() && v; ++axis) {
            const std::int64_t in = e.shape(v)[axis];
            const double scale =
                counting_scale(sampling_mode::nearest_exact, in, out[axis], scales[axis - 2]);
            const float step = scale > 0 ? static_cast<float>(1 / scale)
                                         : static_cast<float>(in) / static_cast<float>(out[axis]);
            const value positions = e.constant_of(dtype::int64, shape_builder{out[axis]}, [&](std::size_t i) {
                const float at = std::floor((static_cast<float>(i) + 0.5F) * step);
                return scalar(std::min(static_cast<std::int64_t>(at), in - 1));
            });
            v = e.make<aten::index_select>(
                {.self = v, .dim = static_cast<std::int64_t>(axis), .index = positions});
        }
        return v;
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

    /// The kernels take either the sizes or the scales, which must yield the sizes.
    template <one_of<upsamples> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return upsampled(e, a.self, sampling_mode_of<Op>(a), a.output_size, resize_scales(a));
    }
    /// One axis is resized as an image of one row.
    template <one_of<row_upsamples> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const value image = e.make<aten::unsqueeze>({.self = resized_input(a), .dim = 2});
        const int_list size{1, e.result_meta().shape[2]};
        const value made = upsampled(e, image, sampling_mode_of<Op>(a), size, {0, resize_scales(a)[0]});
        return e.make<aten::squeeze_dim>({.self = made, .dim = 2});
    }

    /// Writes elements at the given indices of an axis.
    template <one_of<index_writes> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        std::vector<std::optional<value>> indices(axis + 1);
        if (e.rank(a.self) == 0)
            return e.unsupported("ExecuTorch's index_put does not write to a tensor of rank 0");
        indices[axis] = e.rank(a.index) == 0 ? e.make<aten::unsqueeze>({.self = a.index, .dim = 0}) : a.index;
        value values = a.source;
        bool adds = false;
        if constexpr (__is_same(Op, aten::index_add)) {
            adds = true;
            if (a.alpha.to_double() != 1)
                values = e.make<aten::mul_scalar>({.self = values, .other = a.alpha});
            if (is_boolean(e.dtype(a.self)) &&
                !is_boolean(e.dtype(values)))  // the product with alpha is a number
                values = e.make<aten::_to_copy>({.self = values, .dtype = dtype::boolean});
        }
        return e.make<aten::index_put>({a.self, list<std::optional<value>>(indices), values, adds});
    }

    template <one_of<permutes> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const result<shape_builder> order = build::order_of(a, e.rank(a.self));
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
            parts.push_back(narrow(e, a.self, axis, start, size));
            start += size;
        }
        return parts;
    }

private:
    static value uniform(emit<produces>& e) {
        return e.make<aten::rand>({.size = e.result_meta().shape, .dtype = dtype::float32});
    }
    // Puts the end of an axis before it and its beginning after it; the list has the last axis first.
    static value wrapped(emit<produces>& e, const args<aten::pad>& a) {
        value v = a.self;
        for (std::size_t i = 0; i + 1 < a.pad.size() && i / 2 < e.rank(a.self) && v; i += 2) {
            const std::size_t axis = e.rank(a.self) - 1 - i / 2;
            const std::int64_t size = e.shape(v)[axis];
            const std::int64_t before = a.pad[i];
            const std::int64_t after = a.pad[i + 1];
            if (before < 0 || after < 0)
                return e.unsupported("circular padding by a negative size; slice the tensor instead");
            value_list parts;
            if (before > 0) parts.push_back(narrow(e, v, axis, size - before, before));
            parts.push_back(v);
            if (after > 0) parts.push_back(narrow(e, v, axis, 0, after));
            if (parts.size() != 1) v = cat(e, parts, axis);
        }
        return v;
    }
    static value upsampled(emit<produces>& e, value image, sampling_mode mode, const int_list& size,
        std::array<double, 2> scales) {
        if (e.failed()) return {};
        const sizes in = sizes(e.shape(image)).subspan(2);
        bool by_scales = false;
        bool has_all = true;  // scales derived from the sizes are exact
        for (std::size_t i = 0; i != 2; ++i) {
            const double scale = counting_scale(mode, in[i], size[i], scales[i]);
            by_scales = by_scales || scale > 0;
            has_all = has_all && (scale > 0 || size[i] % in[i] == 0);
            scales[i] = scale > 0 ? scale : static_cast<double>(size[i] / in[i]);
        }
        const list<double> all(scales.data(), scales.size());
        if (by_scales) {
            const auto scaled = scaled_sizes(in, all);
            if (!has_all || !scaled || scaled.value() != shape_builder(size))
                return e.unsupported(
                    "ExecuTorch's kernel takes sizes or scales, and these scales give others");
        }
        const auto resized = by_scales ? std::nullopt : std::optional(size);
        const auto scaled_by = by_scales ? std::optional(all) : std::nullopt;
        if (mode == sampling_mode::nearest)
            return e.make<aten::upsample_nearest2d_vec>({image, resized, scaled_by});
        return e.make<aten::upsample_bilinear2d_vec>(
            {image, resized, mode == sampling_mode::aligned, scaled_by});
    }
};
HEADRACE_COMPILED_PASS(spell_kernel_ops);

}  // namespace headrace

#endif
