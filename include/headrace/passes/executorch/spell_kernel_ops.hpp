// SPDX-License-Identifier: MIT
// Defines headrace::spell_kernel_ops.
#ifndef HEADRACE_PASSES_EXECUTORCH_SPELL_KERNEL_OPS_HPP
#define HEADRACE_PASSES_EXECUTORCH_SPELL_KERNEL_OPS_HPP

#include <algorithm>
#include <tuple>
#include <vector>

#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/executorch/kernel_resizing.hpp>
#include <headrace/passes/support/linspace.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Turns composite ops into the core ops that ExecuTorch has kernels for, where an op becomes one or two ops:
/// softmax becomes `_softmax`, layer_norm the first result of `native_layer_norm`.
struct spell_kernel_ops : pass {
    using runs_after = pass_list<functional, canonical_variants>;
    using invalidates = pass_list<no_dead_code, duplicates_merged, nodes_sorted>;
    static constexpr std::string_view summary = "composite ops as core ops that the runtime has";
    static constexpr bool repeatable = true;

    static auto rewrites() {
        return rules(
            resizing_rules(),
            on<aten::t, aten::movedim_int, aten::movedim_intlist> =
                code<ops<aten::permute>>([](emit<ops<aten::permute>> e, const auto& a) {
                    const result<shape_builder> order = build::order_of(a, e.rank(a.self));
                    return order ? e.make<aten::permute>({.self = a.self, .dims = int_list(order.value())})
                                 : e.fail(order.error());
                }),
            on<aten::split_sizes, aten::unsafe_split_tensor, aten::unsafe_split_with_sizes, aten::chunk,
                aten::tensor_split_sections, aten::tensor_split_indices> =
                code<ops<aten::narrow>>([](emit<ops<aten::narrow>> e, const auto& a) {
                    return build::split(e, a, [&](std::size_t axis, std::int64_t start, std::int64_t size) {
                        return narrow(e, a.self, axis, start, size);
                    });
                }),
            on<aten::index_copy, aten::index_add> =
                code<write_ops>([](emit<write_ops> e, const auto& a) { return written(e, a); }),
            on<aten::arange, aten::arange_start> = code<made>([](emit<made> e, const auto& a) {
                scalar start = 0;
                if constexpr (requires { a.start; }) start = a.start;
                return e.make<aten::arange_start_step>({start, a.end, 1, e.result_meta().dtype});
            }),
            on<aten::pad> = code<padded>(),
            on<aten::eye, aten::eye_m> = code<made>([](emit<made> e, const auto&) { return identity(e); }),
            on<aten::linspace> = code<ops<>>([](emit<ops<>> e, const auto& a) {
                return e.constant_of(
                    e.result_meta().dtype, e.result_meta().shape, [&](std::size_t i) -> scalar {
                        return linspace_element(a, static_cast<std::int64_t>(i));
                    });
            }),
            on<aten::rand_like> =
                code<made>([](emit<made> e, const auto&) { return uniform(e, e.result_meta().dtype); }),
            on<aten::randn_like> = code<made>([](emit<made> e, const auto&) {
                return e.make<aten::randn>({.size = e.result_meta().shape, .dtype = e.result_meta().dtype});
            }),
            on<aten::bernoulli> = code<drawn>(), on<aten::bernoulli_p> = code<drawn_by_number>(),
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
                    const auto with_given = [&] {
                        return call<aten::_native_batch_norm_legit_no_training>(
                            x, a.weight, a.bias, *a.running_mean, *a.running_var, a.momentum, a.eps);
                    };
                    const bool has_given = a.running_mean && a.running_var && !a.training;
                    return choose(has_given, with_given, [&] {
                        return refuse_if(a.running_mean || a.running_var, x,
                            "batch_norm that updates its running statistics; export the model after "
                            "model.eval()",
                            [&] {
                                return call<aten::_native_batch_norm_legit_no_stats>(
                                    x, a.weight, a.bias, true, a.momentum, a.eps);
                            });
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
                    return refuse_if(x.rank() != 4, x, "only images are sampled, not volumes", [&] {
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
                    const shape_builder repeats = build::with_leading_ones(a.dims, x.result_meta().rank());
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
                    const auto numbers = numbered(x, dtype::int64, shape_builder{classes});
                    return as(call<aten::unsqueeze>(x, -1) == numbers, dtype::int64);
                },
            // The kernel exists for float32 only.
            on<aten::cdist> =
                [](auto x, auto y, const auto& a) {
                    return choose(x.dtype() != dtype::float32, unchanged,
                        [&] { return call<aten::_cdist_forward>(x, y, a.p, a.compute_mode); });
                },
            // The kernel takes int64 indices.
            on<aten::gather> =
                [](auto x, auto index, const auto& a) {
                    return choose(index.dtype() == dtype::int64, unchanged,
                        [&] { return call<aten::gather>(x, a.dim, as(index, dtype::int64), a.sparse_grad); });
                });
    }

private:
    using made = ops<aten::arange_start_step, aten::unsqueeze, aten::eq_tensor, aten::_to_copy, aten::rand,
        aten::randn, aten::gt_tensor, aten::lt_scalar>;
    using write_ops = ops<aten::index_put, aten::unsqueeze, aten::mul_scalar, aten::_to_copy>;
    static value uniform(emit<made> e, dtype type) {
        return e.make<aten::rand>({.size = e.result_meta().shape, .dtype = type});
    }
    // 1 where a random number from 0 to 1 is less than the probability.
    static value drawn(emit<made> e, const args<aten::bernoulli>& a) {
        const value less = e.make<aten::gt_tensor>(a.self, uniform(e, dtype::float32));
        return e.make<aten::_to_copy>({.self = less, .dtype = e.result_meta().dtype});
    }
    static value drawn_by_number(emit<made> e, const args<aten::bernoulli_p>& a) {
        const value less = e.make<aten::lt_scalar>({uniform(e, dtype::float32), scalar(a.p)});
        return e.make<aten::_to_copy>({.self = less, .dtype = e.result_meta().dtype});
    }
    // An element is 1 if its row and its column have the same index.
    static value identity(emit<made> e) {
        const tensor_meta& meta = e.result_meta();
        const auto numbers = [&](std::int64_t count) {
            return e.make<aten::arange_start_step>({0, count, 1, dtype::int64});
        };
        const value rows = e.make<aten::unsqueeze>({.self = numbers(meta.shape[0]), .dim = 1});
        const value equal = e.make<aten::eq_tensor>(rows, numbers(meta.shape[1]));
        return e.make<aten::_to_copy>({.self = equal, .dtype = meta.dtype});
    }
    // Puts the end of each padded axis before it and its beginning after it; the last axis is listed first.
    static value padded_circularly(emit<ops<aten::narrow, aten::cat>> e, const args<aten::pad>& a) {
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
    using pad_ops = ops<aten::constant_pad_nd, aten::reflection_pad1d, aten::reflection_pad2d,
        aten::reflection_pad3d, aten::replication_pad1d, aten::replication_pad2d, aten::replication_pad3d,
        aten::narrow, aten::cat>;
    static value padded(emit<pad_ops> e, const args<aten::pad>& a) {
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
        if (a.mode == "circular") return padded_circularly(e, a);
        return e.unsupported(
            "ExecuTorch has no kernel for padding of this mode; write it as a cat of slices");
    }
    // Writes or adds elements at the given indices of an axis.
    static value written(emit<write_ops> e, const auto& a) {
        constexpr bool adds = requires { a.alpha; };
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        std::vector<std::optional<value>> indices(axis + 1);
        if (e.rank(a.self) == 0)
            return e.unsupported("ExecuTorch's index_put does not write to a tensor of rank 0");
        indices[axis] = e.rank(a.index) == 0 ? e.make<aten::unsqueeze>({.self = a.index, .dim = 0}) : a.index;
        value values = a.source;
        if constexpr (adds) {
            if (a.alpha.to_double() != 1)
                values = e.make<aten::mul_scalar>({.self = values, .other = a.alpha});
            // The product with alpha is a number.
            if (is_boolean(e.dtype(a.self))) values = cast(e, values, dtype::boolean);
        }
        return e.make<aten::index_put>({a.self, list<std::optional<value>>(indices), values, adds});
    }
};
HEADRACE_COMPILED_PASS(spell_kernel_ops);

}  // namespace headrace

#endif
