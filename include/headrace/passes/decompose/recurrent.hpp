// SPDX-License-Identifier: MIT
// Defines headrace::build::unroll_layers and headrace::decompose_recurrent.
#ifndef HEADRACE_PASSES_DECOMPOSE_RECURRENT_HPP
#define HEADRACE_PASSES_DECOMPOSE_RECURRENT_HPP

#include <headrace/op/op_query.hpp>
#include <headrace/passes/decompose/expressions.hpp>

namespace headrace::build {

/// Recurrent networks without a cell state: all except LSTM.
using hidden_state_networks =
    list_of_set<set_where<aten::dialect, trait::recurrent_network> - ops_in<aten::lstm_input>>;

/// The hidden state and, for LSTM only, the cell state.
struct recurrent_state {
    value h, c;
};
/// The weights of one layer in one direction.
struct recurrent_weights {
    value input, hidden;
    std::optional<value> input_bias, hidden_bias;
    std::optional<value> projection;  ///< LSTM only: multiplies the cell's output
};
struct unrolled_layers {
    value outputs;    ///< of the last layer so far: the next layer's input
    value_list h, c;  ///< the last states of each layer and direction
};

/// Returns the k-th weights, of `per_cell` operands each: 2, or 4 with biases, and one more with projections.
[[nodiscard]] inline recurrent_weights weights_of_cell(
    list<value> params, std::size_t k, std::size_t per_cell) {
    const value* const p = params.data() + k * per_cell;
    recurrent_weights w{p[0], p[1], {}, {}, {}};
    if (per_cell >= 4) w.input_bias = p[2], w.hidden_bias = p[3];
    if (per_cell % 2 == 1) w.projection = p[per_cell - 1];
    return w;
}

/// Calls `run(all, state, weights, time_axis, backward)` for each layer and direction of a recurrent op;
/// `run` returns the outputs of all steps and adds the last states to `all`.
template <class Op, class Run>
unrolled_layers unroll_layers(
    emit<ops<aten::select_int, aten::cat>> e, const args<Op>& a, value h0, value c0, Run&& run) {
    if (a.train && a.dropout != 0)
        return {e.unsupported("recurrent network with dropout; export it after model.eval()"), {}, {}};
    const bool projects = c0 && e.shape(c0).back() != e.shape(h0).back();
    const std::size_t per_cell = (a.has_biases ? 4 : 2) + (projects ? 1 : 0);
    const std::int64_t directions = a.bidirectional ? 2 : 1;
    if (a.num_layers < 1 || !e.may_unroll(a.num_layers) ||
        a.params.size() != per_cell * static_cast<std::size_t>(a.num_layers * directions)) {
        return {e.unsupported("recurrent network with more or fewer weights than its layers need"), {}, {}};
    }
    unrolled_layers all{a.input, {}, {}};
    const std::int64_t time_axis = a.batch_first && e.rank(a.input) == 3 ? 1 : 0;
    for (std::int64_t layer = 0; layer != a.num_layers && !e.failed(); ++layer) {
        value_list outputs;
        for (std::int64_t direction = 0; direction != directions; ++direction) {
            const std::int64_t k = layer * directions + direction;
            const auto initial = [&](value v) {
                return v ? e.make<aten::select_int>({.self = v, .dim = 0, .index = k}) : value{};
            };
            const recurrent_state before{initial(h0), initial(c0)};
            const recurrent_weights weights =
                weights_of_cell(a.params, static_cast<std::size_t>(k), per_cell);
            outputs.push_back(run(all, before, weights, time_axis, direction == 1));
        }
        all.outputs = directions == 1 ? outputs[0] : e.make<aten::cat>({.tensors = outputs, .dim = -1});
    }
    return all;
}

}  // namespace headrace::build
namespace headrace {

/// Decomposes recurrent cells, and networks by unrolling their cells over time, layer by layer and direction
/// by direction (PyTorch, torch.nn.LSTM, GRU, RNN):
///   LSTM  i, f, g, o = W x + U h;  c' = sig(f) c + sig(i) tanh(g);  h' = sig(o) tanh(c'), or P times that
///   GRU   r, z, n;  h' = n + z (h - n) with n = tanh(Wn x + sig(r) (Un h))
///   RNN   h' = act(W x + U h)
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
                    return gru(linear(x, w_ih, a.b_ih), linear(h, w_hh, a.b_hh), h);
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
    static auto gate(const auto& gates, std::int64_t i, std::int64_t count) {
        const std::int64_t width = gates.size(-1) / count;
        return call<aten::slice_tensor>(gates, -1, i * width, (i + 1) * width);
    }
    // Returns h' and c'.
    static auto lstm(const auto& gates, const auto& c) {
        const auto next =
            sigmoid(gate(gates, 1, 4)) * c + sigmoid(gate(gates, 0, 4)) * tanh(gate(gates, 2, 4));
        return std::tuple(sigmoid(gate(gates, 3, 4)) * tanh(next), next);
    }
    static auto gru(const auto& from_input, const auto& from_hidden, const auto& h) {
        const auto sum = [&](std::int64_t i) { return gate(from_input, i, 3) + gate(from_hidden, i, 3); };
        const auto recalled = sigmoid(sum(0)) * gate(from_hidden, 2, 3);
        const auto fresh = tanh(gate(from_input, 2, 3) + recalled);
        return fresh + sigmoid(sum(1)) * (h - fresh);
    }

