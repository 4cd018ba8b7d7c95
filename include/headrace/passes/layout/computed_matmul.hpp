// SPDX-License-Identifier: MIT
// Defines headrace::build::matmul_in, which multiplies matrices that are stored in other layouts.
#ifndef HEADRACE_PASSES_LAYOUT_COMPUTED_MATMUL_HPP
#define HEADRACE_PASSES_LAYOUT_COMPUTED_MATMUL_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/passes/layout/matmul_layouts.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace::build {

using matmul_ops = joined<reshape_ops, slice_ops, concat_ops, ops<tosa::matmul>>;

namespace detail {

// Returns one of the matrices in a tensor. Those that are stored side by side are ranges of columns.
inline value matrix_at(emit<matmul_ops> e, value v, std::size_t batch, std::int64_t number) {
    const shape_builder shape(e.shape(v));
    if (batch == 0) return slice(e, v, 0, number, 1);
    const value rows = reshape(e, v, shape_builder{1, shape[0], shape[1] * shape[2]});
    return slice(e, rows, 2, number * shape[2], shape[2]);
}

}  // namespace detail

/// Returns the product of matrices whose operands are stored as in `stored`, as its result is to be stored.
/// For transposed ones, (A * B)^T = B^T * A^T.
inline value matmul_in(
    emit<matmul_ops> e, args<tosa::matmul> a, const layout_rules::matmul_matrices& stored) {
    std::size_t batch_of_a = stored[0].batch, batch_of_b = stored[1].batch;
    const std::size_t batch = stored[2].batch;
    if (stored[0].transposed) {
        std::swap(a.a, a.b);
        std::swap(a.a_zp, a.b_zp);
        std::swap(batch_of_a, batch_of_b);
    }
    if (!layout_rules::are_side_by_side(stored)) return e.make<tosa::matmul>(a);
    const value left = a.a, right = a.b;
    pmr_vector<value> products;
    for (std::int64_t i = 0; i != e.shape(left)[batch_of_a] && !e.failed(); ++i) {
        a.a = detail::matrix_at(e, left, batch_of_a, i);
        a.b = detail::matrix_at(e, right, batch_of_b, i);
        products.push_back(e.make<tosa::matmul>(a));
    }
    return e.failed() ? value{} : concat(e, products, batch == 0 ? 0 : 2);
}

}  // namespace headrace::build

#endif
