// SPDX-License-Identifier: MIT
// Defines the kernels of ATen's matrix products.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>
#include <headrace/eval/product.hpp>
#include <headrace/infer/aten/einsum.hpp>

namespace headrace::eval {

namespace {

inline void matmul_into(evaluation& e, value a, value b) {
    const tensor& left = e.input(a);
    const tensor& right = e.input(b);
    visit_product(e.output_type(), [&]<class T>(T) {
        e.output().assign(
            matrix_product<T>(elements_as<T>(left), left.shape(), elements_as<T>(right), right.shape()));
    });
}
void evaluate(aten::matmul, const args<aten::matmul>& a, evaluation& e) { matmul_into(e, a.self, a.other); }
template <one_of<ops<aten::mm, aten::bmm>> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    matmul_into(e, a.self, a.mat2);
}
void evaluate(aten::mv, const args<aten::mv>& a, evaluation& e) { matmul_into(e, a.self, a.vec); }
void evaluate(aten::dot, const args<aten::dot>& a, evaluation& e) { matmul_into(e, a.self, a.tensor); }
void evaluate(aten::outer, const args<aten::outer>& a, evaluation& e) {
    const tensor& right = e.input(a.vec2);
    visit_compute(e.output_type(), [&]<class T>(T) {
        const tensor column = e.input(a.self).reshaped({e.input(a.self).size(), 1});
        broadcast_binary<T>(e.output(), column, right, e.output_type(), times());
    });
}

/// Computes beta * self + alpha * (a @ b). If beta is 0, NaN in self has no effect.
void add_matrix_product(
    evaluation& e, value self, value a, value b, const scalar& beta, const scalar& alpha) {
    const tensor& left = e.input(a);
    const tensor& right = e.input(b);
    const dtype type = e.output_type();
    visit_product(type, [&]<class T>(T) {
        std::vector<T> out =
            matrix_product<T>(elements_as<T>(left), left.shape(), elements_as<T>(right), right.shape());
        for (T& x : out) x = times()(x, number_as<T>(alpha, type));
        if (number_as<T>(beta, type) != T{}) {
            const std::vector<T> addend = e.input(self).to<T>();
            std::size_t i = 0;
            for_each_index<1>(e.output_shape(), {broadcast_strides(e.input(self).shape(), e.output_shape())},
                [&](const auto& at) {
                    out[i] = plus()(out[i], times()(addend[idx(at[0])], number_as<T>(beta, type)));
                    ++i;
                });
        }
        e.output().assign(out);
    });
}
void evaluate(aten::addmm, const args<aten::addmm>& a, evaluation& e) {
    add_matrix_product(e, a.self, a.mat1, a.mat2, a.beta, a.alpha);
}
void evaluate(aten::baddbmm, const args<aten::baddbmm>& a, evaluation& e) {
    add_matrix_product(e, a.self, a.batch1, a.batch2, a.beta, a.alpha);
}

/// Computes input @ weight^T + bias; a weight of rank 1 is one row.
void evaluate(aten::linear, const args<aten::linear>& a, evaluation& e) {
    const tensor& in = e.input(a.input);
    const tensor& weight = e.input(a.weight);
    const std::int64_t features = weight.rank() == 2 ? weight.dim(0) : 1;
    const std::int64_t rows = features == 0 ? 0 : e.output().size() / features;
    visit_product(e.output_type(), [&]<class T>(T) {
        std::vector<T> out(idx(rows * features));
        if (const tensor* bias = e.input(a.bias))
            out = broadcast_to(*bias, e.output_shape()).template to<T>();
        const elements_as<T> terms(in);
        const elements_as<T> factors(weight);
        add_product_transposed(
            terms.data(), factors.data(), out.data(), rows, weight.shape().back(), features);
        e.output().assign(out);
    });
}

// --- einsum ----------------------------------------------------------------------------

constexpr std::size_t max_einsum_operands = 4;

/// The index space of all labels of an equation, with the strides of each operand in it; the last strides are
/// the result's.
struct einsum_space {
    std::pmr::string labels;
    extents shape;
    std::array<extents, max_einsum_operands + 1> strides;

    explicit einsum_space(std::pmr::string all) : labels(std::move(all)), shape(labels.size(), 1) {
        for (extents& s : strides) s.assign(labels.size(), 0);
    }
    /// An axis of size 1 is broadcast; a label that occurs twice takes the diagonal.
    void place(std::size_t operand, const std::pmr::string& operand_labels, const extents& operand_shape) {
        const extents dense = row_major_strides(operand_shape);
        for (std::size_t d = 0; d != dense.size() && d != operand_labels.size(); ++d) {
            const std::size_t axis = labels.find(operand_labels[d]);
            if (operand_shape[d] == 1 || axis == std::pmr::string::npos) continue;
            shape[axis] = operand_shape[d];
            strides[operand][axis] += dense[d];
        }
    }
};
/// Returns the labels of all operands and of the result; nothing if there are too many.
[[nodiscard]] inline std::vector<std::pmr::string> einsum_terms(
    const evaluation& e, const args<aten::einsum>& a) {
    const result<einsum_equation> equation = parse_einsum(a.equation);
    if (!equation || a.tensors.size() > max_einsum_operands) return {};
    std::vector<std::pmr::string> terms;
    for (std::size_t k = 0; k != a.tensors.size(); ++k)
        terms.push_back(einsum_axes(equation.value().operands[k], e.input(a.tensors[k]).rank()));
    terms.push_back(einsum_axes(equation.value().result, e.output_shape().size()));
    return terms;
}

/// Sums products over the whole space: slow, but works for any equation of up to four operands.
void evaluate(aten::einsum, const args<aten::einsum>& a, evaluation& e) {
    const std::vector<std::pmr::string> terms = einsum_terms(e, a);
    if (terms.empty()) return e.fail("this equation is not supported");
    std::pmr::string all;
    for (const std::pmr::string& term : terms) {
        for (const char c : term) {
            if (all.find(c) == std::pmr::string::npos) all += c;
        }
    }
    einsum_space space(all);
    std::vector<std::vector<double>> numbers;
    for (std::size_t k = 0; k != a.tensors.size(); ++k) {
        space.place(k, terms[k], e.input(a.tensors[k]).shape());
        numbers.push_back(e.input(a.tensors[k]).to<double>());
    }
    space.place(max_einsum_operands, terms.back(), e.output_shape());
    std::vector<double> out(idx(e.output().size()), 0.0);
    for_each_index<max_einsum_operands + 1>(space.shape, space.strides, [&](const auto& at) {
        double term = 1;
        for (std::size_t k = 0; k != numbers.size(); ++k) term *= numbers[k][idx(at[k])];
        out[idx(at[max_einsum_operands])] += term;
    });
    e.output().assign(out);
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list aten_matmul_kernels = kernels_of<aten::dialect>(kernel);

}  // namespace headrace::eval
