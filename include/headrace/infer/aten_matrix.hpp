// SPDX-License-Identifier: MIT
// Defines the shape rules of the matrix products, attention and recurrent networks of aten.
#ifndef HEADRACE_INFER_ATEN_MATRIX_HPP
#define HEADRACE_INFER_ATEN_MATRIX_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {
namespace aten {

using rnn_ops = ops<gru_input, rnn_relu_input, rnn_tanh_input>;
using rnn_cell_ops = ops<gru_cell, rnn_relu_cell, rnn_tanh_cell>;

}  // namespace aten

namespace detail {

inline error cannot_multiply(sizes a, sizes b) {
    return invalid("cannot multiply " + shape_text(a) + " by " + shape_text(b));
}

/// torch.matmul: a vector counts as a row on the left and a column on the right, and leading axes broadcast.
inline result<shape_builder> matmul_shape(sizes a, sizes b) {
    if (a.empty() || b.empty()) return cannot_multiply(a, b);
    const std::int64_t inner = b.size() == 1 ? b[0] : b[b.size() - 2];
    if (a.back() != inner) return cannot_multiply(a, b);
    const sizes rows = a.size() == 1 ? sizes() : a.subspan(a.size() - 2, 1);
    const sizes columns = b.size() == 1 ? sizes() : b.last(1);
    BOOST_OUTCOME_TRY(shape, broadcast(a.first(a.size() < 2 ? 0 : a.size() - 2),
                                       b.first(b.size() < 2 ? 0 : b.size() - 2)));
    shape.append(rows);
    shape.append(columns);
    return shape;
}

/// A product of two tensors that have exactly those ranks.
inline result<shape_builder> product_shape(sizes a, std::size_t rank_of_a, sizes b, std::size_t rank_of_b) {
    if (a.size() != rank_of_a || b.size() != rank_of_b) return cannot_multiply(a, b);
    if (rank_of_a == 3 && a[0] != b[0]) return cannot_multiply(a, b);
    return matmul_shape(a, b);
}
inline result<void> infer_product(inference& out, const tensor_meta& a, std::size_t rank_of_a,
                                  const tensor_meta& b, std::size_t rank_of_b) {
    BOOST_OUTCOME_TRY(shape, product_shape(a.shape, rank_of_a, b.shape, rank_of_b));
    return add_result(out, a.dtype, shape);
}
inline result<void> infer_added_product(inference& out, const tensor_meta& self, const tensor_meta& a,
                                        const tensor_meta& b, std::size_t rank) {
    BOOST_OUTCOME_TRY(shape, product_shape(a.shape, rank, b.shape, rank));
    BOOST_OUTCOME_TRY(expanded_shape(self.shape, shape));
    return add_result(out, a.dtype, shape);
}

/// Leading axes broadcast, except heads (the third axis from the end) if key and value share them: `grouped`.
inline result<shape_builder> attention_shape(sizes query, sizes key, sizes value, bool grouped) {
    BOOST_OUTCOME_TRY(require_rank("query", query, grouped ? 3 : 2, shape_builder::capacity));
    BOOST_OUTCOME_TRY(require_rank("key", key, query.size()));
    BOOST_OUTCOME_TRY(require_rank("value", value, query.size()));
    const std::size_t lead = query.size() - (grouped ? 3 : 2);
    BOOST_OUTCOME_TRY(batch, broadcast(query.first(lead), key.first(lead), value.first(lead)));
    shape_builder shape(batch);
    shape.append(query.subspan(lead));
    shape.back() = value.back();
    return shape;
}

/// What a recurrent network gives for each step: the hidden state of its last layer, in both directions.
inline result<void> infer_sequence(inference& out, const tensor_meta& input, const tensor_meta& hidden,
                                   bool bidirectional) {
    BOOST_OUTCOME_TRY(require_rank("input", input.shape, 3));
    BOOST_OUTCOME_TRY(require_rank("hx", hidden.shape, 3));
    const std::int64_t width = saturating_mul(hidden.shape[2], bidirectional ? 2 : 1);
    return add_result(out, input.dtype, {input.shape[0], input.shape[1], width});
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
    BOOST_OUTCOME_TRY(shape, detail::matmul_shape(self.shape, inference::of(a.other).shape));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::outer>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.vec2);
    BOOST_OUTCOME_TRY(require_rank("self", self.shape, 1));
    BOOST_OUTCOME_TRY(require_rank("vec2", other.shape, 1));
    return add_result(out, result_type(self, other), {self.shape[0], other.shape[0]});
}
template <one_of<ops<aten::addmm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_added_product(out, inference::of(a.self), inference::of(a.mat1),
                                       inference::of(a.mat2), 2);
}
template <one_of<ops<aten::baddbmm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_added_product(out, inference::of(a.self), inference::of(a.batch1),
                                       inference::of(a.batch2), 3);
}
template <one_of<ops<aten::linear>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    const tensor_meta& weight = inference::of(a.weight);
    BOOST_OUTCOME_TRY(require_rank("input", input.shape, 1, SIZE_MAX));
    BOOST_OUTCOME_TRY(require_rank("weight", weight.shape, 1, 2));
    if (input.shape.back() != weight.shape.back()) return detail::cannot_multiply(input.shape, weight.shape);
    shape_builder shape(sizes(input.shape).first(input.rank() - 1));
    if (weight.rank() == 2) shape.push_back(weight.shape[0]);
    return add_result(out, input.dtype, shape);
}

template <one_of<ops<aten::scaled_dot_product_attention>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& query = inference::of(a.query);
    BOOST_OUTCOME_TRY(shape, detail::attention_shape(query.shape, inference::of(a.key).shape,
                                                     inference::of(a.value).shape, a.enable_gqa));
    return add_result(out, query.dtype, shape);
}
template <one_of<ops<aten::_scaled_dot_product_flash_attention_for_cpu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& query = inference::of(a.query);
    BOOST_OUTCOME_TRY(require_rank("query", query.shape, 4));
    BOOST_OUTCOME_TRY(shape, detail::attention_shape(query.shape, inference::of(a.key).shape,
                                                     inference::of(a.value).shape, false));
    BOOST_OUTCOME_TRY(add_result(out, query.dtype, shape));
    const dtype sums = query.dtype == dtype::float64 ? dtype::float64 : dtype::float32;
    return add_result(out, sums, sizes(query.shape).first(3));
}

template <one_of<aten::rnn_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& hidden = inference::of(a.hx);
    BOOST_OUTCOME_TRY(detail::infer_sequence(out, inference::of(a.input), hidden, a.bidirectional));
    return add_result(out, hidden);
}
template <one_of<ops<aten::lstm_input>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.hx.size() != 2) return invalid("hx must have two tensors");
    const tensor_meta& hidden = inference::of(a.hx[0]);
    BOOST_OUTCOME_TRY(detail::infer_sequence(out, inference::of(a.input), hidden, a.bidirectional));
    BOOST_OUTCOME_TRY(add_result(out, hidden));
    return add_result(out, inference::of(a.hx[1]));
}
template <one_of<aten::rnn_cell_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, inference::of(a.hx));
}
template <one_of<ops<aten::lstm_cell>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.hx.size() != 2) return invalid("hx must have two tensors");
    BOOST_OUTCOME_TRY(add_result(out, inference::of(a.hx[0])));
    return add_result(out, inference::of(a.hx[1]));
}

}  // namespace headrace

#endif
