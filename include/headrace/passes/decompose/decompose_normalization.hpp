// SPDX-License-Identifier: MIT
// Defines headrace::decompose_normalization.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_NORMALIZATION_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_NORMALIZATION_HPP

#include <algorithm>

#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/reductions.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Decomposes normalization by statistics of the input itself, followed by weight and bias (PyTorch,
/// torch.nn.LayerNorm, GroupNorm, InstanceNorm2d, RMSNorm). The variance is the biased one, computed from the
/// differences from the mean that are needed anyway; RMSNorm does not subtract the mean. With running
/// statistics, instance norm is a batch norm.
struct decompose_normalization : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "layer, group, instance, rms norm as (x - mean(x)) · rsqrt(var(x) + ε) · w + b";

    static auto rewrites() {
        return rules(
            on<aten::layer_norm> =
                [](auto x, const auto& a) {
                    return affine(std::get<0>(normalized(x, trailing(a.normalized_shape.size()), a.eps)), a);
                },
            on<aten::native_layer_norm> =
                [](auto x, const auto& a) {
                    const auto [y, mean, scale] = normalized(x, trailing(a.normalized_shape.size()), a.eps);
                    return std::tuple(affine(y, a), as(mean, x.dtype()), as(scale, x.dtype()));
                },
            on<aten::group_norm> = [](auto x,
                                       const auto& a) { return std::get<0>(grouped(x, a.num_groups, a)); },
            on<aten::native_group_norm> =
                [](auto x, const auto& a) {
                    const auto [y, mean, scale] = grouped(x, a.group, a);
                    const auto flat = [&](const auto& s) {
                        return call<aten::view>(as(s, x.dtype()), int_list{a.N, a.group});
                    };
                    return std::tuple(y, flat(mean), flat(scale));
                },
            on<aten::instance_norm> =
                [](auto x, const auto& a) {
                    const auto by_own = [&] {
                        const std::size_t space = std::max<std::size_t>(x.rank(), 2) - 2;
                        return affine_of_channels(std::get<0>(normalized(x, trailing(space), a.eps)), a);
                    };
                    const auto by_running = [&] {
                        return call<aten::batch_norm>(x, a.weight, a.bias, a.running_mean, a.running_var,
                            false, a.momentum, a.eps, false);
                    };
                    return choose(a.use_input_stats, by_own, by_running);
                },
            on<aten::rms_norm> =
                [](auto input, const auto& a) {
                    const auto x = as(input, dtype::float32);
                    const auto square = mean(x * x, trailing(a.normalized_shape.size()));
                    const double eps = a.eps.value_or(epsilon_of(input.dtype()));
                    return affine(as(x * rsqrt(square + eps), input.dtype()), a);
                },
            on<aten::_weight_norm> =
                [](auto v, auto g, const auto& a) {
                    shape_builder axes;
                    for (std::size_t i = 0; i != v.rank(); ++i) {
                        if (a.dim == -1 || i != v.axis(a.dim)) axes.push_back(static_cast<std::int64_t>(i));
                    }
                    const auto x = as(v, dtype::float32);
                    // In PyTorch, a sum over no axes is a sum over all of them.
                    const auto all = [&] { return x * x; };
                    const auto squares = choose(axes.empty(), all, [&] { return sum(x * x, axes); });
                    return in_result_type(x * (as(g, dtype::float32) * rsqrt(squares)));
                });
    }

private:
    // Returns the last axes.
    static shape_builder trailing(std::size_t count) {
        shape_builder axes;
        for (std::size_t i = 0; i != count; ++i) axes.push_back(-1 - static_cast<std::int64_t>(i));
        return axes;
    }
    // Returns the distance from 1 to the next number, PyTorch's default epsilon.
    static double epsilon_of(dtype type) {
        if (type == dtype::float64) return 0x1p-52;
        if (type == dtype::float32) return 0x1p-23;
        return type == dtype::float16 ? 0x1p-10 : 0x1p-7;
    }

    // Returns (x - mean) · scale, mean and scale, in float32 as in PyTorch, even for half precision.
    static auto normalized(const auto& input, sizes axes, double eps) {
        const auto x = as(input, dtype::float32);
        const auto center = mean(x, axes);
        const auto centered = x - center;
        const auto scale = rsqrt(mean(centered * centered, axes) + eps);
        return std::tuple(as(centered * scale, input.dtype()), center, scale);
    }
    static auto grouped(const auto& x, std::int64_t groups, const auto& a) {
        const int_list& shape = x.shape();
        const std::int64_t parts = shape[0] * groups;
        const std::int64_t rest = parts == 0 ? 0 : x.meta().elements() / parts;
        const auto split = call<aten::view>(x, int_list{shape[0], groups, rest});
        const auto [y, mean, scale] = normalized(split, shape_builder{2}, a.eps);
        return std::tuple(affine_of_channels(call<aten::view>(y, shape), a), mean, scale);
    }

    static auto affine(const auto& x, const auto& a) {
        return affine(x, a, [](const auto& w) { return w; });
    }
    static auto affine_of_channels(const auto& x, const auto& a) {
        return affine(x, a, [&](const auto& w) { return along_channels(w, x.rank() - 1); });
    }
    // A weight of a wider dtype does not widen the result.
    static auto affine(const auto& x, const auto& a, const auto& placed) {
        const auto y = with_operand(x, a.weight, [&](auto v, auto w) { return v * placed(w); });
        if constexpr (requires { a.bias; }) {
            return in_result_type(with_operand(y, a.bias, [&](auto v, auto b) { return v + placed(b); }));
        } else {
            return in_result_type(y);
        }
    }
};
HEADRACE_COMPILED_PASS(decompose_normalization);

}  // namespace headrace

#endif
