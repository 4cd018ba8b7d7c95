// SPDX-License-Identifier: MIT
// Defines headrace::decompose_var.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_VAR_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_VAR_HPP

#include <algorithm>

#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/reductions.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/reducing.hpp>

namespace headrace {

/// For N <= c the variance is 0 · inf = NaN or inf, as in PyTorch. The mean is subtracted before squaring, in
/// float32: the mean of squares minus the square of the mean would cancel.
struct decompose_var : pass {
    using phase = decomposition;
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
        return moments(x, axes_of(a), keepdim_of(a), correction_of(a));
    }
    static auto moments(const auto& x, const std::optional<int_list>& axes, bool keepdim, double correction) {
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

    static std::optional<int_list> axes_of(const auto& a) {
        if constexpr (requires { a.dim; }) {
            return a.dim;
        } else {
            return std::nullopt;
        }
    }
    static bool keepdim_of(const auto& a) {
        if constexpr (requires { a.keepdim; }) {
            return a.keepdim;
        } else {
            return false;
        }
    }
    static double correction_of(const auto& a) {
        if constexpr (requires { a.unbiased; }) {
            return a.unbiased ? 1 : 0;
        } else {
            return a.correction ? a.correction->to_double() : 1;
        }
    }
};
HEADRACE_COMPILED_PASS(decompose_var);

}  // namespace headrace

#endif
