// SPDX-License-Identifier: MIT
// Defines headrace::decompose_recurrent.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_RECURRENT_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_RECURRENT_HPP

#include <memory_resource>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Recurrent cells as linear layers and gates (PyTorch, torch.nn.LSTM, GRU, RNN), whole networks as their
/// cells unrolled over time, layer by layer and direction by direction:
///   LSTM  i, f, g, o = W x + U h;  c' = sig(f) c + sig(i) tanh(g);  h' = sig(o) tanh(c')
///   GRU   r, z, n;  h' = n + z (h - n) with n = tanh(Wn x + sig(r) (Un h))
///   RNN   h' = act(W x + U h)
struct decompose_recurrent : pass {
    using phase = decomposition;
    using cells = ops<aten::gru_cell, aten::rnn_tanh_cell, aten::rnn_relu_cell>;
    using networks = ops<aten::gru_input, aten::rnn_tanh_input, aten::rnn_relu_input>;
    using targets = joined<cells, networks, ops<aten::lstm_cell, aten::lstm_input>>;
    using produces =
        ops<aten::linear, aten::slice_tensor, aten::select_int, aten::stack, aten::cat, aten::sigmoid,
            aten::tanh, aten::relu, aten::mul_tensor, aten::add_tensor, aten::sub_tensor>;

    template <one_of<cells> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return step<kind_of_op<Op>>(e, linear(e, a.input, a.w_ih, a.b_ih), {a.hx, {}},
                                    {a.w_ih, a.w_hh, a.b_ih, a.b_hh})
            .h;
    }
    std::tuple<value, value> operator()(const args<aten::lstm_cell>& a, emit<produces>& e) const {
        if (a.hx.size() != 2) return {e.fail(malformed("lstm_cell needs a hidden and a cell state")), {}};
        const state next = step<cell_kind::lstm>(e, linear(e, a.input, a.w_ih, a.b_ih), {a.hx[0], a.hx[1]},
                                                 {a.w_ih, a.w_hh, a.b_ih, a.b_hh});
        return {next.h, next.c};
    }
    template <one_of<networks> Op>
    std::tuple<value, value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const unrolled all = unroll<kind_of_op<Op>>(e, a, a.hx, {});
        return {all.outputs, stacked(e, all.h)};
    }
    std::tuple<value, value, value> operator()(const args<aten::lstm_input>& a, emit<produces>& e) const {
        if (a.hx.size() != 2) return {e.fail(malformed("lstm needs a hidden and a cell state")), {}, {}};
        const unrolled all = unroll<cell_kind::lstm>(e, a, a.hx[0], a.hx[1]);
        return {all.outputs, stacked(e, all.h), stacked(e, all.c)};
    }

