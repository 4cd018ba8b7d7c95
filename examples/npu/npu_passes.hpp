// SPDX-License-Identifier: MIT
// The passes from ATen to the NPU.
#ifndef HEADRACE_EXAMPLES_NPU_PASSES_HPP
#define HEADRACE_EXAMPLES_NPU_PASSES_HPP

#include <cmath>
#include <optional>

//! [match]
//! [handlers]
#include "npu.hpp"

//! [handlers]
//! [match]
#if !__has_include(<headrace_passes.hpp>)
//! [match]
//! [fusion]
#include <headrace/match/node_pattern.hpp>
//! [handlers]
//! [fusion]
#include <headrace/pass/order.hpp>
#include <headrace/pass/pipeline.hpp>
//! [handlers]
//! [match]
//! [folding]
#include <headrace/passes/support/constants.hpp>
//! [folding]
#endif

//! [match]
//! [handlers]
//! [fusion]
//! [folding]
namespace npu {

//! [folding]
//! [fusion]
/// All ops are the NPU's.
struct ops_selected : property {};

//! [match]
using elementwise = ops<aten::relu, aten::sigmoid, aten::tanh, aten::hardswish>;
using flattening = ops<aten::view, aten::flatten_using_ints>;

/// One op of ATen's becomes one of the NPU's; what the machine cannot do is refused.
struct select_ops : pass {
    using ensures = pass_list<ops_selected>;
    static constexpr std::string_view summary = "ATen's ops to those of the NPU";
    using targeted_ops = joined<elementwise, flattening,
        ops<aten::conv2d, aten::linear, aten::add_tensor, aten::batch_norm, aten::max_pool2d, aten::mean_dim,
            aten::adaptive_avg_pool2d, aten::softmax_int, aten::cat>>;
    using produces = dialect::all_ops;

    value operator()(const args<aten::conv2d>& a, emit<produces>& e) const {
        if (a.dilation != int_list{1, 1}) return e.unsupported("the NPU has no dilated convolutions");
        return verified<conv2d>(e,
            {.input = a.input,
                .weight = a.weight,
                .bias = bias_of(e, a.bias, e.shape(a.weight)[0]),
                .stride = a.stride,
                .padding = a.padding,
                .groups = a.groups});
    }
    // The other ops' handlers are alike.
    //! [handlers]
    value operator()(const args<aten::linear>& a, emit<produces>& e) const {
        return e.make<linear>({a.input, a.weight, bias_of(e, a.bias, e.shape(a.weight)[0])});
    }
    value operator()(const args<aten::add_tensor>& a, emit<produces>& e) const {
        if (!(e.meta(a.self) == e.meta(a.other)) || !(a.alpha == scalar(1)))
            return e.unsupported("the NPU adds tensors of one shape and type; expand them first");
        return e.make<add>({a.self, a.other});
    }
    /// The statistics of an exported model are constants.
    value operator()(const args<aten::batch_norm>& a, emit<produces>& e) const {
        if (!a.weight || !a.bias || !a.running_mean || !a.running_var || a.training)
            return e.unsupported("the NPU normalizes by statistics that are given; call model.eval() first");
        const auto w = constant_reals(*a.weight), b = constant_reals(*a.bias);
        const auto mean = constant_reals(*a.running_mean), var = constant_reals(*a.running_var);
        if (!w || !b || !mean || !var) return e.unsupported("the statistics must be constants");
        const int_list channels{static_cast<std::int64_t>(w->size())};
        const auto scale = [&](std::size_t i) { return (*w)[i] / std::sqrt((*var)[i] + a.eps); };
        const auto shift = [&](std::size_t i) { return (*b)[i] - (*mean)[i] * scale(i); };
        return e.make<affine>({a.input, e.constant_of(dtype::float32, channels, scale),
            e.constant_of(dtype::float32, channels, shift)});
    }
    value operator()(const args<aten::max_pool2d>& a, emit<produces>& e) const {
        if (a.dilation != int_list{1, 1} || a.ceil_mode)
            return e.unsupported("the NPU pools without dilation, and rounds sizes down");
        return verified<max_pool>(
            e, {a.self, a.kernel_size, a.stride.empty() ? a.kernel_size : a.stride, a.padding});
    }
    value operator()(const args<aten::mean_dim>& a, emit<produces>& e) const {
        const bool spatial =
            a.dim && (*a.dim == int_list{2, 3} || *a.dim == int_list{-1, -2} || *a.dim == int_list{-2, -1});
        if (!spatial || e.rank(a.self) != 4 || !a.keepdim)
            return e.unsupported("the NPU takes means over rows and columns, which it keeps");
        return e.make<average>({a.self});
    }
    value operator()(const args<aten::adaptive_avg_pool2d>& a, emit<produces>& e) const {
        if (a.output_size != int_list{1, 1}) return e.unsupported("the NPU averages whole images");
        return e.make<average>({a.self});
    }
    value operator()(const args<aten::softmax_int>& a, emit<produces>& e) const {
        if (normalized_axis(a.dim, e.rank(a.self)) != e.rank(a.self) - 1)
            return e.unsupported("the NPU's softmax is over the last axis");
        return e.make<softmax>({a.self});
    }
    value operator()(const args<aten::cat>& a, emit<produces>& e) const {
        return e.make<concat>({a.tensors, a.dim});
    }
    template <one_of<flattening> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return e.make<reshape>({a.self, e.result_meta().shape});
    }
    value operator()(const args<aten::relu>& a, emit<produces>& e) const {
        return e.make<table>({a.self, function::relu});
    }
    value operator()(const args<aten::sigmoid>& a, emit<produces>& e) const {
        return e.make<table>({a.self, function::sigmoid});
    }
    value operator()(const args<aten::tanh>& a, emit<produces>& e) const {
        return e.make<table>({a.self, function::tanh});
    }
    value operator()(const args<aten::hardswish>& a, emit<produces>& e) const {
        return e.make<table>({a.self, function::hardswish});
    }

