// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the recurrent cells and networks of aten.
#ifndef HEADRACE_INFER_ATEN_RECURRENT_HPP
#define HEADRACE_INFER_ATEN_RECURRENT_HPP

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

namespace aten {

using rnn_ops = ops<gru_input, rnn_relu_input, rnn_tanh_input>;

}  // namespace aten

namespace detail {

/// The number of weight rows for each element of the hidden state.
template <class Op>
inline constexpr std::int64_t gates_of = 1;
template <>
inline constexpr std::int64_t gates_of<aten::gru_cell> = 3;
template <>
inline constexpr std::int64_t gates_of<aten::gru_input> = 3;
template <>
inline constexpr std::int64_t gates_of<aten::lstm_cell> = 4;
template <>
inline constexpr std::int64_t gates_of<aten::lstm_input> = 4;

/// The weights of one cell: [gates * hidden, input] and [gates * hidden, hidden], with biases of the same
/// number of rows.
struct cell_sizes {
    std::int64_t gates;
    std::int64_t input;
    std::int64_t hidden;
    std::int64_t given_out;  ///< size of the cell's output: `hidden`, or less after a projection
    dtype type;              ///< of all operands

    [[nodiscard]] std::int64_t rows() const { return saturating_mul(gates, hidden); }
    [[nodiscard]] result<void> check(const tensor_meta& w_ih, const tensor_meta& w_hh) const {
        HEADRACE_TRY(require_dtype("w_ih", w_ih.dtype, type));
        HEADRACE_TRY(require_dtype("w_hh", w_hh.dtype, type));
        HEADRACE_TRY(require_shape("w_ih", w_ih.shape, shape_builder{rows(), input}));
        return require_shape("w_hh", w_hh.shape, shape_builder{rows(), given_out});
    }
    [[nodiscard]] result<void> check_bias(std::string_view what, const std::optional<value>& bias) const {
        if (!bias) return {};
        HEADRACE_TRY(require_dtype(what, inference::of(*bias).dtype, type));
        return require_shape(what, bias, shape_builder{rows()});
    }
};

/// One step of a cell: [batch, input] and [batch, hidden].
inline result<void> check_cell(const tensor_meta& input, const tensor_meta& hidden, const tensor_meta& w_hh) {
    HEADRACE_TRY(require_floating("input", input.dtype));
    HEADRACE_TRY(require_dtype("hx", hidden.dtype, input.dtype));
    HEADRACE_TRY(require_rank("input", input.shape, 2));
    HEADRACE_TRY(require_rank("w_hh", w_hh.shape, 2));
    return require_shape("hx", hidden.shape, shape_builder{input.shape[0], w_hh.shape[1]});
}

/// Returns the initial states of a cell: one operand, or a list of two.
inline list<value> states_of(const value& hx) { return {&hx, 1}; }
inline list<value> states_of(const list<value>& hx) { return hx; }

/// The operands of a recurrent network over a sequence.
struct sequence_operands {
    std::int64_t gates;
    const tensor_meta& input;
    const tensor_meta& hidden;
    const tensor_meta& cell;  ///< for LSTM; else the same as `hidden`
    list<value> params;
    bool has_biases;
    std::int64_t layers;
    bool bidirectional;
    bool batch_first;

