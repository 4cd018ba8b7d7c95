// SPDX-License-Identifier: MIT
// Defines the decompositions of means, variances and quantiles.
#ifndef HEADRACE_PASSES_DECOMPOSE_STATISTICS_HPP
#define HEADRACE_PASSES_DECOMPOSE_STATISTICS_HPP

#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/support/reducing.hpp>

namespace headrace {

struct decompose_mean : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "mean(x) as Σx · (1/N), of halves in float32; nansum as Σ with 0 for NaN";

    static auto rewrites() {
        return rules(
            on<aten::mean> = [](auto x) { return mean_of(x, std::nullopt, false); },
            on<aten::mean_dim> = [](auto x, const auto& a) { return mean_of(x, a.dim, a.keepdim); },
            on<aten::nansum> =
                [](auto x, const auto& a) {
                    const auto without_nan = [&] { return where(x == x, x, 0); };
                    const auto numbers = choose(is_floating(x.dtype()), without_nan, x);
                    return call<aten::sum_dim_intlist>(numbers, a.dim, a.keepdim, x.result_meta().dtype);
                });
    }

private:
    static auto mean_of(const auto& x, const std::optional<int_list>& axes, bool keepdim) {
        return in_result_type(average(x, axes, keepdim, build::summing_type(x.result_meta().dtype)));
    }
};
HEADRACE_COMPILED_PASS(decompose_mean);

/// For N <= c the variance is 0 · inf = NaN or inf, as in PyTorch. The mean is subtracted before squaring, in
/// float32: the mean of squares minus the square of the mean would cancel.
struct decompose_var : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "var(x) as Σ(x - mean(x))² · (1 / max(0, N - c)); std(x) as √var(x)";

    static auto rewrites() {
        return rules(
            on<aten::var, aten::var_dim, aten::var_correction> =
                [](auto x, const auto& a) { return in_result_type(std::get<0>(moments(x, a))); },
            on<aten::std_, aten::std_dim, aten::std_correction> =
                [](auto x, const auto& a) {
                    return in_result_type(call<aten::sqrt>(std::get<0>(moments(x, a))));
                },
            on<aten::var_mean_dim, aten::var_mean_correction> =
                [](auto x, const auto& a) {
                    const auto [variance, mean] = moments(x, a);
                    return std::tuple(in_result_type(variance), without_axes(mean));
                },
            on<aten::std_mean_dim, aten::std_mean_correction> =
                [](auto x, const auto& a) {
                    const auto [variance, mean] = moments(x, a);
                    return std::tuple(in_result_type(call<aten::sqrt>(variance)), without_axes(mean));
                });
    }

private:
    // Returns the variance, and the mean with reduced axes kept.
    static auto moments(const auto& x, const auto& a) {
        std::optional<int_list> axes;
        bool keepdim = false;
        double correction = 1;
        if constexpr (requires { a.dim; }) axes = a.dim;
        if constexpr (requires { a.keepdim; }) keepdim = a.keepdim;
        if constexpr (requires { a.unbiased; }) {
            correction = a.unbiased ? 1 : 0;
        } else if (a.correction) {
            correction = a.correction->to_double();
        }
        const dtype wide = build::summing_type(x.dtype());
        const auto mean = average(x, axes, true, wide);
        const auto off = as(x, wide) - mean;
        const auto total = call<aten::sum_dim_intlist>(off * off, axes, keepdim, wide);
        const double freedom = std::max(0.0, reduced_count(x, mean) - correction);
        return std::tuple(total * (1 / freedom), mean);
    }
    static auto without_axes(const auto& mean) {
        return in_result_type(call<aten::reshape>(mean, mean.result_meta(1).shape), 1);
    }
};
HEADRACE_COMPILED_PASS(decompose_var);

/// Decomposes quantiles. The q-quantile of n sorted numbers has rank q · (n - 1), or is between the two
/// neighbours of that rank. Ranks are computed in float64, as in PyTorch; for a constant q they are
/// constants. NaNs are sorted last; if they do not count, n differs from line to line, and ranks are computed
/// for each n.
struct decompose_quantiles : pass_in<decomposition> {
    static constexpr std::string_view summary = "quantile, nanquantile by sort, at ranks q · (n - 1)";

