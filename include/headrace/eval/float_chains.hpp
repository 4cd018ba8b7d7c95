// SPDX-License-Identifier: MIT
// Defines headrace::multiply_fused, products of float32 whose elements are chains of fused multiply-adds.
#ifndef HEADRACE_EVAL_FLOAT_CHAINS_HPP
#define HEADRACE_EVAL_FLOAT_CHAINS_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <headrace/base/cpu_features.hpp>

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

}  // namespace detail

}  // namespace headrace::eval

#endif
