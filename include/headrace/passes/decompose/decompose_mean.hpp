// SPDX-License-Identifier: MIT
// Defines headrace::decompose_mean.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_MEAN_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_MEAN_HPP

#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/reductions.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/reducing.hpp>

namespace headrace {

struct decompose_mean : pass {
    using phase = decomposition;
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

}  // namespace headrace

#endif