    using made = ops<aten::linear, aten::slice_tensor, aten::select_int, aten::stack, aten::cat,
        aten::sigmoid, aten::tanh, aten::relu, aten::mul_tensor, aten::add_tensor, aten::sub_tensor>;
    using state = build::recurrent_state;
    using unrolled = build::unrolled_layers;
    using weights = build::recurrent_weights;

    static value stacked(emit<ops<aten::stack>> e, const value_list& items) {
        return items.size() == 0 ? value{} : e.make<aten::stack>({.tensors = items});
    }
    template <class Op>
    static std::tuple<value, value> of_hidden_state(emit<made> e, const args<Op>& a) {
        const unrolled all = unroll<Op>(e, a, a.hx, {});
        return {all.outputs, stacked(e, all.h)};
    }
    static std::tuple<value, value, value> of_both_states(emit<made> e, const args<aten::lstm_input>& a) {
        if (a.hx.size() != 2) return {e.fail(malformed("lstm needs a hidden and a cell state")), {}, {}};
        const unrolled all = unroll<aten::lstm_input>(e, a, a.hx[0], a.hx[1]);
        return {all.outputs, stacked(e, all.h), stacked(e, all.c)};
    }
    // Computes one step; `from_input` is W x + b, which a network computes for all steps at once.
    template <class Op>
    static state step(emit<made> e, value from_input, const state& before, const weights& w) {
        const auto from_hidden = [&](const auto& h) { return linear(h, h.of(w.hidden), w.hidden_bias); };
        if constexpr (std::is_same_v<Op, aten::lstm_input>) {
            const auto cell = [&](auto x, auto h, auto c) { return lstm(x + from_hidden(h), c); };
            const auto [h, c] = e.build(cell, from_input, before.h, before.c);
            if (!w.projection) return {h, c};
            return {e.make<aten::linear>({.input = h, .weight = *w.projection}), c};
        } else {
            const auto cell = [&](auto x, auto h) {
                if constexpr (std::is_same_v<Op, aten::gru_input>) {
                    return gru(x, from_hidden(h), h);
                } else if constexpr (std::is_same_v<Op, aten::rnn_tanh_input>) {
                    return tanh(x + from_hidden(h));
                } else {
                    return call<aten::relu>(x + from_hidden(h));
                }
            };
            return {e.build(cell, from_input, before.h), {}};
        }
    }
    template <class Op>
    static unrolled unroll(emit<made> e, const args<Op>& a, value h0, value c0) {
        return build::unroll_layers<Op>(e, a, h0, c0, [&](unrolled& all, const state& before, auto... rest) {
            return run_layer<Op>(e, all, before, rest...);
        });
    }
    template <class Op>
    static value run_layer(
        emit<made> e, unrolled& all, state s, const weights& w, std::int64_t time_axis, bool backward) {
        const value from_input =
            e.make<aten::linear>({.input = all.outputs, .weight = w.input, .bias = w.input_bias});
        if (e.failed()) return {};
        const std::int64_t steps = e.shape(from_input)[static_cast<std::size_t>(time_axis)];
        if (!e.may_unroll(steps)) return {};
        pmr_vector<value> outputs(static_cast<std::size_t>(steps));
        for (std::int64_t i = 0; i != steps && !e.failed(); ++i) {
            const std::int64_t t = backward ? steps - 1 - i : i;
            const value now = e.make<aten::select_int>({.self = from_input, .dim = time_axis, .index = t});
            s = step<Op>(e, now, s, w);
            outputs[static_cast<std::size_t>(t)] = s.h;
        }
        all.h.push_back(s.h);
        if (s.c) all.c.push_back(s.c);
        return e.make<aten::stack>({.tensors = outputs, .dim = time_axis});
    }
};
HEADRACE_COMPILED_PASS(decompose_recurrent);

}  // namespace headrace

#endif
