// SPDX-License-Identifier: MIT
// Declares products and sums of float32, computed in the order in which PyTorch's CPU kernels compute them.
#ifndef HEADRACE_EVAL_FLOAT_PRODUCT_HPP
#define HEADRACE_EVAL_FLOAT_PRODUCT_HPP

#include <cstdint>
#include <span>

namespace headrace::eval {

// Which terms are added first decides the last bits of a sum of float32, and those decide the last bits of
// the scales that are found from it. What is computed here follows the order of PyTorch 2.15 on x86-64 (MKL's
// sgemm and sgemv, oneDNN's depthwise convolution, ATen's cascade of sums), as probes with large numbers that
// cancel show it (Xie et al., FPRev: Revealing the Order of Floating-Point Summation, arXiv:2411.00442).
// Every step is an IEEE operation, fused or not, so the bytes are the same on every machine.

/// c[m, n] += a[m, k] * b[k, n], all row-major.
void add_product(const float* a, const float* b, float* c, std::int64_t m, std::int64_t k, std::int64_t n);

/// c[m, n] += a[m, k] * b[n, k] transposed.
void add_product_transposed(const float* a, const float* b, float* c, std::int64_t m, std::int64_t k,
                            std::int64_t n);

/// The same as add_product for convolutions in groups: each element of c is where its sum begins.
void continue_product(const float* a, const float* b, float* c, std::int64_t m, std::int64_t k,
                      std::int64_t n);

/// The sum of numbers that lie side by side.
[[nodiscard]] float sum_of(std::span<const float> numbers);

}  // namespace headrace::eval

#ifndef HEADRACE_COMPILED
#include <headrace/eval/float_product_definition.hpp>
#endif

#endif