private:
    enum class cell_kind { lstm, gru, tanh, relu };
    template <class Op>
    static constexpr cell_kind kind_of_op =
        one_of<Op, ops<aten::gru_cell, aten::gru_input>>             ? cell_kind::gru
        : one_of<Op, ops<aten::rnn_tanh_cell, aten::rnn_tanh_input>> ? cell_kind::tanh
                                                                     : cell_kind::relu;

    struct state {
        value h, c;
    };
    struct weights {
        value input, hidden;
        std::optional<value> input_bias, hidden_bias;
    };
    struct unrolled {
        value outputs;
        value_list h, c;  // of each layer and direction
    };

    static value linear(emit<produces>& e, value x, value weight, const std::optional<value>& bias) {
        return e.make<aten::linear>({.input = x, .weight = weight, .bias = bias});
    }
    static value stacked(emit<produces>& e, const value_list& items) {
        return items.size() == 0 ? value{} : e.make<aten::stack>({.tensors = items});
    }
    static value gate(emit<produces>& e, value gates, std::int64_t which, std::int64_t count) {
        const std::int64_t width = (e.rank(gates) == 0 ? 0 : e.shape(gates).back()) / count;
        return e.make<aten::slice_tensor>(
            {.self = gates, .dim = -1, .start = which * width, .end = (which + 1) * width});
    }

    // `from_input` is W x + b, which a network computes for all steps at once.
    template <cell_kind Kind>
    static state step(emit<produces>& e, value from_input, const state& before, const weights& w) {
        const value from_hidden = linear(e, before.h, w.hidden, w.hidden_bias);
        if constexpr (Kind == cell_kind::gru) return {gru_step(e, from_input, from_hidden, before.h), {}};
        const value sum = e.make<aten::add_tensor>(from_input, from_hidden);
        if constexpr (Kind == cell_kind::tanh) return {e.make<aten::tanh>(sum), {}};
        if constexpr (Kind == cell_kind::relu) return {e.make<aten::relu>(sum), {}};
        return lstm_step(e, sum, before.c);
    }
    static state lstm_step(emit<produces>& e, value gates, value c) {
        const auto sigmoid = [&](std::int64_t i) { return e.make<aten::sigmoid>(gate(e, gates, i, 4)); };
        const value kept = e.make<aten::mul_tensor>(sigmoid(1), c);
        const value added = e.make<aten::mul_tensor>(sigmoid(0), e.make<aten::tanh>(gate(e, gates, 2, 4)));
        const value next = e.make<aten::add_tensor>(kept, added);
        return {e.make<aten::mul_tensor>(sigmoid(3), e.make<aten::tanh>(next)), next};
    }
    static value gru_step(emit<produces>& e, value from_input, value from_hidden, value h) {
        const auto sum = [&](std::int64_t i) {
            return e.make<aten::add_tensor>(gate(e, from_input, i, 3), gate(e, from_hidden, i, 3));
        };
        const value reset = e.make<aten::sigmoid>(sum(0));
        const value update = e.make<aten::sigmoid>(sum(1));
        const value recalled = e.make<aten::mul_tensor>(reset, gate(e, from_hidden, 2, 3));
        const value fresh = e.make<aten::tanh>(e.make<aten::add_tensor>(gate(e, from_input, 2, 3), recalled));
        const value difference = e.make<aten::sub_tensor>(h, fresh);
        return e.make<aten::add_tensor>(fresh, e.make<aten::mul_tensor>(update, difference));
    }

    template <cell_kind Kind, class Args>
    static unrolled unroll(emit<produces>& e, const Args& a, value h0, value c0) {
        if (a.train && a.dropout != 0)
            return {e.unsupported("recurrent network with dropout; export it after model.eval()"), {}, {}};
        const std::size_t per_cell = a.has_biases ? 4 : 2;
        const std::int64_t directions = a.bidirectional ? 2 : 1;
        if (a.params.size() != per_cell * static_cast<std::size_t>(a.num_layers * directions)) {
            return {e.unsupported("recurrent network with projections; TOSA has no such cell"), {}, {}};
        }
        unrolled all{a.input, {}, {}};
        const bool batched = e.rank(a.input) == 3;
        const std::int64_t time_axis = a.batch_first && batched ? 1 : 0;
        for (std::int64_t layer = 0; layer != a.num_layers && !e.failed(); ++layer) {
            value_list outputs;
            for (std::int64_t direction = 0; direction != directions; ++direction) {
                const std::int64_t k = layer * directions + direction;
                const value* p = a.params.data() + static_cast<std::size_t>(k) * per_cell;
                const auto initial = [&](value v) {
                    return v ? e.make<aten::select_int>({.self = v, .dim = 0, .index = k}) : value{};
                };
                weights w{p[0], p[1], std::nullopt, std::nullopt};
                if (a.has_biases) w = {p[0], p[1], p[2], p[3]};
                outputs.push_back(
                    run_layer<Kind>(e, all, {initial(h0), initial(c0)}, w, time_axis, direction == 1));
            }
            all.outputs = directions == 1 ? outputs[0] : e.make<aten::cat>({.tensors = outputs, .dim = -1});
        }
        return all;
    }

    template <cell_kind Kind>
    static value run_layer(emit<produces>& e, unrolled& all, state s, const weights& w,
                           std::int64_t time_axis, bool backward) {
        const value from_input = linear(e, all.outputs, w.input, w.input_bias);
        if (e.failed()) return {};
        const std::int64_t steps = e.shape(from_input)[static_cast<std::size_t>(time_axis)];
        std::pmr::vector<value> outputs(static_cast<std::size_t>(steps));
        for (std::int64_t i = 0; i != steps; ++i) {
            const std::int64_t t = backward ? steps - 1 - i : i;
            const value now = e.make<aten::select_int>({.self = from_input, .dim = time_axis, .index = t});
            s = step<Kind>(e, now, s, w);
            outputs[static_cast<std::size_t>(t)] = s.h;
        }
        all.h.push_back(s.h);
        if (s.c) all.c.push_back(s.c);
        return e.make<aten::stack>({.tensors = outputs, .dim = time_axis});
    }
};

}  // namespace headrace

#endif
