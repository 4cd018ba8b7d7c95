// SPDX-License-Identifier: MIT
// Defines headrace::add_product and headrace::matrix_product: on Eigen's matrix products, except for float32.
#ifndef HEADRACE_EVAL_PRODUCT_HPP
#define HEADRACE_EVAL_PRODUCT_HPP

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <Eigen/Core>

#include <headrace/eval/float_product.hpp>
#include <headrace/eval/map.hpp>

namespace headrace::eval {

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

namespace detail {

/// Maps row-major numbers as a matrix; integers as unsigned ones, which may wrap around.
template <class T>
[[nodiscard]] auto view_of(T* numbers, std::int64_t rows, std::int64_t columns) {
    using plain = std::remove_const_t<T>;
    using number = typename std::conditional_t<std::is_integral_v<plain>, std::make_unsigned<plain>,
        std::type_identity<plain>>::type;
    if constexpr (std::is_const_v<T>) {
        return Eigen::Map<const matrix<number>>(reinterpret_cast<const number*>(numbers), rows, columns);
    } else {
        return Eigen::Map<matrix<number>>(reinterpret_cast<number*>(numbers), rows, columns);
    }
}

}  // namespace detail

/// c[m, n] += a[m, k] * b[k, n], all row-major. Integers wrap around; 16-bit products are also exact in
/// double. The overload for float is declared in eval/float_product.hpp.
template <class T>
void add_product(const T* a, const T* b, T* c, std::int64_t m, std::int64_t k, std::int64_t n) {
    detail::view_of(c, m, n).noalias() += detail::view_of(a, m, k) * detail::view_of(b, k, n);
}
/// c[m, n] += a[m, k] * b[n, k] transposed.
template <class T>
void add_product_transposed(const T* a, const T* b, T* c, std::int64_t m, std::int64_t k, std::int64_t n) {
    detail::view_of(c, m, n).noalias() += detail::view_of(a, m, k) * detail::view_of(b, n, k).transpose();
}

/// Calls `f(T{})` with the type that products are summed in: float32 in PyTorch's order, other floats in
/// double.
template <class F>
void visit_product(dtype t, F f) {
    if (t == dtype::float32) return f(float{});
    visit_compute(t, f);
}

/// torch.matmul: the last two axes are matrices, those before are broadcast; a vector is a row on the left, a
/// column on the right. The result is row-major, with the shape of torch.matmul's.
template <class T>
[[nodiscard]] std::vector<T> matrix_product(std::type_identity_t<std::span<const T>> a, extents a_shape,
    std::type_identity_t<std::span<const T>> b, extents b_shape) {
    if (a_shape.size() == 1) a_shape.insert(a_shape.begin(), 1);
    if (b_shape.size() == 1) b_shape.push_back(1);
    const auto split = [](const extents& s) {
        return std::pair(extents(s.begin(), s.end() - 2), extents(s.end() - 2, s.end()));
    };
    const auto [a_lead, a_matrix] = split(a_shape);
    const auto [b_lead, b_matrix] = split(b_shape);
    extents lead = a_lead.size() > b_lead.size() ? a_lead : b_lead;
    for (std::size_t d = 0; d != std::min(a_lead.size(), b_lead.size()); ++d) {
        const std::int64_t left = a_lead[a_lead.size() - 1 - d];
        lead[lead.size() - 1 - d] = left == 1 ? b_lead[b_lead.size() - 1 - d] : left;
    }
    const std::int64_t m = a_matrix[0];
    const std::int64_t k = a_matrix[1];
    const std::int64_t n = b_matrix[1];
    std::vector<T> c(idx(elements_in(lead) * m * n));
    T* to = c.data();
    for_each_index<2>(
        lead, {broadcast_strides(a_lead, lead), broadcast_strides(b_lead, lead)}, [&](const auto& at) {
            add_product(a.data() + at[0] * m * k, b.data() + at[1] * k * n, to, m, k, n);
            to += m * n;
        });
    return c;
}

}  // namespace headrace::eval

#endif
