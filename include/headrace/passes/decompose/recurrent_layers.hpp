// SPDX-License-Identifier: MIT
// Defines headrace::build::unroll_layers, which visits a recurrent network's layers and directions in order.
#ifndef HEADRACE_PASSES_DECOMPOSE_RECURRENT_LAYERS_HPP
#define HEADRACE_PASSES_DECOMPOSE_RECURRENT_LAYERS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>

#include <headrace/dialect/aten.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/emit.hpp>

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

#endif