    static auto rewrites() {
        return rules(
            on<aten::quantile> = [](auto x, auto q, const auto& a) { return of_all(x, q, a); },
            on<aten::quantile_scalar> = [](auto x, const auto& a) { return of_all(x, x.constant(a.q), a); },
            on<aten::nanquantile> = [](auto x, auto q, const auto& a) { return of_numbers(x, q, a); },
            on<aten::nanquantile_scalar> = [](auto x,
                                               const auto& a) { return of_numbers(x, x.constant(a.q), a); });
    }

private:
    // Returns [..., n] in ascending order.
    static auto in_order(const auto& x, const std::optional<std::int64_t>& dim) {
        const auto lines = choose(
            dim && x.rank() != 0, [&] { return call<aten::movedim_int>(x, dim.value_or(0), -1); },
            [&] { return flat(x); });
        return call<aten::sort>(lines, -1, false);
    }
    static auto of_all(const auto& x, const auto& q, const auto& a) {
        const auto sorted = in_order(x, a.dim);
        const std::int64_t last = sorted.size(-1) - 1;
        const auto ranks = flat(as(q, dtype::float64)) * static_cast<double>(last);
        const auto found = at_ranks(
            ranks, a.interpolation,
            [&](const auto& rank) { return call<aten::index_select>(sorted, -1, as(rank, dtype::int64)); },
            [&](const auto& weight) { return as(weight, sorted.dtype()); });
        const auto largest = call<aten::narrow>(sorted, -1, last, 1);
        return in_front(where(largest == largest, found, largest));
    }
    static auto of_numbers(const auto& x, const auto& q, const auto& a) {
        const auto sorted = in_order(x, a.dim);
        const auto ones = where(sorted == sorted, sorted.constant(1), 0);
        const auto count = flat(as(sum(ones, int_list{-1}), dtype::int64));
        const auto ranks = last_ranks(sorted) * flat(as(q, dtype::float64));  // [n + 1, q]
        // The row of each line, in place of its elements: in floats, which every target can gather.
        const auto of_count = [&](const auto& table) {
            shape_builder shape(sorted.shape());
            if (!shape.empty()) shape.back() = table.size(-1);
            const auto rows = call<aten::index_select>(as(table, sorted.dtype()), 0, count);
            return viewed(rows, int_list(shape));
        };
        return in_front(at_ranks(
            ranks, a.interpolation,
            [&](const auto& rank) {
                return call<aten::gather>(sorted, -1, as(of_count(rank), dtype::int64));
            },
            of_count));
    }
    // The last rank of 0, 1, …, n numbers. For 0 numbers it is rank 0, where the line holds NaN.
    static auto last_ranks(const auto& sorted) {
        const std::int64_t rows = sorted.size(-1) + 1;
        return constant_by(sorted, dtype::float64, shape_builder{rows, 1},
            [](std::int64_t i) { return scalar(i == 0 ? 0.0 : static_cast<double>(i - 1)); });
    }
    static auto at_ranks(
        const auto& ranks, std::string_view interpolation, const auto& at, const auto& weights_at) {
        return choose(
            interpolation == "lower", [&] { return at(floor(ranks)); }, interpolation == "higher",
            [&] { return at(ceil(ranks)); }, interpolation == "nearest",
            [&] { return at(call<aten::round>(ranks)); }, interpolation == "midpoint",
            [&] { return call<aten::lerp_scalar>(at(floor(ranks)), at(ceil(ranks)), scalar(0.5)); },
            [&] {
                const auto below = floor(ranks);
                return call<aten::lerp_tensor>(at(below), at(ceil(ranks)), weights_at(ranks - below));
            });
    }
    // Moves the axis of q to the front.
    static auto in_front(const auto& found) { return as_result(call<aten::movedim_int>(found, -1, 0)); }
};
HEADRACE_COMPILED_PASS(decompose_quantiles);

}  // namespace headrace

#endif
