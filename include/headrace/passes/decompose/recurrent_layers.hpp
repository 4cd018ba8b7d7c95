// SPDX-License-Identifier: MIT
// Defines headrace::build::unroll_layers, the layers and directions of a recurrent network one after the
// other.
#ifndef HEADRACE_PASSES_DECOMPOSE_RECURRENT_LAYERS_HPP
#define HEADRACE_PASSES_DECOMPOSE_RECURRENT_LAYERS_HPP

#include <cstddef>
#include <cstdint>
#include <span>

#include <headrace/dialect/aten.hpp>
#include <headrace/pass/emit.hpp>

namespace headrace::build {

/// Hidden state and, of LSTM alone, cell state.
struct recurrent_state {
    value h, c;
};
struct unrolled_layers {
    value outputs;    ///< of the last layer so far: the next one's input
    value_list h, c;  ///< the last states of each layer and direction
};

/// Calls `run(all, state, weights, time_axis, backward)` for each layer and direction of a recurrent op. It
/// gives the outputs of all steps and adds the last states to `all`. The weights are 2, or 4 with biases.
template <class Op, class Run>
unrolled_layers unroll_layers(emit<ops<aten::select_int, aten::cat>> e, const args<Op>& a, value h0, value c0,
                              Run&& run) {
    if (a.train && a.dropout != 0)
        return {e.unsupported("recurrent network with dropout; export it after model.eval()"), {}, {}};
    const std::size_t per_cell = a.has_biases ? 4 : 2;
    const std::int64_t directions = a.bidirectional ? 2 : 1;
    if (a.num_layers < 1 || !e.may_unroll(a.num_layers) ||
        a.params.size() != per_cell * static_cast<std::size_t>(a.num_layers * directions)) {
        return {e.unsupported("recurrent network with projections; TOSA has no such cell"), {}, {}};
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
            const std::span weights(a.params.data() + static_cast<std::size_t>(k) * per_cell, per_cell);
            outputs.push_back(run(all, before, weights, time_axis, direction == 1));
        }
        all.outputs = directions == 1 ? outputs[0] : e.make<aten::cat>({.tensors = outputs, .dim = -1});
    }
    return all;
}

}  // namespace headrace::build

#endif
