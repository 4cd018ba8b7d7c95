// SPDX-License-Identifier: MIT
// Defines the kernels of ATen's recurrent networks: GRU, LSTM, and plain RNNs with tanh or relu.
#include <algorithm>
#include <cmath>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/exponential.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/product.hpp>

namespace headrace::eval {

namespace {

/// Each row is an element of a batch.
using batch_matrix = matrix<double>;

[[nodiscard]] inline batch_matrix matrix_of(const tensor& t, std::int64_t rows, std::int64_t columns) {
    const std::vector<double> numbers = t.to<double>();
    return Eigen::Map<const batch_matrix>(numbers.data(), rows, columns);
}

/// Weights of one layer in one direction; the gates follow one another in the rows.
struct cell_weights {
    batch_matrix input, hidden;
    Eigen::RowVectorXd input_bias, hidden_bias;
    bool doubles = false;       ///< float64
    batch_matrix projection{};  ///< for LSTM: [output size, hidden]; empty if there is none
};
[[nodiscard]] inline cell_weights weights_of(
    const tensor& w_ih, const tensor& w_hh, const tensor* b_ih, const tensor* b_hh) {
    const auto bias = [&](const tensor* b) -> Eigen::RowVectorXd {
        if (b == nullptr) return Eigen::RowVectorXd::Zero(w_ih.dim(0));
        return matrix_of(*b, 1, b->size());
    };
    return {matrix_of(w_ih, w_ih.dim(0), w_ih.dim(1)), matrix_of(w_hh, w_hh.dim(0), w_hh.dim(1)), bias(b_ih),
        bias(b_hh), w_ih.type() == dtype::float64};
}

struct cell_state {
    batch_matrix hidden, cell;
};

enum class cell_kind : unsigned char { gru, lstm, tanh, relu };

/// Advances a cell by one step.
void advance(cell_kind kind, const cell_weights& w, const batch_matrix& x, cell_state& s) {
    const batch_matrix from_input = (x * w.input.transpose()).rowwise() + w.input_bias;
    const batch_matrix from_hidden = (s.hidden * w.hidden.transpose()).rowwise() + w.hidden_bias;
    // With a projection, the cell is wider than its output.
    const Eigen::Index n = kind == cell_kind::lstm ? s.cell.cols() : s.hidden.cols();
    batch_matrix wide;
    if (w.projection.size() != 0) wide.resize(s.hidden.rows(), n);
    // A gate that is closed in float32 is 0; its product with an infinite state is NaN.
    const auto opened = [&w](double gate) {
        const double open = sigmoid_of(gate);
        return w.doubles ? open : static_cast<double>(static_cast<float>(open));
    };
    batch_matrix& given = w.projection.size() != 0 ? wide : s.hidden;
    for (Eigen::Index r = 0; r != s.hidden.rows(); ++r) {
        for (Eigen::Index c = 0; c != n; ++c) {
            const auto gate = [&](Eigen::Index g) {
                return from_input(r, g * n + c) + from_hidden(r, g * n + c);
            };
            double& h = given(r, c);
            if (kind == cell_kind::gru) {
                const double reset = opened(gate(0));
                const double update = opened(gate(1));
                const double fresh = std::tanh(from_input(r, 2 * n + c) + reset * from_hidden(r, 2 * n + c));
                h = (1 - update) * fresh + update * h;
            } else if (kind == cell_kind::lstm) {
                double& cell = s.cell(r, c);
                cell = opened(gate(1)) * cell + opened(gate(0)) * std::tanh(gate(2));
                h = opened(gate(3)) * std::tanh(cell);
            } else {
                h = kind == cell_kind::tanh ? std::tanh(gate(0)) : std::max(gate(0), 0.0);
            }
        }
    }
    if (w.projection.size() != 0) s.hidden = wide * w.projection.transpose();
}

template <class Op>
constexpr cell_kind kind_of_cell = cell_kind::tanh;
template <>
constexpr cell_kind kind_of_cell<aten::gru_cell> = cell_kind::gru;
template <>
constexpr cell_kind kind_of_cell<aten::gru_input> = cell_kind::gru;
template <>
constexpr cell_kind kind_of_cell<aten::lstm_cell> = cell_kind::lstm;
template <>
constexpr cell_kind kind_of_cell<aten::lstm_input> = cell_kind::lstm;
template <>
constexpr cell_kind kind_of_cell<aten::rnn_relu_cell> = cell_kind::relu;
template <>
constexpr cell_kind kind_of_cell<aten::rnn_relu_input> = cell_kind::relu;

inline void write_matrix(tensor& out, const batch_matrix& m) {
    out.assign(std::span<const double>(m.data(), static_cast<std::size_t>(m.size())));
}

/// Returns the initial states: one operand, or a list of two for LSTM.
[[nodiscard]] inline value hidden_operand(value hx) { return hx; }
[[nodiscard]] inline value hidden_operand(list<value> hx) { return hx[0]; }

template <one_of<ops<aten::gru_cell, aten::lstm_cell, aten::rnn_tanh_cell, aten::rnn_relu_cell>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const cell_weights w = weights_of(e.input(a.w_ih), e.input(a.w_hh), e.input(a.b_ih), e.input(a.b_hh));
    const std::int64_t batch = e.input(a.input).size() / std::max<std::int64_t>(1, w.input.cols());
    const batch_matrix x = matrix_of(e.input(a.input), batch, w.input.cols());
    cell_state s{matrix_of(e.input(hidden_operand(a.hx)), batch, w.hidden.cols()), {}};
    if constexpr (std::is_same_v<Op, aten::lstm_cell>)
        s.cell = matrix_of(e.input(a.hx[1]), batch, w.hidden.cols());
    advance(kind_of_cell<Op>, w, x, s);
    write_matrix(e.output(0), s.hidden);
    if constexpr (std::is_same_v<Op, aten::lstm_cell>) write_matrix(e.output(1), s.cell);
}

/// A network over a sequence: steps[t] is the input of step t and is replaced by the output of the last
/// layer.
struct sequence {
    std::vector<batch_matrix> steps;
    std::vector<cell_state> final_states;
};

/// Runs one layer in one or both directions; the outputs of both are concatenated.
template <class Weights, class Initial>
void run_layer(cell_kind kind, sequence& s, std::size_t layer, std::size_t directions, Weights weights,
    Initial initial) {
    std::vector<batch_matrix> out(s.steps.size());
    for (std::size_t d = 0; d != directions; ++d) {
        const std::size_t k = layer * directions + d;
        const cell_weights w = weights(k);
        cell_state state = initial(k);
        const Eigen::Index n = state.hidden.cols();
        for (std::size_t i = 0; i != s.steps.size(); ++i) {
            const std::size_t t = d == 0 ? i : s.steps.size() - 1 - i;
            advance(kind, w, s.steps[t], state);
            if (d == 0)
                out[t] = batch_matrix::Zero(state.hidden.rows(), n * static_cast<Eigen::Index>(directions));
            out[t].middleCols(static_cast<Eigen::Index>(d) * n, n) = state.hidden;
        }
        s.final_states.push_back(std::move(state));
    }
    s.steps = std::move(out);
}

[[nodiscard]] inline std::vector<batch_matrix> steps_of(const tensor& in, bool batch_first) {
    const tensor by_time = batch_first ? permuted(in, std::array<std::size_t, 3>{1, 0, 2}) : in;
    const std::vector<double> numbers = by_time.to<double>();
    std::vector<batch_matrix> steps;
    for (std::int64_t t = 0; t != by_time.dim(0); ++t) {
        const double* first = numbers.data() + t * by_time.dim(1) * by_time.dim(2);
        steps.emplace_back(Eigen::Map<const batch_matrix>(first, by_time.dim(1), by_time.dim(2)));
    }
    return steps;
}
inline void write_steps(evaluation& e, const std::vector<batch_matrix>& steps, bool batch_first) {
    extents shape = e.output_shape();
    if (batch_first) std::swap(shape[0], shape[1]);
    std::vector<double> numbers;
    for (const batch_matrix& m : steps) numbers.insert(numbers.end(), m.data(), m.data() + m.size());
    const tensor by_time = tensor::of(e.output_type(), shape, numbers);
    e.set_output(batch_first ? permuted(by_time, std::array<std::size_t, 3>{1, 0, 2}) : by_time);
}

/// Returns state k of [layers * directions, batch, size].
[[nodiscard]] inline batch_matrix state_of(const tensor& t, std::size_t k) {
    const std::vector<double> numbers = t.to<double>();
    const std::int64_t size = t.dim(1) * t.dim(2);
    return Eigen::Map<const batch_matrix>(
        numbers.data() + static_cast<std::int64_t>(k) * size, t.dim(1), t.dim(2));
}
void write_states(evaluation& e, const std::vector<cell_state>& states) {
    for (std::size_t i = 1; i != e.output_count(); ++i) {
        if (!e.is_known(i)) continue;
        std::vector<double> numbers;
        for (const cell_state& s : states) {
            const batch_matrix& m = i == 1 ? s.hidden : s.cell;
            numbers.insert(numbers.end(), m.data(), m.data() + m.size());
        }
        e.output(i).assign(numbers);
    }
}

/// True if the output of the network is narrower than its cells; each cell then has a fifth weight.
template <class Op>
[[nodiscard]] bool gives_out_projections(const args<Op>& a, const evaluation& e) {
    if constexpr (std::is_same_v<Op, aten::lstm_input>) {
        return e.input(a.hx[0]).dim(2) != e.input(a.hx[1]).dim(2);
    } else {
        return false;
    }
}

template <one_of<ops<aten::gru_input, aten::lstm_input, aten::rnn_tanh_input, aten::rnn_relu_input>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const std::size_t directions = a.bidirectional ? 2 : 1;
    const std::size_t unprojected = a.has_biases ? 4 : 2;
    const std::size_t each = unprojected + (gives_out_projections<Op>(a, e) ? 1 : 0);
    const auto layers = static_cast<std::size_t>(a.num_layers);
    if (a.params.size() != each * layers * directions) return e.fail("wrong number of weights");
    const auto weights = [&](std::size_t k) {
        const value* p = a.params.begin() + each * k;
        cell_weights w = weights_of(e.input(p[0]), e.input(p[1]), a.has_biases ? &e.input(p[2]) : nullptr,
            a.has_biases ? &e.input(p[3]) : nullptr);
        if (each != unprojected) {
            const tensor& projection = e.input(p[unprojected]);
            w.projection = matrix_of(projection, projection.dim(0), projection.dim(1));
        }
        return w;
    };
    const auto initial = [&](std::size_t k) {
        cell_state s{state_of(e.input(hidden_operand(a.hx)), k), {}};
        if constexpr (std::is_same_v<Op, aten::lstm_input>) s.cell = state_of(e.input(a.hx[1]), k);
        return s;
    };
    sequence s{steps_of(e.input(a.input), a.batch_first), {}};
    for (std::size_t layer = 0; layer != layers; ++layer) {
        run_layer(kind_of_cell<Op>, s, layer, directions, weights, initial);
    }
    write_steps(e, s.steps, a.batch_first);
    write_states(e, s.final_states);
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_recurrent_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
