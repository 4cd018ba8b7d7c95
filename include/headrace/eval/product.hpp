// SPDX-License-Identifier: MIT
// Defines headrace::multiply and headrace::matrix_product, on Eigen's matrix products.
#ifndef HEADRACE_EVAL_PRODUCT_HPP
#define HEADRACE_EVAL_PRODUCT_HPP

#include <cstdint>
#include <type_traits>
#include <vector>

#include <Eigen/Core>

#include <headrace/eval/map.hpp>

namespace headrace::eval {

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// c[m, n] = a[m, k] * b[k, n], all row-major. Integers wrap around; products of those of 16 bits are exact
/// in double as well.
template <class T>
void multiply(const T* a, const T* b, T* c, std::int64_t m, std::int64_t k, std::int64_t n) {
    using number = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                               std::type_identity<T>>::type;
    const Eigen::Map<const matrix<number>> left(reinterpret_cast<const number*>(a), m, k);
    const Eigen::Map<const matrix<number>> right(reinterpret_cast<const number*>(b), k, n);
    Eigen::Map<matrix<number>>(reinterpret_cast<number*>(c), m, n).noalias() = left * right;
}

/// torch.matmul: the last two axes are matrices, those before broadcast; a vector is a row on the left, a
/// column on the right. The result is row-major, its shape that of torch.matmul.
template <class T>
[[nodiscard]] std::vector<T> matrix_product(const std::vector<T>& a, extents a_shape, const std::vector<T>& b,
                                            extents b_shape) {
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
    for_each_index<2>(lead, {broadcast_strides(a_lead, lead), broadcast_strides(b_lead, lead)},
                      [&](const auto& at) {
                          multiply(a.data() + at[0] * m * k, b.data() + at[1] * k * n, to, m, k, n);
                          to += m * n;
                      });
    return c;
}

}  // namespace headrace::eval

#endif
