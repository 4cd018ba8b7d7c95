// SPDX-License-Identifier: MIT
// Defines headrace::decompose_diagonals and decompose_tables: constant masks and tables.
#ifndef HEADRACE_PASSES_DECOMPOSE_TABLES_HPP
#define HEADRACE_PASSES_DECOMPOSE_TABLES_HPP

#include <cmath>
#include <numbers>

#include <headrace/infer/aten/diagonal.hpp>
#include <headrace/infer/aten/search.hpp>
#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Decomposes reads and writes of diagonals of matrices. Element i of a diagonal that begins `offset` columns
/// to the right is in column i + offset: padded to all columns, the diagonal is selected by a constant mask.
struct decompose_diagonals : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "diag_embed, diagonal_scatter by a mask, trace as a sum, block_diag as padded rows";

    static auto rewrites() {
        return rules(
            on<aten::block_diag> = code<blocks_joined>(), on<aten::cartesian_prod> = code<combinations>(),
            on<aten::atleast_1d, aten::atleast_2d, aten::atleast_3d> =
                [](auto x) { return viewed(x, x.result_meta().shape); },
            on<aten::diag> =
                [](auto x, const auto& a) {
                    return choose(
                        x.rank() == 2, [&] { return call<aten::diagonal>(x, a.diagonal); },
                        [&] { return embedded(x, a.diagonal, 0, 1); });
                },
            on<aten::diag_embed> = [](auto x,
                                       const auto& a) { return embedded(x, a.offset, a.dim1, a.dim2); },
            on<aten::diagflat> = [](auto x, const auto& a) { return embedded(flat(x), a.offset, 0, 1); },
            on<aten::linalg_diagonal> =
                [](auto x, const auto& a) { return call<aten::diagonal>(x, a.offset, a.dim1, a.dim2); },
            on<aten::diagonal_scatter> =
                [](auto x, auto src, const auto& a) {
                    const int_list named{a.dim1, a.dim2};
                    const auto matrix = call<aten::movedim_intlist>(x, named, ends());
                    const auto written = selected(src, x.size(a.dim1), x.size(a.dim2), a.offset, matrix);
                    return choose(src.meta().elements() == 0, x,
                        [&] { return call<aten::movedim_intlist>(written, ends(), named); });
                },
            on<aten::trace> = [](auto x) { return total(call<aten::diagonal>(x)); });
    }

private:
    using made = ops<aten::cat, aten::constant_pad_nd, aten::expand, aten::reshape, aten::_to_copy>;

    // Joins blocks along the diagonal: each has zeros to its left and right, and is below the one before.
    static value blocks_joined(emit<made> e, const args<aten::block_diag>& a) {
        const tensor_meta& result = e.result_meta();
        value_list rows;
        std::int64_t left = 0;
        for (const value v : a.tensors) {
            const shape_builder block = matrix_shape(sizes(e.shape(v)));
            const std::int64_t right = result.shape[1] - left - block[1];
            const value matrix = cast(e, reshaped(e, v, int_list(block)), result.dtype);
            if (block[0] != 0) {
                const int_list padding{left, right};
                rows.push_back(left == 0 && right == 0
                        ? matrix
                        : e.make<aten::constant_pad_nd>({.self = matrix, .pad = padding}));
            }
            left += block[1];
        }
        if (rows.size() == 0) return e.unsupported("blocks of nothing: TOSA has no empty tensors");
        return cat(e, rows, 0);
    }
    // Returns all combinations of one element of each tensor; the last tensor's elements change fastest.
    static value combinations(emit<made> e, const args<aten::cartesian_prod>& a) {
        const std::size_t count = a.tensors.size();
        if (count == 1) return reshaped(e, a.tensors[0], e.result_meta().shape);
        if (count > shape_builder::capacity) return e.unsupported("it is of more than 16 tensors");
        shape_builder grid;
        for (const value v : a.tensors) grid.push_back(e.shape(v)[0]);
        const int_list column{e.result_meta().shape[0], 1};
        value_list columns;
        for (std::size_t i = 0; i != count; ++i) {
            const value spread = spread_along(e, a.tensors[i], i, int_list(grid));
            columns.push_back(e.make<aten::reshape>({.self = spread, .shape = column}));
        }
        return cat(e, columns, 1);
    }
    static shape_builder matrix_shape(sizes block) {
        if (block.size() == 2) return shape_builder(block);
        return {1, block.empty() ? 1 : block[0]};
    }
    // Returns `other` [..., rows, columns] with x [..., length] along its diagonal.
    static auto selected(
        const auto& x, std::int64_t rows, std::int64_t columns, std::int64_t offset, const auto& other) {
        const std::int64_t before = std::max<std::int64_t>(offset, 0);
        const std::int64_t after = columns - before - x.size(-1);
        const int_list padding{before, after};
        const auto line =
            choose(before == 0 && after == 0, x, [&] { return call<aten::constant_pad_nd>(x, padding); });
        const auto on_diagonal =
            mask_of(x, 2, rows, columns, [&](auto row, auto column) { return column - row == offset; });
        return where(on_diagonal, call<aten::unsqueeze>(line, -2), other);
    }
    // Returns a square of zeros with x along its diagonal; its axes are dim1 and dim2.
    static auto embedded(const auto& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
        const std::int64_t size = saturating_add(x.size(-1), offset < 0 ? saturating_sub(0, offset) : offset);
        const auto square = selected(x, size, size, offset, x.constant(0));
        const int_list named{dim1, dim2};
        return choose(
            size == 0, [&] { return viewed(x, x.result_meta().shape); }, named == ends(), square,
            [&] { return call<aten::movedim_intlist>(square, ends(), named); });
    }
    static int_list ends() { return {-2, -1}; }
};
HEADRACE_COMPILED_PASS(decompose_diagonals);

