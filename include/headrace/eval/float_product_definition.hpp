// SPDX-License-Identifier: MIT
// Defines the functions of eval/float_product.hpp.
#ifndef HEADRACE_EVAL_FLOAT_PRODUCT_DEFINITION_HPP
#define HEADRACE_EVAL_FLOAT_PRODUCT_DEFINITION_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <Eigen/Core>

#include <headrace/base/compiled.hpp>
#include <headrace/base/cpu_features.hpp>
#include <headrace/eval/float_product.hpp>

namespace headrace::eval {

namespace detail {

/// A product a * b of row-major matrices, of which `k` terms are added up.
struct chain_operands {
    const float* a;
    std::int64_t a_stride;
    const float* b;
    float* c;
    std::int64_t m, k, n;  ///< n is also the stride of b and c
};
/// Where a chain of fused multiply-adds begins: at the element of the result, or at 0, and its end is added.
enum class chain_start : bool { result, zero };

inline void multiply_in_chains(const chain_operands& p, chain_start start) {
    std::vector<float> chains(static_cast<std::size_t>(p.n));
    for (std::int64_t i = 0; i != p.m; ++i) {
        float* c = p.c + i * p.n;
        if (start == chain_start::result) std::copy(c, c + p.n, chains.begin());
        if (start == chain_start::zero) std::ranges::fill(chains, 0.0F);
        for (std::int64_t k = 0; k != p.k; ++k) {
            const float a = p.a[i * p.a_stride + k];
            const float* b = p.b + k * p.n;
            for (float& chain : chains) chain = std::fma(a, *b++, chain);
        }
        for (const float chain : chains) {
            *c = start == chain_start::result ? chain : *c + chain;
            ++c;
        }
    }
}

#if defined(__x86_64__)
/// The bits of the first `count` of 8 numbers.
[[nodiscard]] __attribute__((target("avx2"))) inline __m256i lanes_below(std::int64_t count) {
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(std::min<std::int64_t>(count, 8))), lanes);
}

/// `Rows` rows of the result, from row `i` on: 16 columns at a time stay in registers.
template <int Rows>
__attribute__((target("avx2,fma"))) void multiply_rows(const chain_operands& p, std::int64_t i,
                                                       chain_start start) {
    for (std::int64_t j = 0; j < p.n; j += 16) {
        const __m256i left = lanes_below(p.n - j);
        const __m256i right = lanes_below(p.n - j - 8);
        const std::int64_t second = p.n - j > 8 ? j + 8 : j;  // masked out where it is not there
        __m256 chain[Rows][2];
        for (int r = 0; r != Rows; ++r) {
            const float* c = p.c + (i + r) * p.n;
            const bool begins = start == chain_start::result;
            chain[r][0] = begins ? _mm256_maskload_ps(c + j, left) : _mm256_setzero_ps();
            chain[r][1] = begins ? _mm256_maskload_ps(c + second, right) : _mm256_setzero_ps();
        }
        for (std::int64_t k = 0; k != p.k; ++k) {
            const float* b = p.b + k * p.n;
            const __m256 b0 = _mm256_maskload_ps(b + j, left);
            const __m256 b1 = _mm256_maskload_ps(b + second, right);
            for (int r = 0; r != Rows; ++r) {
                const __m256 a = _mm256_broadcast_ss(p.a + (i + r) * p.a_stride + k);
                chain[r][0] = _mm256_fmadd_ps(a, b0, chain[r][0]);
                chain[r][1] = _mm256_fmadd_ps(a, b1, chain[r][1]);
            }
        }
        for (int r = 0; r != Rows; ++r) {
            float* c = p.c + (i + r) * p.n;
            if (start == chain_start::zero) {
                chain[r][0] = _mm256_add_ps(_mm256_maskload_ps(c + j, left), chain[r][0]);
                chain[r][1] = _mm256_add_ps(_mm256_maskload_ps(c + second, right), chain[r][1]);
            }
            _mm256_maskstore_ps(c + j, left, chain[r][0]);
            _mm256_maskstore_ps(c + second, right, chain[r][1]);
        }
    }
}
#endif

inline void multiply_fused(const chain_operands& p, chain_start start) {
#if defined(__x86_64__)
    if (cpu_has_avx2()) {
        std::int64_t i = 0;
        for (; i + 4 <= p.m; i += 4) multiply_rows<4>(p, i, start);
        for (; i != p.m; ++i) multiply_rows<1>(p, i, start);
        return;
    }
#endif
    multiply_in_chains(p, start);
}

/// What sgemv adds up in which order: the first terms one by one, the next ones in lanes of four, in one or
/// two rows of lanes in turn, the rest one by one.
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

/// c[n] += b[n, k] * a[k]: four rows at a time lie in one order, the last ones in two others.
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

HEADRACE_INLINE void continue_product(const float* a, const float* b, float* c, std::int64_t m,
                                      std::int64_t k, std::int64_t n) {
    detail::multiply_fused({a, k, b, c, m, k, n}, detail::chain_start::result);
}

HEADRACE_INLINE void add_product(const float* a, const float* b, float* c, std::int64_t m, std::int64_t k,
                                 std::int64_t n) {
    constexpr std::int64_t fewest_columns = 16;  // with fewer, multiplications and additions are not fused
    constexpr std::int64_t most_terms = 192;     // of a chain; less than two chains are split in halves
    if (n < fewest_columns) {
        for (std::int64_t i = 0; i != m; ++i) {
            for (std::int64_t t = 0; t != k; ++t) {
                for (std::int64_t j = 0; j != n; ++j) c[i * n + j] += a[i * k + t] * b[t * n + j];
            }
        }
        return;
    }
    const std::int64_t terms = k > most_terms && k < 2 * most_terms ? (k + 1) / 2 : most_terms;
    for (std::int64_t t = 0; t < k; t += terms) {
        detail::multiply_fused({a + t, k, b + t * n, c, m, std::min(terms, k - t), n},
                               detail::chain_start::zero);
    }
}

HEADRACE_INLINE void add_product_transposed(const float* a, const float* b, float* c, std::int64_t m,
                                            std::int64_t k, std::int64_t n) {
    if (m == 1) return detail::add_matrix_by_vector(a, b, c, k, n);
    std::vector<float> columns(static_cast<std::size_t>(k * n));
    for (std::int64_t j = 0; j != n; ++j) {
        for (std::int64_t t = 0; t != k; ++t) columns[static_cast<std::size_t>(t * n + j)] = b[j * k + t];
    }
    add_product(a, columns.data(), c, m, k, n);
}

// Eight lanes in four columns, row after row; sixteen rows are added up before they go to the next level.
HEADRACE_INLINE float sum_of(std::span<const float> numbers) {
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

#endif
