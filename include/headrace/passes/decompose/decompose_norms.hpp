// SPDX-License-Identifier: MIT
// Defines headrace::decompose_norms.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_NORMS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_NORMS_HPP

#include <limits>

#include <headrace/infer/shape_builder.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/powers.hpp>
#include <headrace/passes/decompose/reductions.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Decomposes norms along axes: the largest or smallest |x| for p = ±∞, and the number of nonzero elements
/// for p = 0 (PyTorch, torch.linalg.vector_norm).
struct decompose_norms : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "‖x‖_p as (Σ|x|^p)^(1/p); cosine_similarity(a, b) as Σab / (‖a‖·‖b‖)";

    static auto rewrites() {
        return rules(
            reduction_rules(
                on<aten::linalg_vector_norm> =
                    [](auto x, const auto& a) {
                        return norm(x, a.ord.to_double(), a.dim.value_or(int_list()));
                    },
                on<aten::norm_scalar> = [](auto x, const auto& a) { return norm(x, a.p.to_double(), {}); },
                on<aten::norm_scalaropt_dim> =
                    [](auto x, const auto& a) { return norm(x, a.p ? a.p->to_double() : 2, a.dim); }),
            on<aten::cosine_similarity> = [](auto a, auto b, const auto& with) {
                const sizes axis(&with.dim, 1);
                const auto x = broadcast_to_both(a, b);
                const auto y = broadcast_to_both(b, a);
                const auto length = [&](const auto& v) { return max(sqrt(sum(v * v, axis)), with.eps); };
                return as_result(sum(x * y, axis) / (length(x) * length(y)));
            });
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    static auto norm(const auto& x, double p, const int_list& axes) {
        return choose(
            p == 2, [&] { return sqrt(sum(x * x, axes)); }, p == 1, [&] { return sum(abs(x), axes); },
            p == infinity, [&] { return largest(abs(x), axes); }, p == -infinity,
            [&] { return smallest(abs(x), axes); }, p == 0,
            [&] { return sum(where(x == 0, x.constant(0), x.constant(1)), axes); },
            [&] { return power(sum(power(abs(x), p), axes), 1 / p); });
    }
    static auto broadcast_to_both(const auto& x, const auto& other) {
        const auto both = broadcast(x.shape(), other.shape());
        const bool same = both && shape_builder(x.shape()) == both.value();
        const auto wide = choose(
            !both, [&] { return x.unsupported("cosine_similarity: shapes that do not broadcast"); }, same, x,
            [&] { return call<aten::expand>(x, both.value()); });
        return as(wide, dtype::float32);
    }
};
HEADRACE_COMPILED_PASS(decompose_norms);

}  // namespace headrace

#endif
