// SPDX-License-Identifier: MIT
// Declares products and sums of float32, computed in the order in which PyTorch's CPU kernels compute them.
#ifndef HEADRACE_EVAL_FLOAT_PRODUCT_HPP
#define HEADRACE_EVAL_FLOAT_PRODUCT_HPP

#include <cstdint>
#include <span>
#include <vector>

namespace headrace::eval {

// The order of additions decides the last bits of a float32 sum, and those decide the last bits of the scales
// derived from it. These functions follow the order of PyTorch 2.15 on x86-64 (MKL's sgemm and sgemv,
// oneDNN's depthwise convolution, ATen's cascade of sums), as revealed by probes with large numbers that
// cancel (Xie et al., FPRev: Revealing the Order of Floating-Point Summation, arXiv:2411.00442). Every step
// is an IEEE operation, fused or not, so the bytes are the same on every machine.

/// c[m, n] += a[m, k] * b[k, n], all row-major.
void add_product(const float* a, const float* b, float* c, std::int64_t m, std::int64_t k, std::int64_t n);

/// c[m, n] += a[m, k] * b[n, k] transposed.
void add_product_transposed(
    const float* a, const float* b, float* c, std::int64_t m, std::int64_t k, std::int64_t n);

/// Up to eight adjacent columns: where they begin in a row of terms and in a row of results.
struct column_group {
    std::int64_t from, to;
    int count;
};
/// The layout of a matrix of terms: where each row begins, and its columns in groups.
class matrix_layout {
public:
    static constexpr int columns_at_once = 8;

    [[nodiscard]] static matrix_layout row_major(std::int64_t rows, std::int64_t columns);

    void add_row(std::int64_t at) { rows_.push_back(at); }
    /// Adds `count` adjacent columns, at `from` in rows of terms and at `to` in rows of the result.
    void add_columns(std::int64_t from, std::int64_t to, std::int64_t count);

    [[nodiscard]] std::span<const std::int64_t> rows() const { return rows_; }
    [[nodiscard]] std::span<const column_group> columns() const { return columns_; }

private:
    std::vector<std::int64_t> rows_;
    std::vector<column_group> columns_;
};
/// c[m, n] += a[m, k] * b[k, n] with at least `fewest_fused_columns` columns and any layout of b.
void add_product(
    const float* a, const float* b, const matrix_layout& b_layout, float* c, std::int64_t m, std::int64_t n);
/// Grouped convolutions with any number of columns: each sum starts from its element of c.
void continue_product(
    const float* a, const float* b, const matrix_layout& b_layout, float* c, std::int64_t m, std::int64_t n);
/// Products with fewer columns do not fuse multiplications and additions.
inline constexpr std::int64_t fewest_fused_columns = 12;

/// Returns the sum of contiguous numbers.
[[nodiscard]] float sum_of(std::span<const float> numbers);

}  // namespace headrace::eval

#endif
