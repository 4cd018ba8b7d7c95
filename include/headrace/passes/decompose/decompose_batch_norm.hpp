// SPDX-License-Identifier: MIT
// Defines headrace::decompose_batch_norm.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_BATCH_NORM_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_BATCH_NORM_HPP

#include <headrace/infer/aten.hpp>
#include <headrace/op/aten.hpp>
#include <headrace/pass/pass.hpp>

namespace headrace {

/// Batch normalization at inference is x * s + (bias - mean * s) with s = weight * rsqrt(var + eps), per
/// channel (PyTorch, torch.nn.BatchNorm2d). All of that but x is constant. After a convolution that nothing
/// else reads, it goes into the convolution's own weight and bias and costs nothing.
struct decompose_batch_norm : pass {
    using targets = ops<aten::batch_norm, aten::native_batch_norm, aten::_native_batch_norm_legit,
                        aten::_native_batch_norm_legit_no_training, aten::_native_batch_norm_legit_no_stats>;
    using produces = ops<aten::convolution, aten::mul_tensor, aten::add_tensor, aten::sub_tensor, aten::rsqrt,
                         aten::view, aten::mean_dim>;

    value operator()(const args<aten::batch_norm>& a, emit<produces>& e) const {
        if (!a.running_mean || !a.running_var) return by_batch_statistics(e, a);
        if (a.training) return refuse_training(e);
        return by_statistics(e, a, *a.running_mean, *a.running_var);
    }
    std::tuple<value, value, value> operator()(const args<aten::native_batch_norm>& a,
                                               emit<produces>& e) const {
        if (!a.running_mean || !a.running_var) return {by_batch_statistics(e, a), {}, {}};
        if (a.training) return {refuse_training(e), {}, {}};
        return {by_statistics(e, a, *a.running_mean, *a.running_var), {}, {}};
    }
    std::tuple<value, value, value> operator()(const args<aten::_native_batch_norm_legit>& a,
                                               emit<produces>& e) const {
        if (a.training) return {refuse_training(e), {}, {}};
        return {by_statistics(e, a, a.running_mean, a.running_var), {}, {}};
    }
    std::tuple<value, value, value> operator()(const args<aten::_native_batch_norm_legit_no_training>& a,
                                               emit<produces>& e) const {
        return {by_statistics(e, a, a.running_mean, a.running_var), {}, {}};
    }
    std::tuple<value, value, value> operator()(const args<aten::_native_batch_norm_legit_no_stats>& a,
                                               emit<produces>& e) const {
        return {by_batch_statistics(e, a), {}, {}};
    }

private:
    static value refuse_training(emitter& e) {
        return e.unsupported(
            "batch_norm that updates its running statistics; export the model after model.eval()");
    }

    // [C] as [C, 1, 1].
    static value along_channels(emit<produces>& e, value v, std::size_t rank) {
        shape_builder shape = shape_builder::filled(rank, 1);
        shape[0] = e.shape(v)[0];
        return e.make<aten::view>({.self = v, .size = int_list(shape)});
    }

    template <class Args>
    static value by_statistics(emit<produces>& e, const Args& a, value mean, value variance) {
        value scale =
            e.make<aten::rsqrt>(e.make<aten::add_tensor>(variance, e.splat(a.eps, e.dtype(variance), 1)));
        if (a.weight) scale = e.make<aten::mul_tensor>(*a.weight, scale);
        if (const auto* conv = foldable(a.input)) return fold(e, *conv, scale, mean, a.bias);
        value shift = e.make<aten::mul_tensor>(mean, scale);
        const std::size_t rank = e.rank(a.input) - 1;
        const value scaled = e.make<aten::mul_tensor>(a.input, along_channels(e, scale, rank));
        if (!a.bias) return e.make<aten::sub_tensor>(scaled, along_channels(e, shift, rank));
        return e.make<aten::add_tensor>(scaled,
                                        along_channels(e, e.make<aten::sub_tensor>(*a.bias, shift), rank));
    }

    // The statistics of the batch itself: (x - mean) * rsqrt(var + eps) over all axes but the channels.
    template <class Args>
    static value by_batch_statistics(emit<produces>& e, const Args& a) {
        const std::size_t rank = e.rank(a.input);
        shape_builder axes{0};
        for (std::size_t i = 2; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
        const auto mean = [&](value v) {
            return e.make<aten::mean_dim>({.self = v, .dim = int_list(axes), .keepdim = true});
        };
        const value centered = e.make<aten::sub_tensor>(a.input, mean(a.input));
        const value variance = mean(e.make<aten::mul_tensor>(centered, centered));
        const value eps = e.splat(a.eps, e.dtype(variance), rank);
        value y =
            e.make<aten::mul_tensor>(centered, e.make<aten::rsqrt>(e.make<aten::add_tensor>(variance, eps)));
        if (a.weight) y = e.make<aten::mul_tensor>(y, along_channels(e, *a.weight, rank - 1));
        if (a.bias) y = e.make<aten::add_tensor>(y, along_channels(e, *a.bias, rank - 1));
        return y;
    }

    static const args<aten::convolution>* foldable(value input) {
        const auto* conv = match<aten::convolution>(input);
        const bool sole = conv != nullptr && has_one_use(input) &&
                          is<builtin::constant>(*conv->weight.producer) &&
                          (!conv->bias || is<builtin::constant>(*conv->bias->producer));
        return sole && !(conv->transposed && conv->groups != 1) ? conv : nullptr;
    }

    static value fold(emit<produces>& e, args<aten::convolution> conv, value scale, value mean,
                      const std::optional<value>& bias) {
        const std::size_t rank = e.rank(conv.weight);
        // Output channels are axis 0 of a weight, axis 1 of a transposed convolution's.
        const value factor = along_channels(e, scale, conv.transposed ? rank - 1 : rank);
        conv.weight = e.make<aten::mul_tensor>(conv.weight, factor);
        const value centered = conv.bias ? e.make<aten::sub_tensor>(*conv.bias, mean)
                                         : e.make<aten::mul_tensor>(mean, e.splat(-1.0, e.dtype(mean), 1));
        conv.bias = e.make<aten::mul_tensor>(centered, scale);
        if (bias) conv.bias = e.make<aten::add_tensor>(*conv.bias, *bias);
        return e.make<aten::convolution>(conv);
    }
};

}  // namespace headrace

#endif
