// SPDX-License-Identifier: MIT
// Defines headrace::decompose_tables.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_TABLES_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_TABLES_HPP

#include <cmath>
#include <numbers>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/aten/loss.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/reductions.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Makes constants of tensors that depend on arguments only (PyTorch, torch.hann_window and others); an
/// affine grid is the product of a constant grid and the given matrix.
struct decompose_tables : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "windows of signals, logspace, tril_indices as constants; affine_grid as grid · θᵀ";
    using cosine_windows = ops<aten::hann_window, aten::hann_window_periodic, aten::hamming_window,
        aten::hamming_window_periodic, aten::hamming_window_periodic_alpha,
        aten::hamming_window_periodic_alpha_beta, aten::blackman_window, aten::blackman_window_periodic>;
    using triangular_windows = ops<aten::bartlett_window, aten::bartlett_window_periodic>;
    using kaiser_windows = ops<aten::kaiser_window, aten::kaiser_window_periodic, aten::kaiser_window_beta>;
    using windows = joined<cosine_windows, triangular_windows, kaiser_windows>;
    using index_tables = ops<aten::tril_indices, aten::triu_indices>;
    using random_ops =
        ops<aten::rand, aten::randn, aten::rand_like, aten::randn_like, aten::bernoulli, aten::bernoulli_p>;
    using targeted_ops = joined<windows, index_tables, random_ops, ops<aten::logspace>>;
    using produces = ops<>;

    static auto rewrites() {
        return rules(on<aten::affine_grid_generator> = [](auto theta, const auto& a) {
            const std::size_t axes = a.size.size() - 2;
            const sizes image = sizes(a.size).subspan(2);
            const std::int64_t points = element_count(image);
            const bool aligned = a.align_corners;
            const auto width = static_cast<std::int64_t>(axes + 1);
            // Each row holds the coordinates of a point, the last axis of the image first, and 1.
            const auto coordinate = [axes, image, aligned](std::size_t i) {
                std::size_t point = i / (axes + 1);
                const std::size_t which = i % (axes + 1);
                if (which == axes) return scalar(1.0);
                for (std::size_t d = 0; d != which; ++d)
                    point /= static_cast<std::size_t>(image[axes - 1 - d]);
                const auto size = static_cast<double>(image[axes - 1 - which]);
                const auto at =
                    static_cast<double>(point % static_cast<std::size_t>(image[axes - 1 - which]));
                if (aligned) return scalar(size == 1 ? 0.0 : at * 2 / (size - 1) - 1);
                return scalar((at * 2 + 1) / size - 1);
            };
            const auto grid = code<ops<>>(
                [&](emit<ops<>> e, value) {
                    return e.constant_of(dtype::float32, shape_builder{1, points, width}, coordinate);
                },
                theta);
            const auto turned = call<aten::transpose_int>(as(theta, dtype::float32), -2, -1);
            return as_result(call<aten::matmul>(grid, turned));
        });
    }

    template <one_of<windows> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        bool periodic = true;
        if constexpr (requires { a.periodic; }) periodic = a.periodic;
        const std::int64_t span = a.window_length - (periodic ? 0 : 1);
        return e.constant_of(e.result_meta().dtype, e.result_meta().shape, [&](std::size_t i) {
            if (a.window_length == 1) return scalar(1.0);
            return scalar(window<Op>(a, static_cast<double>(i), static_cast<double>(span)));
        });
    }
    value operator()(const args<aten::logspace>& a, emit<produces>& e) const {
        const double start = a.start.to_double();
        const double step = a.steps > 1 ? (a.end.to_double() - start) / static_cast<double>(a.steps - 1) : 0;
        return e.constant_of(e.result_meta().dtype, e.result_meta().shape,
            [&](std::size_t i) { return scalar(std::pow(a.base, start + step * static_cast<double>(i))); });
    }
    template <one_of<random_ops> Op>
    value operator()(Op, const args<Op>&, emit<produces>& e) const {
        return e.unsupported(
            "random numbers are not constant and TOSA has none; make them an input of the model, or lower it "
            "to "
            "a .pte file, where they are float32");
    }
    template <one_of<index_tables> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        constexpr bool lower = std::is_same_v<Op, aten::tril_indices>;
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

private:
    // Returns element k of a window, one period of which has `span` elements.
    template <class Op>
    static double window(const args<Op>& a, double k, double span) {
        if constexpr (one_of<Op, cosine_windows>) {
            const double angle = 2 * std::numbers::pi * k / span;
            if constexpr (one_of<Op, ops<aten::blackman_window, aten::blackman_window_periodic>>)
                return 0.42 - 0.5 * std::cos(angle) + 0.08 * std::cos(2 * angle);
            constexpr bool is_hann = one_of<Op, ops<aten::hann_window, aten::hann_window_periodic>>;
            double alpha = is_hann ? 0.5 : 0.54;
            double beta = is_hann ? 0.5 : 0.46;
            if constexpr (requires { a.alpha; }) alpha = a.alpha;
            if constexpr (requires { a.beta; }) beta = a.beta;
            return alpha - beta * std::cos(angle);
        } else if constexpr (one_of<Op, triangular_windows>) {
            const double rising = 2 * k / span;
            return rising <= 1 ? rising : 2 - rising;
        } else {
            double beta = 12;
            if constexpr (requires { a.beta; }) beta = a.beta;
            const double from_middle = 2 * k / span - 1;
            const double inside = 1 - from_middle * from_middle;
            return bessel_i0(beta * std::sqrt(inside < 0 ? 0 : inside)) / bessel_i0(beta);
        }
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