    [[nodiscard]] std::int64_t directions() const { return bidirectional ? 2 : 1; }
    [[nodiscard]] bool projects() const { return hidden.shape[2] != cell.shape[2]; }
};

/// Checks the parameters for each layer and direction: w_ih, w_hh, the biases, and the projection.
inline result<void> check_params(const sequence_operands& s) {
    const std::int64_t each = (s.has_biases ? 4 : 2) + (s.projects() ? 1 : 0);
    const std::int64_t wanted = saturating_mul(saturating_mul(s.layers, s.directions()), each);
    const auto given = static_cast<std::int64_t>(s.params.size());
    HEADRACE_TRY(require_equal("the number of params", given, wanted));
    cell_sizes cell{s.gates, s.input.shape[2], s.cell.shape[2], s.hidden.shape[2], s.input.dtype};
    for (std::int64_t k = 0; k != s.layers * s.directions(); ++k) {
        const value* p = s.params.begin() + k * each;
        if (k == s.directions()) cell.input = saturating_mul(s.hidden.shape[2], s.directions());
        HEADRACE_TRY(cell.check(inference::of(p[0]), inference::of(p[1])));
        if (s.has_biases) {
            HEADRACE_TRY(cell.check_bias("b_ih", p[2]));
            HEADRACE_TRY(cell.check_bias("b_hh", p[3]));
        }
        if (s.projects()) {
            HEADRACE_TRY(require_dtype("w_hr", inference::of(p[each - 1]).dtype, s.input.dtype));
            HEADRACE_TRY(require_shape(
                "w_hr", inference::of(p[each - 1]).shape, shape_builder{cell.given_out, cell.hidden}));
        }
    }
    return {};
}

/// Infers the output of a recurrent network at each step: the last layer's hidden state, in both directions.
inline result<void> infer_sequence(inference& out, const sequence_operands& s) {
    HEADRACE_TRY(require_floating("input", s.input.dtype));
    HEADRACE_TRY(require_dtype("hx", s.hidden.dtype, s.input.dtype));
    HEADRACE_TRY(require_dtype("the cell state", s.cell.dtype, s.input.dtype));
    HEADRACE_TRY(require_rank("input", s.input.shape, 3));
    HEADRACE_TRY(require_rank("hx", s.hidden.shape, 3));
    HEADRACE_TRY(require_rank("the cell state", s.cell.shape, 3));
    HEADRACE_TRY(require_at_least("num_layers", s.layers, 1));
    const std::int64_t states = saturating_mul(s.layers, s.directions());
    const std::int64_t batch = s.input.shape[s.batch_first ? 0 : 1];
    HEADRACE_TRY(require_shape("hx", s.hidden.shape, shape_builder{states, batch, s.hidden.shape[2]}));
    HEADRACE_TRY(
        require_shape("the cell state", s.cell.shape, shape_builder{states, batch, s.cell.shape[2]}));
    HEADRACE_TRY(check_params(s));
    const std::int64_t width = saturating_mul(s.hidden.shape[2], s.directions());
    return add_result(out, s.input.dtype, {s.input.shape[0], s.input.shape[1], width});
}

}  // namespace detail

template <one_of<aten::rnn_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& hidden = inference::of(a.hx);
    HEADRACE_TRY(detail::infer_sequence(out,
        {detail::gates_of<Op>, inference::of(a.input), hidden, hidden, a.params, a.has_biases, a.num_layers,
            a.bidirectional, a.batch_first}));
    return add_result(out, hidden);
}
template <one_of<ops<aten::lstm_input>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_count("hx", a.hx.size(), 2));
    const tensor_meta& hidden = inference::of(a.hx[0]);
    const tensor_meta& cell = inference::of(a.hx[1]);
    HEADRACE_TRY(detail::infer_sequence(out,
        {detail::gates_of<Op>, inference::of(a.input), hidden, cell, a.params, a.has_biases, a.num_layers,
            a.bidirectional, a.batch_first}));
    HEADRACE_TRY(add_result(out, hidden));
    return add_result(out, cell);
}
template <one_of<ops<aten::gru_cell, aten::rnn_relu_cell, aten::rnn_tanh_cell, aten::lstm_cell>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    const tensor_meta& w_hh = inference::of(a.w_hh);
    const list<value> states = detail::states_of(a.hx);
    HEADRACE_TRY(require_count("hx", states.size(), std::is_same_v<Op, aten::lstm_cell> ? 2 : 1));
    for (const value state : states) {
        HEADRACE_TRY(detail::check_cell(input, inference::of(state), w_hh));
    }
    const std::int64_t hidden = w_hh.shape[1];
    const detail::cell_sizes cell{detail::gates_of<Op>, input.shape[1], hidden, hidden, input.dtype};
    HEADRACE_TRY(cell.check(inference::of(a.w_ih), w_hh));
    HEADRACE_TRY(cell.check_bias("b_ih", a.b_ih));
    HEADRACE_TRY(cell.check_bias("b_hh", a.b_hh));
    for (const value state : states) {
        HEADRACE_TRY(add_result(out, inference::of(state)));
    }
    return {};
}

}  // namespace headrace

#endif