/// Makes constants of tensors that depend on arguments only (PyTorch, torch.hann_window and others); an
/// affine grid is the product of a constant grid and the given matrix.
struct decompose_tables : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "windows, frequencies, logspace, tril_indices as constants; affine_grid as grid · θᵀ";

    static auto rewrites() {
        return rules(
            on<aten::hann_window, aten::hann_window_periodic> =
                code<made>([](emit<made> e, const auto& a) { return cosine_window(e, a, 0.5, 0.5); }),
            on<aten::hamming_window, aten::hamming_window_periodic, aten::hamming_window_periodic_alpha,
                aten::hamming_window_periodic_alpha_beta> =
                code<made>([](emit<made> e, const auto& a) { return cosine_window(e, a, 0.54, 0.46); }),
            on<aten::blackman_window, aten::blackman_window_periodic> =
                code<made>([](emit<made> e, const auto& a) { return window(e, a, blackman); }),
            on<aten::bartlett_window, aten::bartlett_window_periodic> =
                code<made>([](emit<made> e, const auto& a) { return window(e, a, bartlett); }),
            on<aten::kaiser_window, aten::kaiser_window_periodic, aten::kaiser_window_beta> =
                code<made>([](emit<made> e, const auto& a) { return kaiser_window(e, a); }),
            on<aten::tril_indices> =
                code<made>([](emit<made> e, const auto& a) { return indices(e, a, true); }),
            on<aten::triu_indices> =
                code<made>([](emit<made> e, const auto& a) { return indices(e, a, false); }),
            on<aten::rand, aten::randn, aten::rand_like, aten::randn_like, aten::bernoulli,
                aten::bernoulli_p> = code<made>([](emit<made> e, const auto&) -> value {
                return e.unsupported(
                    "random numbers are not constant and TOSA has none; make them an input of the model, or "
                    "lower it to a .pte file, where they are float32");
            }),
            on<aten::logspace> = code<logarithmic>(),
            on<aten::fft_fftfreq, aten::fft_rfftfreq> =
                code<made>([](auto op, emit<made> e, const auto& a) { return frequencies(op, e, a); }),
            on<aten::affine_grid_generator> = [](auto theta, const auto& a) {
                const std::size_t axes = a.size.size() - 2;
                const sizes image = sizes(a.size).subspan(2);
                const auto width = static_cast<std::int64_t>(axes + 1);
                const shape_builder shape{1, element_count(image), width};
                // Each row holds the coordinates of a point, the last axis of the image first, and 1.
                const auto grid = constant_by(theta, dtype::float32, shape, [&](std::int64_t i) {
                    const auto which = static_cast<std::size_t>(i) % (axes + 1);
                    if (which == axes) return scalar(1.0);
                    std::int64_t point = i / width;
                    for (std::size_t d = 0; d != which; ++d) point /= image[axes - 1 - d];
                    const auto size = static_cast<double>(image[axes - 1 - which]);
                    const auto at = static_cast<double>(point % image[axes - 1 - which]);
                    if (a.align_corners) return scalar(size == 1 ? 0.0 : at * 2 / (size - 1) - 1);
                    return scalar((at * 2 + 1) / size - 1);
                });
                return as_result(call<aten::matmul>(grid, transposed_matrix(real(theta))));
            });
    }

