// SPDX-License-Identifier: MIT
// Defines headrace::decompose_normalization.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_NORMALIZATION_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_NORMALIZATION_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Normalizations by statistics of the input itself: (x - mean(x)) * rsqrt(var(x) + eps), and then weight and
/// bias (PyTorch, torch.nn.LayerNorm, GroupNorm, InstanceNorm2d, RMSNorm). The variance is the biased one, of
/// the differences from the mean that is subtracted anyway; RMSNorm leaves the mean where it is. By running
/// statistics, instance norm is a batch norm.
struct decompose_normalization : pass {
    using phase = decomposition;
    using targets = ops<aten::layer_norm, aten::native_layer_norm, aten::group_norm, aten::native_group_norm,
                        aten::instance_norm, aten::rms_norm>;
    using produces = ops<aten::mean_dim, aten::sub_tensor, aten::mul_tensor, aten::add_tensor, aten::rsqrt,
                         aten::view, aten::_to_copy, aten::batch_norm>;

    value operator()(const args<aten::layer_norm>& a, emit<produces>& e) const {
        return affine(e, normalized(e, a.input, trailing(a.normalized_shape.size()), a.eps).result, a.weight,
                      a.bias);
    }
    std::tuple<value, value, value> operator()(const args<aten::native_layer_norm>& a,
                                               emit<produces>& e) const {
        const statistics s = normalized(e, a.input, trailing(a.normalized_shape.size()), a.eps);
        return {affine(e, s.result, a.weight, a.bias), s.mean, s.scale};
    }
    value operator()(const args<aten::group_norm>& a, emit<produces>& e) const {
        return grouped(e, a.input, a.num_groups, a.weight, a.bias, a.eps).result;
    }
    std::tuple<value, value, value> operator()(const args<aten::native_group_norm>& a,
                                               emit<produces>& e) const {
        const statistics s = grouped(e, a.input, a.group, a.weight, a.bias, a.eps);
        const auto flat = [&](value v) { return e.make<aten::view>({.self = v, .size = {a.N, a.group}}); };
        return {s.result, flat(s.mean), flat(s.scale)};
    }
    value operator()(const args<aten::instance_norm>& a, emit<produces>& e) const {
        if (!a.use_input_stats) {
            return e.make<aten::batch_norm>({.input = a.input,
                                             .weight = a.weight,
                                             .bias = a.bias,
                                             .running_mean = a.running_mean,
                                             .running_var = a.running_var,
                                             .training = false,
                                             .momentum = a.momentum,
                                             .eps = a.eps,
                                             .cudnn_enabled = false});
        }
        shape_builder axes;
        for (std::size_t i = 2; i < e.rank(a.input); ++i) axes.push_back(static_cast<std::int64_t>(i));
        const value result = normalized(e, a.input, axes, a.eps).result;
        return affine(e, result, per_channel(e, a.weight, e.rank(a.input)),
                      per_channel(e, a.bias, e.rank(a.input)));
    }
    value operator()(const args<aten::rms_norm>& a, emit<produces>& e) const {
        // PyTorch computes it in float32 and takes that type's epsilon where none is given.
        const dtype type = e.dtype(a.input);
        const value x = to(e, a.input, dtype::float32);
        const double eps = a.eps.value_or(type == dtype::float64   ? 0x1p-52
                                          : type == dtype::float32 ? 0x1p-23
                                          : type == dtype::float16 ? 0x1p-10
                                                                   : 0x1p-7);
        const value square = mean(e, e.make<aten::mul_tensor>(x, x), trailing(a.normalized_shape.size()));
        const value scaled = e.make<aten::mul_tensor>(x, inverse_root(e, square, eps));
        return affine(e, to(e, scaled, type), a.weight, std::nullopt);
    }

private:
    struct statistics {
        value result, mean, scale;
    };

    static shape_builder trailing(std::size_t count) {
        shape_builder axes;
        for (std::size_t i = 0; i != count; ++i) axes.push_back(-1 - static_cast<std::int64_t>(i));
        return axes;
    }
    static value to(emit<produces>& e, value v, dtype type) {
        return e.dtype(v) == type ? v : e.make<aten::_to_copy>({.self = v, .dtype = type});
    }
    static value mean(emit<produces>& e, value v, sizes axes) {
        return e.make<aten::mean_dim>({.self = v, .dim = int_list(axes), .keepdim = true});
    }
    static value inverse_root(emit<produces>& e, value v, double eps) {
        const value shifted = e.make<aten::add_tensor>(v, e.splat(eps, e.dtype(v), e.rank(v)));
        return e.make<aten::rsqrt>(shifted);
    }

    // Statistics of half-precision tensors are taken in float32, as PyTorch does.
    static statistics normalized(emit<produces>& e, value input, sizes axes, double eps) {
        const dtype type = e.dtype(input);
        const value x = to(e, input, dtype::float32);
        const value center = mean(e, x, axes);
        const value centered = e.make<aten::sub_tensor>(x, center);
        const value scale = inverse_root(e, mean(e, e.make<aten::mul_tensor>(centered, centered), axes), eps);
        const value result = e.make<aten::mul_tensor>(centered, scale);
        return {to(e, result, type), to(e, center, type), to(e, scale, type)};
    }

    static statistics grouped(emit<produces>& e, value input, std::int64_t groups,
                              const std::optional<value>& weight, const std::optional<value>& bias,
                              double eps) {
        const int_list shape = e.shape(input);
        const std::int64_t rest = shape[0] * groups == 0 ? 0 : e.meta(input).elements() / (shape[0] * groups);
        const value split = e.make<aten::view>({.self = input, .size = {shape[0], groups, rest}});
        statistics s = normalized(e, split, shape_builder{2}, eps);
        const value whole = e.make<aten::view>({.self = s.result, .size = shape});
        s.result = affine(e, whole, per_channel(e, weight, shape.size()), per_channel(e, bias, shape.size()));
        return s;
    }

    // [C] as [C, 1, 1]: beside the channels of [N, C, H, W].
    static std::optional<value> per_channel(emit<produces>& e, const std::optional<value>& v,
                                            std::size_t rank) {
        if (!v) return std::nullopt;
        shape_builder shape = shape_builder::filled(rank - 1, 1);
        shape[0] = e.shape(*v).empty() ? 1 : e.shape(*v)[0];
        return e.make<aten::view>({.self = *v, .size = int_list(shape)});
    }
    static value affine(emit<produces>& e, value v, const std::optional<value>& weight,
                        const std::optional<value>& bias) {
        if (weight) v = e.make<aten::mul_tensor>(v, *weight);
        if (bias) v = e.make<aten::add_tensor>(v, *bias);
        return to(e, v, e.result_meta().dtype);  // a wider weight does not widen the result
    }
};

}  // namespace headrace

#endif
