// SPDX-License-Identifier: MIT
// Defines headrace::decompose_recurrent.
#ifndef HEADRACE_PASSES_DECOMPOSE_RECURRENT_HPP
#define HEADRACE_PASSES_DECOMPOSE_RECURRENT_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/passes/decompose/unrolled_layers.hpp>

namespace headrace {

/// Decomposes recurrent cells, and networks by unrolling their cells over time, layer by layer and direction
/// by direction (PyTorch, torch.nn.LSTM, GRU, RNN):
///   LSTM  i, f, g, o = W x + U h;  c' = sig(f) c + sig(i) tanh(g);  h' = sig(o) tanh(c'), or P times that
///   GRU   r, z, n;  h' = n + z (h - n) with n = tanh(Wn x + sig(r) (Un h))
///   RNN   h' = act(W x + U h)
/// The product with the inputs of all steps is one. Gates that are functions of one sum are computed as one
/// tensor; those of a GRU are r and z, while n has products of its own, since its range differs.
struct decompose_recurrent : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "lstm, gru, rnn as linear layers and gates, unrolled over time";

    static auto rewrites() {
        constexpr auto network = code<made>(
            []<class Op>(Op, emit<made> e, const args<Op>& a) { return of_hidden_state<Op>(e, a); });
        return rules(
            on<aten::gru_input> = network, on<aten::lstm_input> = code<of_both_states>(),
            on<aten::rnn_relu_input, aten::rnn_tanh_input> = network,
            on<aten::lstm_cell> =
                [](auto x, auto w_ih, auto w_hh, const auto& a) {
                    const auto refused = [&] {
                        const auto reason = x.unsupported("lstm_cell needs a hidden and a cell state");
                        return std::tuple(reason, reason);
                    };
                    return choose(a.hx.size() != 2, refused, [&] {
                        const auto sum = linear(x, w_ih, a.b_ih) + linear(x.of(a.hx[0]), w_hh, a.b_hh);
                        return lstm(sum, x.of(a.hx[1]));
                    });
                },
            on<aten::gru_cell> =
                [](auto x, auto h, auto w_ih, auto w_hh, const auto& a) {
                    const auto from_input = linear(x, w_ih, a.b_ih);
                    const auto from_hidden = linear(h, w_hh, a.b_hh);
                    return gru(gates(from_input, 0, 2, 3), gates(from_input, 2, 1, 3),
                        gates(from_hidden, 0, 2, 3), gates(from_hidden, 2, 1, 3), h);
                },
            on<aten::rnn_tanh_cell> =
                [](auto x, auto h, auto w_ih, auto w_hh, const auto& a) {
                    return tanh(linear(x, w_ih, a.b_ih) + linear(h, w_hh, a.b_hh));
                },
            on<aten::rnn_relu_cell> =
                [](auto x, auto h, auto w_ih, auto w_hh, const auto& a) {
                    return call<aten::relu>(linear(x, w_ih, a.b_ih) + linear(h, w_hh, a.b_hh));
                });
    }

private:
    static auto linear(const auto& x, const auto& weight, const std::optional<value>& bias) {
        return call<aten::linear>(x, weight, bias);
    }
    // Returns `count` of `all` gates from the i-th on.
    static auto gates(const auto& joined, std::int64_t i, std::int64_t count, std::int64_t all) {
        const std::int64_t width = joined.size(-1) / all;
        return call<aten::slice_tensor>(joined, -1, i * width, (i + count) * width);
    }
    // Returns h' and c'. All four gates pass the sigmoid, since one function of all takes fewer nodes.
    static auto lstm(const auto& sum, const auto& c) {
        const auto open = sigmoid(sum);
        const auto next = gates(open, 1, 1, 4) * c + gates(open, 0, 1, 4) * tanh(gates(sum, 2, 1, 4));
        return std::tuple(gates(open, 3, 1, 4) * tanh(next), next);
    }
    static auto gru(const auto& input_rz, const auto& input_n, const auto& hidden_rz, const auto& hidden_n,
        const auto& h) {
        const auto open = sigmoid(input_rz + hidden_rz);
        const auto fresh = tanh(input_n + gates(open, 0, 1, 2) * hidden_n);
        return fresh + gates(open, 1, 1, 2) * (h - fresh);
    }

    using made = ops<aten::linear, aten::slice_tensor, aten::view, aten::transpose_int, aten::cat,
        aten::sigmoid, aten::tanh, aten::relu, aten::mul_tensor, aten::add_tensor, aten::sub_tensor>;
    using state = build::recurrent_state;
    using layer = build::recurrent_layer;
    using results = build::recurrent_results;