private:
    using made = ops<>;
    // Element k of a window is `element(k, span)`, where one period has `span` elements.
    static value window(emit<made> e, const auto& a, const auto& element) {
        bool periodic = true;
        if constexpr (requires { a.periodic; }) periodic = a.periodic;
        const auto span = static_cast<double>(a.window_length - (periodic ? 0 : 1));
        return e.constant_of(e.result_meta().dtype, e.result_meta().shape, [&](std::size_t i) {
            return scalar(a.window_length == 1 ? 1.0 : element(static_cast<double>(i), span));
        });
    }
    static value cosine_window(emit<made> e, const auto& a, double alpha, double beta) {
        if constexpr (requires { a.alpha; }) alpha = a.alpha;
        if constexpr (requires { a.beta; }) beta = a.beta;
        return window(e, a, [&](double k, double span) { return alpha - beta * std::cos(angle(k, span)); });
    }
    static value kaiser_window(emit<made> e, const auto& a) {
        double beta = 12;
        if constexpr (requires { a.beta; }) beta = a.beta;
        return window(e, a, [&](double k, double span) {
            const double from_middle = 2 * k / span - 1;
            const double inside = 1 - from_middle * from_middle;
            return bessel_i0(beta * std::sqrt(inside < 0 ? 0 : inside)) / bessel_i0(beta);
        });
    }
    static double angle(double k, double span) { return 2 * std::numbers::pi * k / span; }
    static double blackman(double k, double span) {
        return 0.42 - 0.5 * std::cos(angle(k, span)) + 0.08 * std::cos(2 * angle(k, span));
    }
    static double bartlett(double k, double span) {
        const double rising = 2 * k / span;
        return rising <= 1 ? rising : 2 - rising;
    }
    static value logarithmic(emit<made> e, const args<aten::logspace>& a) {
        const double start = a.start.to_double();
        const double step = a.steps > 1 ? (a.end.to_double() - start) / static_cast<double>(a.steps - 1) : 0;
        return e.constant_of(e.result_meta().dtype, e.result_meta().shape,
            [&](std::size_t i) { return scalar(std::pow(a.base, start + step * static_cast<double>(i))); });
    }
    // 0, 1, … and, of a whole spectrum, the negative frequencies after them, in cycles per unit.
    template <op_tag Op>
    static value frequencies(Op, emit<made> e, const args<Op>& a) {
        const std::int64_t positive = std::is_same_v<Op, aten::fft_rfftfreq> ? a.n : (a.n - 1) / 2;
        const double span = static_cast<double>(a.n) * a.d;
        return e.constant_of(e.result_meta().dtype, e.result_meta().shape, [&](std::size_t i) {
            const auto k = static_cast<std::int64_t>(i);
            return scalar(static_cast<double>(k <= positive ? k : k - a.n) / span);
        });
    }
    static value indices(emit<made> e, const auto& a, bool lower) {
        const std::int64_t count = e.result_meta().shape[1];
        if (!e.may_compute(saturating_mul(count, 2), dtype::int64)) return {};
        pmr_vector<std::int64_t> rows, columns;
        for (std::int64_t r = 0; r != a.row; ++r) {
            const std::int64_t edge = columns_until(r, a.col, lower ? a.offset : saturating_sub(a.offset, 1));
            for (std::int64_t c = lower ? 0 : edge; c != (lower ? edge : a.col); ++c) {
                rows.push_back(r);
                columns.push_back(c);
            }
        }
        return e.constant_of(e.result_meta().dtype, e.result_meta().shape,
            [&](std::size_t i) { return scalar(i < rows.size() ? rows[i] : columns[i - rows.size()]); });
    }
    // The modified Bessel function of order 0: Σ ((x/2)^k / k!)².
    static double bessel_i0(double x) {
        double term = 1;
        double sum = 1;
        for (int k = 1; k != 500 && term > 1e-17 * sum; ++k) {
            term *= x / 2 / k * (x / 2 / k);
            sum += term;
        }
        return sum;
    }
};
HEADRACE_COMPILED_PASS(decompose_tables);

}  // namespace headrace

#endif
