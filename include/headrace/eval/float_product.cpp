// SPDX-License-Identifier: MIT
// Defines the functions of headrace/eval/float_product.hpp.

#include <headrace/eval/float_product.hpp>

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include <Eigen/Core>

#include <headrace/eval/float_chains.hpp>

namespace headrace::eval {

namespace detail {

/// The order in which sgemv adds: the first terms one by one, the next in lanes of four, in one row of lanes
/// or in two alternating rows, the rest one by one.
struct lane_order {
    std::int64_t first, lanes_end;
    std::size_t rows;
};
[[nodiscard]] inline float dot(const float* a, const float* b, std::int64_t count, const lane_order& order) {
    std::array<std::array<float, 4>, 2> sums{};
    for (std::int64_t k = 0; k != order.first; ++k) sums[0][0] += a[k] * b[k];
    std::size_t row = 0;
    for (std::int64_t k = order.first; k < order.lanes_end; k += 4) {
        Eigen::Map<Eigen::Array4f> lanes(sums[row].data());
        lanes += Eigen::Map<const Eigen::Array4f>(a + k) * Eigen::Map<const Eigen::Array4f>(b + k);
        row = row + 1 == order.rows ? 0 : row + 1;
    }
    const auto lane = [&](std::size_t l) { return order.rows == 1 ? sums[0][l] : sums[0][l] + sums[1][l]; };
    float sum = (lane(0) + lane(2)) + (lane(1) + lane(3));
    for (std::int64_t k = order.lanes_end; k < count; ++k) sum += a[k] * b[k];
    return sum;
}

/// c[n] += b[n, k] * a[k]: groups of four rows use one order, the last rows two others.
inline void add_matrix_by_vector(const float* a, const float* b, float* c, std::int64_t k, std::int64_t n) {
    const std::int64_t head = std::min<std::int64_t>(k, 4);
    const std::int64_t blocked = n - n % 4;
    for (std::int64_t j = 0; j != n; ++j) {
        const bool in_block = j < blocked;
        const std::size_t rows = in_block || (j - blocked) % 2 == 1 ? 1 : 2;
        const lane_order order = in_block ? lane_order{k == 0 ? 0 : (k - 1) % 4 + 1, k, 1}
                                          : lane_order{head, head + (k - head) / 8 * 8, rows};
        c[j] += dot(a, b + j * k, k, order);
    }
}

}  // namespace detail

matrix_layout matrix_layout::row_major(std::int64_t rows, std::int64_t columns) {
    matrix_layout layout;
    layout.rows_.reserve(static_cast<std::size_t>(rows));
    for (std::int64_t i = 0; i != rows; ++i) layout.add_row(i * columns);
    layout.add_columns(0, 0, columns);
    return layout;
}
void matrix_layout::add_columns(std::int64_t from, std::int64_t to, std::int64_t count) {
    for (std::int64_t j = 0; j < count; j += columns_at_once) {
        const std::int64_t some = std::min<std::int64_t>(count - j, columns_at_once);
        columns_.push_back({from + j, to + j, static_cast<int>(some)});
    }
}

void continue_product(
    const float* a, const float* b, const matrix_layout& b_layout, float* c, std::int64_t m, std::int64_t n) {
    const auto k = static_cast<std::int64_t>(b_layout.rows().size());
    detail::multiply_fused(
        {a, k, b, b_layout.rows(), b_layout.columns(), c, m, n}, detail::chain_start::result);
}

void add_product(
    const float* a, const float* b, const matrix_layout& b_layout, float* c, std::int64_t m, std::int64_t n) {
    constexpr std::size_t most_terms = 192;  // of a chain; fewer than two chains are halved
    const std::size_t k = b_layout.rows().size();
    const std::size_t terms = k > most_terms && k < 2 * most_terms ? (k + 1) / 2 : most_terms;
    for (std::size_t t = 0; t < k; t += terms) {
        const std::span<const std::int64_t> rows = b_layout.rows().subspan(t, std::min(terms, k - t));
        detail::multiply_fused({a + t, static_cast<std::int64_t>(k), b, rows, b_layout.columns(), c, m, n},
            detail::chain_start::zero);
    }
}

void add_product(const float* a, const float* b, float* c, std::int64_t m, std::int64_t k, std::int64_t n) {
    if (n >= fewest_fused_columns) return add_product(a, b, matrix_layout::row_major(k, n), c, m, n);
    for (std::int64_t i = 0; i != m; ++i) {
        for (std::int64_t t = 0; t != k; ++t) {
            for (std::int64_t j = 0; j != n; ++j) c[i * n + j] += a[i * k + t] * b[t * n + j];
        }
    }
}

void add_product_transposed(
    const float* a, const float* b, float* c, std::int64_t m, std::int64_t k, std::int64_t n) {
    if (m == 1) return detail::add_matrix_by_vector(a, b, c, k, n);
    std::vector<float> columns(static_cast<std::size_t>(k * n));
    for (std::int64_t j = 0; j != n; ++j) {
        for (std::int64_t t = 0; t != k; ++t) columns[static_cast<std::size_t>(t * n + j)] = b[j * k + t];
    }
    add_product(a, columns.data(), c, m, k, n);
}

// Eight lanes in four columns, row after row; sixteen rows are summed before they move to the next level.
float sum_of(std::span<const float> numbers) {
    constexpr std::size_t columns = 4;
    constexpr std::size_t levels = 4;
    constexpr std::size_t level_rows = 16;
    const bool in_lanes = numbers.size() >= 8;
    const auto add_up = [&]<int Lanes>(std::integral_constant<int, Lanes>) {
        using lanes = Eigen::Array<float, Lanes, 1>;
        const auto row_of = [&](std::size_t i) {
            return Eigen::Map<const lanes>(numbers.data() + i * Lanes);
        };
        const std::size_t vectors = numbers.size() / Lanes;
        std::array<std::array<lanes, columns>, levels> sums;
        for (auto& level : sums) level.fill(lanes::Zero());
        for (std::size_t row = 0; row != vectors / columns; ++row) {
            for (std::size_t c = 0; c != columns; ++c) sums[0][c] += row_of(row * columns + c);
            std::size_t full = row + 1;
            for (std::size_t l = 0; l + 1 != levels && full % level_rows == 0; ++l, full /= level_rows) {
                for (std::size_t c = 0; c != columns; ++c) {
                    sums[l + 1][c] += sums[l][c];
                    sums[l][c].setZero();
                }
            }
        }
        for (std::size_t l = 1; l != levels; ++l) {
            for (std::size_t c = 0; c != columns; ++c) sums[0][c] += sums[l][c];
        }
        for (std::size_t i = vectors / columns * columns; i != vectors; ++i) sums[0][0] += row_of(i);
        const lanes all = ((sums[0][0] + sums[0][1]) + sums[0][2]) + sums[0][3];
        float sum = 0;
        for (const float x : numbers.subspan(vectors * Lanes)) sum += x;
        for (int l = 0; l != Lanes; ++l) sum += all[l];
        return sum;
    };
    return in_lanes ? add_up(std::integral_constant<int, 8>()) : add_up(std::integral_constant<int, 1>());
}

}  // namespace headrace::eval