    //! [handlers]
private:
    /// Refuses what the machine cannot do, with the message of the verifier.
    template <class Op>
    static value verified(emit<produces>& e, const args<Op>& a) {
        if (const auto fits = verify_op(Op{}, a, e.current()); !fits)
            return e.unsupported("the NPU refuses it: " + std::pmr::string(fits.error().message));
        return e.make<Op>(a);
    }
    static value bias_of(emit<produces>& e, const std::optional<value>& bias, std::int64_t channels) {
        return bias ? *bias : e.splat(0, dtype::float32, int_list{channels});
    }
};

//! [handlers]
//! [match]
//! [fusion]
/// An activation after a node of the NPU is computed by that node.
struct fuse_relu : pass {
    using requires_before = pass_list<ops_selected>;
    static constexpr std::string_view summary = "ReLU into the node before it";
    static auto rewrites() {
        return rules(
            on_match([](auto x, auto w, auto b) {
                return node_of<"relu", table>(node_of<"inner", conv2d>(x, w, b));
            }) =
                [](auto x, auto w, auto b, const auto& m) {
                    const args<conv2d>& a = get<"inner">(m);
                    return choose(
                        may_fuse(m),
                        [&] { return call<conv2d>(x, w, b, a.stride, a.padding, a.groups, true); },
                        unchanged);
                },
            on_match([](auto x, auto w, auto b) {
                return node_of<"relu", table>(node_of<"inner", linear>(x, w, b));
            }) =
                [](auto x, auto w, auto b, const auto& m) {
                    return choose(
                        may_fuse(m), [&] { return call<linear>(x, w, b, true); }, unchanged);
                },
            on_match([](auto a, auto b) { return node_of<"relu", table>(node_of<"inner", add>(a, b)); }) =
                [](auto a, auto b, const auto& m) {
                    return choose(
                        may_fuse(m), [&] { return call<add>(a, b, true); }, unchanged);
                });
    }

private:
    static auto may_fuse(const auto& m) {
        return get<"relu">(m).function == function::relu && is_sole_use<"inner">(m);
    }
};
//! [match]
//! [fusion]

//! [folding]
/// Factors and summands after a convolution go into its weights and biases.
struct fold_affine : pass {
    using requires_before = pass_list<ops_selected>;
    using runs_before = pass_list<fuse_relu>;
    static constexpr std::string_view summary = "npu.affine into the weights of the convolution before it";
    using targeted_ops = ops<affine>;
    using produces = ops<conv2d>;

    std::optional<value> operator()(const args<affine>& a, emit<produces>& e) const {
        const args<conv2d>* conv = match<conv2d>(a.input);
        if (conv == nullptr || use_count(a.input) != 1) return std::nullopt;
        const auto scale = constant_reals(a.scale), shift = constant_reals(a.shift);
        const auto weight = constant_reals(conv->weight), bias = constant_reals(conv->bias);
        if (!scale || !shift || !weight || !bias) return std::nullopt;
        const std::size_t row = weight->size() / scale->size();
        args<conv2d> folded = *conv;
        folded.weight = e.constant_of(dtype::float32, e.shape(conv->weight),
            [&](std::size_t i) { return (*weight)[i] * (*scale)[i / row]; });
        folded.bias = e.constant_of(dtype::float32, e.shape(conv->bias),
            [&](std::size_t i) { return (*bias)[i] * (*scale)[i] + (*shift)[i]; });
        return e.make<conv2d>(folded);
    }
};

//! [match]
//! [handlers]
//! [fusion]
}  // namespace npu
//! [match]
//! [handlers]
//! [fusion]
//! [folding]

#endif
