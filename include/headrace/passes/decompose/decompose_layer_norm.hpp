// SPDX-License-Identifier: MIT
// Defines headrace::decompose_layer_norm.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_LAYER_NORM_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_LAYER_NORM_HPP

#include <headrace/infer/aten.hpp>
#include <headrace/op/aten.hpp>
#include <headrace/pass/pass.hpp>

namespace headrace {

/// layer_norm(x) = (x - mean(x)) * rsqrt(var(x) + eps) * weight + bias, over the trailing axes that
/// `normalized_shape` names (PyTorch, torch.nn.LayerNorm). The variance is the biased one, of the differences from
/// the mean that is subtracted anyway.
struct decompose_layer_norm : pass {
    using targets = ops<aten::layer_norm>;
    using produces = ops<aten::mean_dim, aten::sub_tensor, aten::mul_tensor, aten::add_tensor, aten::rsqrt>;

    value operator()(const args<aten::layer_norm>& a, emit<produces>& e) const {
        shape_builder axes;
        for (std::size_t i = 0; i != a.normalized_shape.size(); ++i) axes.push_back(-1 - static_cast<std::int64_t>(i));
        const auto mean = [&](value v) {
            return e.make<aten::mean_dim>({.self = v, .dim = int_list(axes), .keepdim = true});
        };
        const value centered = e.make<aten::sub_tensor>(a.input, mean(a.input));
        const value variance = mean(e.make<aten::mul_tensor>(centered, centered));
        const value eps = e.splat(a.eps, e.dtype(variance), e.rank(variance));
        const value scale = e.make<aten::rsqrt>(e.make<aten::add_tensor>(variance, eps));
        value y = e.make<aten::mul_tensor>(centered, scale);
        if (a.weight) y = e.make<aten::mul_tensor>(y, *a.weight);
        if (a.bias) y = e.make<aten::add_tensor>(y, *a.bias);
        return y;
    }
};

}  // namespace headrace

#endif
