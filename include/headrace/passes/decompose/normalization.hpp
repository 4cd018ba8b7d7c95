// SPDX-License-Identifier: MIT
// Defines headrace::decompose_normalization and decompose_batch_norm.
#ifndef HEADRACE_PASSES_DECOMPOSE_NORMALIZATION_HPP
#define HEADRACE_PASSES_DECOMPOSE_NORMALIZATION_HPP

#include <headrace/passes/decompose/expressions.hpp>

namespace headrace {

/// Decomposes normalization by statistics of the input itself, followed by weight and bias (PyTorch,
/// torch.nn.LayerNorm, GroupNorm, InstanceNorm2d, RMSNorm). The variance is the biased one, computed from the
/// differences from the mean that are needed anyway; RMSNorm does not subtract the mean. With running
/// statistics, instance norm is a batch norm.
struct decompose_normalization : pass_in<decomposition> {
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
                    const auto x = real(input);
                    const auto square = mean(x * x, trailing(a.normalized_shape.size()));
                    const double eps = a.eps.value_or(epsilon_of(input.dtype()));
                    return affine(as(x * rsqrt(square + eps), input.dtype()), a);
                },
            on<aten::_weight_norm> =
                [](auto v, auto g, const auto& a) {
                    const std::size_t rank = v.rank();
                    const shape_builder axes = axes_except(a.dim == -1 ? rank : v.axis(a.dim), rank);
                    const auto x = real(v);
                    // In PyTorch, a sum over no axes is a sum over all of them.
                    const auto all = [&] { return x * x; };
                    const auto squares = choose(axes.empty(), all, [&] { return sum(x * x, axes); });
                    return in_result_type(x * (real(g) * rsqrt(squares)));
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
        const auto x = real(input);
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

struct decompose_grouped_convolution;
struct decompose_transposed_volumes;
/// s = weight · rsqrt(var + ε), for each channel (PyTorch, torch.nn.BatchNorm2d). Everything except x is
/// constant. After a convolution with no other reader, the norm is folded into the convolution's weight and
/// bias at no cost.
struct decompose_batch_norm : pass_in<decomposition> {
    using runs_after = pass_list<canonical_convolutions>;
    using runs_before = pass_list<decompose_grouped_convolution, decompose_transposed_volumes>;
    static constexpr std::string_view summary =
        "batch_norm(x) as x·s + (bias - mean·s); folded into a convolution before it";

    static auto rewrites() {
        return rules(
            on<aten::batch_norm> = [](auto x, const auto& a) { return by_either(x, a); },
            on<aten::native_batch_norm> = [](auto x, const auto& a) { return alone(by_either(x, a)); },
            on<aten::_native_batch_norm_legit_no_stats> =
                [](auto x, const auto& a) { return alone(by_batch_statistics(x, a)); },
            on<aten::_native_batch_norm_legit, aten::_native_batch_norm_legit_no_training> =
                [](auto x, auto mean, auto variance, const auto& a) {
                    return alone(by_statistics(x, mean, variance, a));
                });
    }

private:
    // The other two results are used in training only.
    static auto alone(const auto& y) { return std::tuple(y, y.of({}), y.of({})); }

    static auto by_either(const auto& x, const auto& a) {
        return choose(
            a.running_mean && a.running_var,
            [&] { return by_statistics(x, x.of(*a.running_mean), x.of(*a.running_var), a); },
            [&] { return by_batch_statistics(x, a); });
    }
    // Half-precision tensors are normalized in float32, as in PyTorch: their squares may not fit.
    static dtype computed_in(dtype t) {
        return t == dtype::float16 || t == dtype::bfloat16 ? dtype::float32 : t;
    }
    static auto by_statistics(const auto& x, const auto& mean, const auto& variance, const auto& a) {
        const auto normalized = [&] {
            const dtype type = computed_in(x.dtype());
            const auto center = as(flat(mean), type);
            const auto root = rsqrt(as(flat(variance), type) + a.eps);
            const auto scale =
                with_operand(root, a.weight, [&](auto r, auto w) { return as(flat(w), type) * r; });
            const auto* conv = foldable(x.value());
            return choose(
                conv != nullptr, [&] { return folded(*conv, scale, center, a.bias); },
                [&] { return shifted(x, scale, center, a.bias); });
        };
        bool training = false;
        if constexpr (requires { a.training; }) training = a.training;
        const char* reason =
            "batch_norm that updates its running statistics; export the model after model.eval()";
        return refuse_if(training, x, reason, normalized);
    }
    static auto shifted(
        const auto& x, const auto& scale, const auto& mean, const std::optional<value>& bias) {
        const std::size_t rank = x.rank() - 1;
        const auto y = as(x, scale.dtype()) * along_channels(scale, rank);
        const auto shift = mean * scale;
        const auto with_bias = [&] {
            return y + along_channels(as(flat(x.of(*bias)), scale.dtype()) - shift, rank);
        };
        const auto sum = choose(bias.has_value(), with_bias, [&] { return y - along_channels(shift, rank); });
        return as(sum, x.dtype());
    }
    static const args<aten::convolution>* foldable(value input) {
        const auto* conv = match<aten::convolution>(input);
        const bool sole = conv != nullptr && has_one_use(input) &&
            is<builtin::constant>(*conv->weight.producer) &&
            (!conv->bias || is<builtin::constant>(*conv->bias->producer));
        return sole && !(conv->transposed && conv->groups != 1) ? conv : nullptr;
    }
    static auto folded(const args<aten::convolution>& conv, const auto& scale, const auto& mean,
        const std::optional<value>& bias) {
        const dtype wide = mean.dtype();
        const auto weight = mean.of(conv.weight);
        // Output channels are axis 0 of a weight, but axis 1 of a transposed convolution's weight.
        const auto factor = along_channels(scale, weight.rank() - (conv.transposed ? 1 : 0));
        const auto own = [&] { return as(mean.of(*conv.bias), wide) - mean; };
        const auto offset = choose(conv.bias.has_value(), own, [&] { return mean * -1; });
        const auto shift =
            with_operand(offset * scale, bias, [&](auto v, auto b) { return v + as(flat(b), wide); });
        return call<aten::convolution>(conv.input, as(as(weight, wide) * factor, weight.dtype()),
            as(shift, weight.dtype()), conv.stride, conv.padding, conv.dilation, conv.transposed,
            conv.output_padding, conv.groups);
    }
    // Reduces over all axes except the channels.
    static auto by_batch_statistics(const auto& x, const auto& a) {
        const std::size_t rank = x.rank();
        const shape_builder axes = axes_except(1, rank);
        const dtype type = computed_in(x.dtype());
        const auto wide = as(x, type);
        const auto centered = wide - mean(wide, axes);
        const auto normalized = centered * rsqrt(mean(centered * centered, axes) + a.eps);
        const auto of_channels = [&](const auto& v) { return along_channels(as(v, type), rank - 1); };
        const auto y = with_operand(normalized, a.weight, [&](auto v, auto w) { return v * of_channels(w); });
        return as(with_operand(y, a.bias, [&](auto v, auto b) { return v + of_channels(b); }), x.dtype());
    }
};
HEADRACE_COMPILED_PASS(decompose_batch_norm);

}  // namespace headrace

#endif
