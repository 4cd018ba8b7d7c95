// SPDX-License-Identifier: MIT
// Defines the shape rules of the matrix products, attention and recurrent networks of aten.
#ifndef HEADRACE_INFER_ATEN_MATRIX_HPP
#define HEADRACE_INFER_ATEN_MATRIX_HPP

#include <optional>
#include <string_view>
#include <type_traits>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {
namespace aten {

using rnn_ops = ops<gru_input, rnn_relu_input, rnn_tanh_input>;

}  // namespace aten

namespace detail {

inline error cannot_multiply(sizes a, sizes b) {
    return invalid({"cannot multiply ", shape_text(a), " by ", shape_text(b)});
}

/// Returns the shape of torch.matmul: a left vector is a row, a right one a column; leading axes broadcast.
inline result<shape_builder> matmul_shape(sizes a, sizes b) {
    if (a.empty() || b.empty()) return cannot_multiply(a, b);
    const std::int64_t inner = b.size() == 1 ? b[0] : b[b.size() - 2];
    if (a.back() != inner) return cannot_multiply(a, b);
    const sizes rows = a.size() == 1 ? sizes() : a.subspan(a.size() - 2, 1);
    const sizes columns = b.size() == 1 ? sizes() : b.last(1);
    HEADRACE_TRY(
        shape, broadcast(a.first(a.size() < 2 ? 0 : a.size() - 2), b.first(b.size() < 2 ? 0 : b.size() - 2)));
    shape.append(rows);
    shape.append(columns);
    return shape;
}

/// Refuses factors of different dtypes and of booleans.
inline result<void> require_factors(const tensor_meta& a, const tensor_meta& b) {
    if (is_boolean(a.dtype)) return other_dtype("the first factor", a.dtype, "a type of numbers");
    return require_dtype("the second factor", b.dtype, a.dtype);
}

/// Returns the shape of a product of two tensors of exactly these ranks.
inline result<shape_builder> product_shape(sizes a, std::size_t rank_of_a, sizes b, std::size_t rank_of_b) {
    if (a.size() != rank_of_a || b.size() != rank_of_b) return cannot_multiply(a, b);
    if (rank_of_a == 3 && a[0] != b[0]) return cannot_multiply(a, b);
    return matmul_shape(a, b);
}
inline result<void> infer_product(inference& out, const tensor_meta& a, std::size_t rank_of_a,
    const tensor_meta& b, std::size_t rank_of_b) {
    HEADRACE_TRY(shape, product_shape(a.shape, rank_of_a, b.shape, rank_of_b));
    HEADRACE_TRY(require_factors(a, b));
    return add_result(out, a.dtype, shape);
}
inline result<void> infer_added_product(
    inference& out, const tensor_meta& self, const tensor_meta& a, const tensor_meta& b, std::size_t rank) {
    HEADRACE_TRY(shape, product_shape(a.shape, rank, b.shape, rank));
    HEADRACE_TRY(require_expandable("self", self.shape, shape));
    HEADRACE_TRY(require_factors(a, b));
    HEADRACE_TRY(require_dtype("self", self.dtype, a.dtype));
    return add_result(out, a.dtype, shape);
}

/// Leading axes broadcast, except the heads (third axis from the end) if key and value share them: `grouped`.
inline result<shape_builder> attention_shape(sizes query, sizes key, sizes value, bool grouped) {
    HEADRACE_TRY(require_rank("query", query, grouped ? 3 : 2, shape_builder::capacity));
    HEADRACE_TRY(require_rank("key", key, query.size()));
    HEADRACE_TRY(require_rank("value", value, query.size()));
    const std::size_t rank = query.size();
    if (query.back() != key.back() || key[rank - 2] != value[rank - 2]) {
        return invalid({"query ", shape_text(query), ", key ", shape_text(key), " and value ",
            shape_text(value), " do not match"});
    }
    const std::size_t lead = rank - (grouped ? 3 : 2);
    if (grouped) {
        for (const sizes shared : {key, value}) {
            if (shared[lead] > 0 && query[lead] % shared[lead] == 0) continue;
            return invalid(
                {"the heads of ", shape_text(shared), " do not divide those of query ", shape_text(query)});
        }
    }
    HEADRACE_TRY(batch, broadcast(query.first(lead), key.first(lead), value.first(lead)));
    shape_builder shape(batch);
    shape.append(query.subspan(lead));
    shape.back() = value.back();
    return shape;
}

struct attention_operands {
    const tensor_meta& query;
    const tensor_meta& key;
    const tensor_meta& value;
    const std::optional<headrace::value>& mask;
    bool is_causal;
    bool grouped;
};
inline result<shape_builder> infer_attention(inference& out, const attention_operands& a) {
    HEADRACE_TRY(shape, attention_shape(a.query.shape, a.key.shape, a.value.shape, a.grouped));
    HEADRACE_TRY(require_floating("query", a.query.dtype));
    HEADRACE_TRY(require_real("query", a.query.dtype));
    HEADRACE_TRY(require_dtype("key", a.key.dtype, a.query.dtype));
    HEADRACE_TRY(require_dtype("value", a.value.dtype, a.query.dtype));
    if (a.mask) {
        const tensor_meta& mask = inference::of(*a.mask);
        if (a.is_causal) return invalid("attn_mask must not be given together with is_causal");
        if (!is_boolean(mask.dtype) && mask.dtype != dtype::float32) {
            HEADRACE_TRY(require_dtype("attn_mask", mask.dtype, a.query.dtype));
        }
        shape_builder scores(shape);
        scores.back() = a.key.shape[a.key.rank() - 2];
        HEADRACE_TRY(require_expandable("attn_mask", mask.shape, scores));
    }
    HEADRACE_TRY(add_result(out, a.query.dtype, shape));
    return shape;
}

// --- recurrent networks ----------------------------------------------------------------------------------

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

template <one_of<ops<aten::mm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_product(out, inference::of(a.self), 2, inference::of(a.mat2), 2);
}
template <one_of<ops<aten::bmm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_product(out, inference::of(a.self), 3, inference::of(a.mat2), 3);
}
template <one_of<ops<aten::mv>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_product(out, inference::of(a.self), 2, inference::of(a.vec), 1);
}
template <one_of<ops<aten::dot>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_product(out, inference::of(a.self), 1, inference::of(a.tensor), 1);
}
template <one_of<ops<aten::matmul>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(shape, detail::matmul_shape(self.shape, other.shape));
    HEADRACE_TRY(detail::require_factors(self, other));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::outer>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.vec2);
    HEADRACE_TRY(require_rank("self", self.shape, 1));
    HEADRACE_TRY(require_rank("vec2", other.shape, 1));
    return add_result(out, result_type(self, other), {self.shape[0], other.shape[0]});
}
template <one_of<ops<aten::addmm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_added_product(
        out, inference::of(a.self), inference::of(a.mat1), inference::of(a.mat2), 2);
}
template <one_of<ops<aten::baddbmm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_added_product(
        out, inference::of(a.self), inference::of(a.batch1), inference::of(a.batch2), 3);
}
template <one_of<ops<aten::linear>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    const tensor_meta& weight = inference::of(a.weight);
    HEADRACE_TRY(require_rank("input", input.shape, 1, SIZE_MAX));
    HEADRACE_TRY(require_rank("weight", weight.shape, 1, 2));
    if (input.shape.back() != weight.shape.back()) return detail::cannot_multiply(input.shape, weight.shape);
    shape_builder shape(sizes(input.shape).first(input.rank() - 1));
    if (weight.rank() == 2) shape.push_back(weight.shape[0]);
    HEADRACE_TRY(detail::require_factors(input, weight));
    HEADRACE_TRY(require_dtype("bias", a.bias, input.dtype));
    if (a.bias) {
        const sizes bias(inference::of(*a.bias).shape);
        HEADRACE_TRY(require_rank("bias", bias, weight.rank() - 1));
        if (element_count(bias) != 1) {
            HEADRACE_TRY(require_shape("bias", bias, sizes(weight.shape).first(weight.rank() - 1)));
        }
    }
    return add_result(out, input.dtype, shape);
}

template <one_of<ops<aten::scaled_dot_product_attention>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::infer_attention(out,
        {inference::of(a.query), inference::of(a.key), inference::of(a.value), a.attn_mask, a.is_causal,
            a.enable_gqa}));
    return {};
}
template <one_of<ops<aten::_scaled_dot_product_flash_attention_for_cpu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& query = inference::of(a.query);
    HEADRACE_TRY(require_rank("query", query.shape, 4));
    HEADRACE_TRY(shape,
        detail::infer_attention(
            out, {query, inference::of(a.key), inference::of(a.value), a.attn_mask, a.is_causal, false}));
    // Nothing broadcasts here: there is one sum per row of the query.
    HEADRACE_TRY(require_shape("query", sizes(query.shape).first(3), sizes(shape).first(3)));
    const dtype sums = query.dtype == dtype::float64 ? dtype::float64 : dtype::float32;
    return add_result(out, sums, sizes(query.shape).first(3));
}

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