    template <class Op>
    static std::tuple<value, value> of_hidden_state(emit<made> e, const args<Op>& a) {
        const results all = unroll<Op>(e, a, a.hx, {});
        return {all.outputs, all.h};
    }
    static std::tuple<value, value, value> of_both_states(emit<made> e, const args<aten::lstm_input>& a) {
        if (a.hx.size() != 2) return {e.fail(malformed("lstm needs a hidden and a cell state")), {}, {}};
        const results all = unroll<aten::lstm_input>(e, a, a.hx[0], a.hx[1]);
        return {all.outputs, all.h, all.c};
    }
    template <class Op>
    static results unroll(emit<made> e, const args<Op>& a, value h0, value c0) {
        return build::unroll_layers<Op>(e, a, h0, c0, [&](const layer& of) { return run_layer<Op>(e, of); });
    }

    // The products that a cell adds or combines: one, or for GRU one of r and z and one of n.
    static constexpr std::size_t max_products = 2;
    template <class Op>
    static constexpr std::size_t product_count = std::is_same_v<Op, aten::gru_input> ? 2 : 1;
    struct products {
        value of[max_products]{};
    };
    // The rows of a weight and a bias for each product.
    struct product_weights {
        products weight;
        std::optional<value> bias[max_products]{};
    };
    template <class Op>
    static product_weights weights_of_products(
        emit<ops<aten::slice_tensor>> e, value weight, std::optional<value> bias) {
        product_weights parts;
        if constexpr (product_count<Op> == 1) {
            parts.weight.of[0] = weight;
            parts.bias[0] = bias;
        } else if (!e.failed()) {
            const std::int64_t hidden = e.shape(weight)[0] / 3;
            const std::int64_t begin[] = {0, 2 * hidden, 3 * hidden};
            for (std::size_t i = 0; i != product_count<Op>; ++i) {
                const auto part = [&](value v) {
                    return build::rows_of(e, v, begin[i], begin[i + 1] - begin[i]);
                };
                parts.weight.of[i] = part(weight);
                if (bias) parts.bias[i] = part(*bias);
            }
        }
        return parts;
    }
    template <class Op>
    static products multiplied(emit<ops<aten::linear>> e, value x, const product_weights& w) {
        products made;
        for (std::size_t i = 0; i != product_count<Op>; ++i)
            made.of[i] = e.make<aten::linear>({.input = x, .weight = w.weight.of[i], .bias = w.bias[i]});
        return made;
    }

    // Computes one step from the products with its input and with the hidden state.
    template <class Op>
    static state step(emit<made> e, const products& x, const products& h, const state& before) {
        if constexpr (std::is_same_v<Op, aten::lstm_input>) {
            const auto cell = [](auto input, auto hidden, auto c) { return lstm(input + hidden, c); };
            const auto [next, c] = e.build(cell, x.of[0], h.of[0], before.c);
            return {next, c};
        } else if constexpr (std::is_same_v<Op, aten::gru_input>) {
            const auto cell = [](auto input_rz, auto input_n, auto hidden_rz, auto hidden_n, auto state) {
                return gru(input_rz, input_n, hidden_rz, hidden_n, state);
            };
            return {e.build(cell, x.of[0], x.of[1], h.of[0], h.of[1], before.h), {}};
        } else {
            const auto cell = [](auto input, auto hidden) {
                if constexpr (std::is_same_v<Op, aten::rnn_tanh_input>) {
                    return tanh(input + hidden);
                } else {
                    return call<aten::relu>(input + hidden);
                }
            };
            return {e.build(cell, x.of[0], h.of[0]), {}};
        }
    }
    template <class Op>
    static results run_layer(emit<made> e, const layer& of) {
        const auto& w = of.weights;
        const product_weights hidden = weights_of_products<Op>(e, w.hidden, w.hidden_bias);
        const products inputs =
            multiplied<Op>(e, of.input, weights_of_products<Op>(e, w.input, w.input_bias));
        if (e.failed()) return {};
        const std::int64_t steps = e.shape(of.input)[1];
        if (!e.may_unroll(steps)) return {};
        if (steps == 0) return {e.unsupported("recurrent network without a time step"), {}, {}};
        pmr_vector<value> outputs(static_cast<std::size_t>(steps));
        state s = of.before;
        for (std::int64_t i = 0; i != steps && !e.failed(); ++i) {
            const std::int64_t t = of.backward ? steps - 1 - i : i;
            products now;
            for (std::size_t k = 0; k != product_count<Op>; ++k)
                now.of[k] =
                    e.make<aten::slice_tensor>({.self = inputs.of[k], .dim = 1, .start = t, .end = t + 1});
            s = step<Op>(e, now, multiplied<Op>(e, s.h, hidden), s);
            if (w.projection) s.h = e.make<aten::linear>({.input = s.h, .weight = *w.projection});
            build::note_step(e, of, now.of[0], s.h, t, steps, i == 0);
            outputs[static_cast<std::size_t>(t)] = s.h;
        }
        return {build::concatenated(e, outputs, 1), s.h, s.c};
    }
};
HEADRACE_COMPILED_PASS(decompose_recurrent);

}  // namespace headrace

#endif
