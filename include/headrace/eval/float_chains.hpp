// SPDX-License-Identifier: MIT
// Defines headrace::multiply_fused, products of float32 whose elements are chains of fused multiply-adds.
#ifndef HEADRACE_EVAL_FLOAT_CHAINS_HPP
#define HEADRACE_EVAL_FLOAT_CHAINS_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <headrace/base/cpu_features.hpp>
#include <headrace/eval/float_product.hpp>

namespace headrace::eval {

namespace detail {

/// A product c[m, n] += a[m, k] * b[k, n] over selected rows of b; c is row-major.
struct chain_operands {
    const float* a;
    std::int64_t a_stride;
    const float* b;
    std::span<const std::int64_t> rows;     ///< where the row of each term begins in b
    std::span<const column_group> columns;  ///< of b and c
    float* c;
    std::int64_t m, n;
};
/// The start of a chain of fused multiply-adds: the element of the result, or 0, in which case the sum is
/// added to it.
enum class chain_start : bool { result, zero };

inline void multiply_in_chains(const chain_operands& p, chain_start start) {
    for (std::int64_t i = 0; i != p.m; ++i) {
        for (const column_group& g : p.columns) {
            const std::span<float> c(p.c + i * p.n + g.to, static_cast<std::size_t>(g.count));
            std::array<float, matrix_layout::columns_at_once> chains{};
            if (start == chain_start::result) std::ranges::copy(c, chains.begin());
            for (std::size_t k = 0; k != p.rows.size(); ++k) {
                const float a = p.a[i * p.a_stride + static_cast<std::int64_t>(k)];
                const float* b = p.b + p.rows[k] + g.from;
                for (std::size_t l = 0; l != c.size(); ++l) chains[l] = std::fma(a, b[l], chains[l]);
            }
            for (std::size_t l = 0; l != c.size(); ++l)
                c[l] = start == chain_start::result ? chains[l] : c[l] + chains[l];
        }
    }
}

#if defined(__x86_64__)
/// Returns a mask of the first `count` of 8 numbers.
[[nodiscard]] __attribute__((target("avx2"))) inline __m256i lanes_below(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
/// Loads or stores eight numbers, or those that a mask selects, which is slower.
template <bool Whole>
[[nodiscard]] __attribute__((target("avx2"))) inline __m256 load(const float* from, __m256i mask) {
    return Whole ? _mm256_loadu_ps(from) : _mm256_maskload_ps(from, mask);
}
template <bool Whole>
__attribute__((target("avx2"))) inline void store(float* to, __m256i mask, __m256 numbers) {
    Whole ? _mm256_storeu_ps(to, numbers) : _mm256_maskstore_ps(to, mask, numbers);
}

/// Computes `Rows` rows of the result from row `i` on, in `Groups` groups of columns, in registers.
template <int Rows, int Groups, bool Whole>
__attribute__((target("avx2,fma"))) void multiply_block(
    const chain_operands& p, std::int64_t i, const column_group* groups, chain_start start) {
    __m256i mask[Groups];
    __m256 chain[Rows][Groups];
    for (int g = 0; g != Groups; ++g) {
        mask[g] = lanes_below(groups[g].count);
        for (int r = 0; r != Rows; ++r) {
            const float* c = p.c + (i + r) * p.n + groups[g].to;
            chain[r][g] = start == chain_start::result ? load<Whole>(c, mask[g]) : _mm256_setzero_ps();
        }
    }
    const float* a = p.a + i * p.a_stride;
    for (const std::int64_t row : p.rows) {
        __m256 b[Groups];
        for (int g = 0; g != Groups; ++g) b[g] = load<Whole>(p.b + row + groups[g].from, mask[g]);
        for (int r = 0; r != Rows; ++r) {
            const __m256 factor = _mm256_broadcast_ss(a + r * p.a_stride);
            for (int g = 0; g != Groups; ++g) chain[r][g] = _mm256_fmadd_ps(factor, b[g], chain[r][g]);
        }
        ++a;
    }
    for (int g = 0; g != Groups; ++g) {
        for (int r = 0; r != Rows; ++r) {
            float* c = p.c + (i + r) * p.n + groups[g].to;
            const bool adds = start == chain_start::zero;
            store<Whole>(
                c, mask[g], adds ? _mm256_add_ps(load<Whole>(c, mask[g]), chain[r][g]) : chain[r][g]);
        }
    }
}
/// Computes rows of the result in all columns. A processor has eight multiply-adds in flight: four rows by
/// two groups of columns, or one row by eight.
template <int Rows>
inline void multiply_rows(const chain_operands& p, std::int64_t i, chain_start start) {
    constexpr int most = 8 / Rows;
    const column_group* at = p.columns.data();
    const column_group* const end = at + p.columns.size();
    const auto is_whole = [](const column_group& g) { return g.count == matrix_layout::columns_at_once; };
    for (; end - at >= most; at += most) {
        std::all_of(at, at + most, is_whole) ? multiply_block<Rows, most, true>(p, i, at, start)
                                             : multiply_block<Rows, most, false>(p, i, at, start);
    }
    for (; at != end; ++at) multiply_block<Rows, 1, false>(p, i, at, start);
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

}  // namespace detail

}  // namespace headrace::eval

#endif
