// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the matrix products of aten.
#ifndef HEADRACE_INFER_ATEN_MATRIX_HPP
#define HEADRACE_INFER_ATEN_MATRIX_HPP

#include <cstddef>
#include <cstdint>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

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

}  // namespace headrace

#endif
