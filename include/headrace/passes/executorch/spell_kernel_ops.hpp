// SPDX-License-Identifier: MIT
// Defines headrace::spell_kernel_ops.
#ifndef HEADRACE_PASSES_EXECUTORCH_SPELL_KERNEL_OPS_HPP
#define HEADRACE_PASSES_EXECUTORCH_SPELL_KERNEL_OPS_HPP

#include <headrace/pass/arithmetic.hpp>
#include <headrace/passes/executorch/kernel_builders.hpp>
#include <headrace/passes/properties.hpp>

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
            on<aten::t, aten::movedim_int, aten::movedim_intlist> = code<ops<aten::permute>>(
                [](emit<ops<aten::permute>> e, const auto& a) { return executorch::permuted(e, a); }),
            on<aten::split_sizes, aten::unsafe_split_tensor, aten::unsafe_split_with_sizes, aten::chunk,
                aten::tensor_split_sections, aten::tensor_split_indices> =
                code<ops<aten::narrow>>(
                    [](emit<ops<aten::narrow>> e, const auto& a) { return executorch::parts_of(e, a); }),
            on<aten::upsample_nearest2d> = code<executorch::resized_image<aten::upsample_nearest2d>>(),
            on<aten::upsample_bilinear2d> = code<executorch::resized_image<aten::upsample_bilinear2d>>(),
            on<aten::upsample_nearest1d> = code<executorch::resized_row<aten::upsample_nearest1d>>(),
            on<aten::upsample_linear1d> = code<executorch::resized_row<aten::upsample_linear1d>>(),
            on<aten::upsample_nearest1d_vec> = code<executorch::resized_row<aten::upsample_nearest1d_vec>>(),
            on<aten::upsample_linear1d_vec> = code<executorch::resized_row<aten::upsample_linear1d_vec>>(),
            on<aten::index_copy> = code<executorch::written<aten::index_copy>>(),
            on<aten::index_add> = code<executorch::written<aten::index_add>>(),
            on_each<nearest_exact_ops> =
                code<ops<aten::index_select>>([](emit<ops<aten::index_select>> e, const auto& a) {
                    return executorch::nearest_exact(e, a);
                }),
            on<aten::arange> = code<made>([](emit<made> e, const auto& a) { return counted(e, 0, a.end); }),
            on<aten::arange_start> =
                code<made>([](emit<made> e, const auto& a) { return counted(e, a.start, a.end); }),
            on<aten::pad> = code<executorch::padded>(),
            on<aten::eye, aten::eye_m> = code<made>([](emit<made> e, const auto&) { return identity(e); }),
            on<aten::linspace> = code<evenly_spaced>(),
            on<aten::rand_like> =
                code<made>([](emit<made> e, const auto&) { return uniform(e, e.result_meta().dtype); }),
            on<aten::randn_like> = code<normal>(), on<aten::bernoulli> = code<drawn>(),
            on<aten::bernoulli_p> = code<drawn_by_number>(),
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
                    const auto numbers = code<ops<>>(
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

private:
    using made = ops<aten::arange_start_step, aten::unsqueeze, aten::eq_tensor, aten::_to_copy, aten::rand,
        aten::randn, aten::gt_tensor, aten::lt_scalar>;
    static value counted(emit<made> e, scalar start, scalar end) {
        return e.make<aten::arange_start_step>({start, end, 1, e.result_meta().dtype});
    }
    static value uniform(emit<made> e, dtype type) {
        return e.make<aten::rand>({.size = e.result_meta().shape, .dtype = type});
    }
    static value normal(emit<made> e, const args<aten::randn_like>&) {
        return e.make<aten::randn>({.size = e.result_meta().shape, .dtype = e.result_meta().dtype});
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
    // From both ends to the middle, as PyTorch computes it.
    static value evenly_spaced(emit<ops<>> e, const args<aten::linspace>& a) {
        const double start = a.start.to_double();
        const double end = a.end.to_double();
        const double step = a.steps > 1 ? (end - start) / static_cast<double>(a.steps - 1) : 0;
        return e.constant_of(e.result_meta().dtype, e.result_meta().shape, [&](std::size_t i) {
            const auto at = static_cast<std::int64_t>(i);
            return scalar(at < a.steps / 2 ? start + step * static_cast<double>(at)
                                           : end - step * static_cast<double>(a.steps - 1 - at));
        });
    }
};
HEADRACE_COMPILED_PASS(spell_kernel_ops);

}  // namespace headrace

#endif
