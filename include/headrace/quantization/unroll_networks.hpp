// SPDX-License-Identifier: MIT
// Defines headrace::unroll_networks.
#ifndef HEADRACE_QUANTIZATION_UNROLL_NETWORKS_HPP
#define HEADRACE_QUANTIZATION_UNROLL_NETWORKS_HPP

#include <headrace/base/pmr_vector.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/recurrent.hpp>
#include <headrace/rewrite/arithmetic.hpp>

namespace headrace {

/// Unrolls recurrent networks into their cells, one for each time step, with two linear layers each. The
/// lowering computes the products with all inputs at once (decompose_recurrent); PyTorch's quantizer for TOSA
/// does so step by step, so that each step has ranges of its own.
struct unroll_networks : pass {
    static constexpr std::string_view summary = "lstm, gru, rnn as cells, step by step, to be quantized";

    using targeted_ops = ops_where<aten::dialect, trait::recurrent_network>;
    using produces = ops<aten::linear, aten::slice_tensor, aten::select_int, aten::unsqueeze, aten::cat,
        aten::sigmoid, aten::tanh, aten::relu, aten::mul_tensor, aten::add_tensor, aten::sub_tensor>;

    template <one_of<build::hidden_state_networks> Op>
    std::tuple<value, value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const unrolled all = unroll<Op>(e, a, a.hx, {});
        return {all.outputs, stacked(e, all.h, 0)};
    }
    std::tuple<value, value, value> operator()(const args<aten::lstm_input>& a, emit<produces>& e) const {
        if (a.hx.size() != 2) return {e.fail(malformed("lstm needs a hidden and a cell state")), {}, {}};
        const unrolled all = unroll<aten::lstm_input>(e, a, a.hx[0], a.hx[1]);
        return {all.outputs, stacked(e, all.h, 0), stacked(e, all.c, 0)};
    }

private:
    using state = build::recurrent_state;
    using unrolled = build::unrolled_layers;
    struct gates {
        value from_input, from_hidden;
    };

    static value stacked(
        emit<ops<aten::unsqueeze, aten::cat>> e, const value_list& items, std::int64_t axis) {
        value_list lifted;
        for (const value v : items) lifted.push_back(e.make<aten::unsqueeze>({.self = v, .dim = axis}));
        return items.size() == 0 ? value{} : e.make<aten::cat>({.tensors = lifted, .dim = axis});
    }
    static value gate(emit<ops<aten::slice_tensor>> e, value v, std::int64_t i, std::int64_t count) {
        if (e.failed()) return {};
        const auto axis = static_cast<std::int64_t>(e.rank(v)) - 1;
        const std::int64_t width = e.shape(v).back() / count;
        return e.make<aten::slice_tensor>(
            {.self = v, .dim = axis, .start = i * width, .end = (i + 1) * width});
    }

    template <class Op>
    static state step(emit<produces>& e, const gates& g, const state& before) {
        if constexpr (std::is_same_v<Op, aten::lstm_input>) {
            const value all = e.make<aten::add_tensor>({.self = g.from_input, .other = g.from_hidden});
            value parts[4];
            for (int i = 0; i != 4; ++i) parts[i] = gate(e, all, i, 4);
            const auto cell = [](auto i, auto f, auto u, auto o, auto c) {
                const auto input = sigmoid(i);
                const auto kept = sigmoid(f);
                const auto fresh = tanh(u);
                const auto output = sigmoid(o);
                const auto remembered = kept * c;
                const auto next = remembered + input * fresh;
                return std::tuple(output * tanh(next), next);
            };
            const auto [h, c] = e.build(cell, parts[0], parts[1], parts[2], parts[3], before.c);
            return {h, c};
        } else if constexpr (std::is_same_v<Op, aten::gru_input>) {
            value parts[6];
            for (int i = 0; i != 3; ++i) parts[i] = gate(e, g.from_input, i, 3);
            for (int i = 0; i != 3; ++i) parts[3 + i] = gate(e, g.from_hidden, i, 3);
            const auto cell = [](auto ri, auto zi, auto ni, auto rh, auto zh, auto nh, auto h) {
                const auto reset = sigmoid(ri + rh);
                const auto update = sigmoid(zi + zh);
                const auto fresh = tanh(ni + reset * nh);
                return fresh + update * (h - fresh);
            };
            return {e.build(cell, parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], before.h), {}};
        } else {
            const auto cell = [](auto x, auto h) {
                if constexpr (std::is_same_v<Op, aten::rnn_tanh_input>) {
                    return tanh(x + h);
                } else {
                    return call<aten::relu>(x + h);
                }
            };
            return {e.build(cell, g.from_input, g.from_hidden), {}};
        }
    }

    template <class Op>
    static unrolled unroll(emit<produces>& e, const args<Op>& a, value h0, value c0) {
        return build::unroll_layers<Op>(e, a, h0, c0, [&](unrolled& all, const state& before, auto... rest) {
            return run_layer<Op>(e, all, before, rest...);
        });
    }

    template <class Op>
    static value run_layer(emit<produces>& e, unrolled& all, state s, const build::recurrent_weights& w,
        std::int64_t time_axis, bool backward) {
        if (e.failed()) return {};
        const std::int64_t steps = e.shape(all.outputs)[static_cast<std::size_t>(time_axis)];
        if (!e.may_unroll(steps)) return {};
        const auto linear = [&](value x, value weight, std::optional<value> bias) {
            return e.make<aten::linear>({.input = x, .weight = weight, .bias = bias});
        };
        pmr_vector<value> outputs(static_cast<std::size_t>(steps));
        for (std::int64_t i = 0; i != steps && !e.failed(); ++i) {
            const std::int64_t t = backward ? steps - 1 - i : i;
            const value now = e.make<aten::select_int>({.self = all.outputs, .dim = time_axis, .index = t});
            const value from_input = linear(now, w.input, w.input_bias);
            const value from_hidden = linear(s.h, w.hidden, w.hidden_bias);
            s = step<Op>(e, {from_input, from_hidden}, s);
            if (w.projection) s.h = linear(s.h, *w.projection, std::nullopt);
            outputs[static_cast<std::size_t>(t)] = e.make<aten::unsqueeze>({.self = s.h, .dim = time_axis});
        }
        all.h.push_back(s.h);
        if (s.c) all.c.push_back(s.c);
        return e.make<aten::cat>({.tensors = outputs, .dim = time_axis});
    }
};
HEADRACE_COMPILED_PASS(unroll_networks);

}  // namespace headrace

#endif
