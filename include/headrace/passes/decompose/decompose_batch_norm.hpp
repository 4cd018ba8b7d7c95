// SPDX-License-Identifier: MIT
// Defines headrace::decompose_batch_norm.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_BATCH_NORM_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_BATCH_NORM_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

struct decompose_grouped_convolution;
struct decompose_transposed_volumes;
/// Batch normalization at inference is x * s + (bias - mean * s) with s = weight * rsqrt(var + eps), per
/// channel (PyTorch, torch.nn.BatchNorm2d). All of that but x is constant. After a convolution that nothing
/// else reads, it goes into the convolution's own weight and bias and costs nothing.
struct decompose_batch_norm : pass {
    using phase = decomposition;
    using runs_after = pass_list<canonical_convolutions>;
    using runs_before = pass_list<decompose_grouped_convolution, decompose_transposed_volumes>;
    using targets = ops<aten::batch_norm, aten::native_batch_norm, aten::_native_batch_norm_legit,
                        aten::_native_batch_norm_legit_no_training, aten::_native_batch_norm_legit_no_stats>;
    using produces = ops<aten::convolution, aten::mul_tensor, aten::add_tensor, aten::sub_tensor, aten::rsqrt,
                         aten::view, aten::mean_dim, aten::_to_copy>;

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

    // Half-precision tensors are normalized in float32, as PyTorch does: their squares need not fit.
    static dtype inside(dtype t) {
        return t == dtype::float16 || t == dtype::bfloat16 ? dtype::float32 : t;
    }
    static value to(emit<produces>& e, value v, dtype type) {
        return e.dtype(v) == type ? v : e.make<aten::_to_copy>({.self = v, .dtype = type});
    }

    // [C] as [C, 1, 1].
    static value along_channels(emit<produces>& e, value v, std::size_t rank) {
        shape_builder shape = shape_builder::filled(rank, 1);
        shape[0] = e.shape(v)[0];
        return e.make<aten::view>({.self = v, .size = int_list(shape)});
    }

    template <class Args>
    static value by_statistics(emit<produces>& e, const Args& a, value mean, value variance) {
        const dtype type = inside(e.dtype(a.input));
        mean = to(e, mean, type);
        const value shifted = e.make<aten::add_tensor>(to(e, variance, type), e.splat(a.eps, type, 1));
        value scale = e.make<aten::rsqrt>(shifted);
        if (a.weight) scale = e.make<aten::mul_tensor>(to(e, *a.weight, type), scale);
        if (const auto* conv = foldable(a.input)) return fold(e, *conv, scale, mean, a.bias);
        const std::size_t rank = e.rank(a.input) - 1;
        value y = e.make<aten::mul_tensor>(to(e, a.input, type), along_channels(e, scale, rank));
        const value shift = e.make<aten::mul_tensor>(mean, scale);
        if (a.bias) {
            const value offset = e.make<aten::sub_tensor>(to(e, *a.bias, type), shift);
            y = e.make<aten::add_tensor>(y, along_channels(e, offset, rank));
        } else {
            y = e.make<aten::sub_tensor>(y, along_channels(e, shift, rank));
        }
        return to(e, y, e.dtype(a.input));
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
        const dtype type = inside(e.dtype(a.input));
        const value x = to(e, a.input, type);
        const value centered = e.make<aten::sub_tensor>(x, mean(x));
        const value variance = mean(e.make<aten::mul_tensor>(centered, centered));
        const value eps = e.splat(a.eps, type, rank);
        value y =
            e.make<aten::mul_tensor>(centered, e.make<aten::rsqrt>(e.make<aten::add_tensor>(variance, eps)));
        if (a.weight) y = e.make<aten::mul_tensor>(y, along_channels(e, to(e, *a.weight, type), rank - 1));
        if (a.bias) y = e.make<aten::add_tensor>(y, along_channels(e, to(e, *a.bias, type), rank - 1));
        return to(e, y, e.dtype(a.input));
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
        const dtype type = e.dtype(conv.weight);
        const auto widened = [&](value v) { return to(e, v, e.dtype(mean)); };
        const value offset = conv.bias ? e.make<aten::sub_tensor>(widened(*conv.bias), mean)
                                       : e.make<aten::mul_tensor>(mean, e.splat(-1.0, e.dtype(mean), 1));
        value shift = e.make<aten::mul_tensor>(offset, scale);
        if (bias) shift = e.make<aten::add_tensor>(shift, widened(*bias));
        conv.weight = to(e, e.make<aten::mul_tensor>(widened(conv.weight), factor), type);
        conv.bias = to(e, shift, type);
        return e.make<aten::convolution>(conv);
    }
};

}  // namespace headrace

#endif
