// SPDX-License-Identifier: MIT
// Defines headrace::decompose_norms and decompose_distances.
#ifndef HEADRACE_PASSES_DECOMPOSE_NORMS_HPP
#define HEADRACE_PASSES_DECOMPOSE_NORMS_HPP

#include <cmath>

#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/decompose/powers.hpp>

namespace headrace {

/// Decomposes distances between vectors, and norms of matrices (PyTorch, torch.cdist, torch.linalg.norm). If
/// there are many distances with p = 2, they are √(x² + y² - 2xy), by a matrix product, as in PyTorch.
struct decompose_distances : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "cdist, pdist, pairwise_distance, dist as norms of differences; matrix norms, renorm";

    static auto rewrites() {
        return rules(
            on<aten::pairwise_distance> =
                [](auto x, auto y, const auto& a) {
                    return as_result(norm(real(x) - real(y) + a.eps, a.p, int_list{-1}));
                },
            on<aten::dist> =
                [](auto x, auto y, const auto& a) {
                    return as_result(norm(real(x) - real(y), a.p.to_double(), {}));
                },
            on<aten::cdist, aten::_cdist_forward> =
                [](auto x, auto y, const auto& a) {
                    return in_result_type(choose(
                        x.size(-1) == 0,
                        [&] { return x.unsupported("vectors without elements: TOSA has none"); },
                        is_product(x, y, a), [&] { return by_product(real(x), real(y)); },
                        [&] {
                            const auto d = unsqueezed(real(x), -2) - unsqueezed(real(y), -3);
                            return call<aten::linalg_vector_norm>(d, scalar(a.p), int_list{-1}, false);
                        }));
                },
            on<aten::pdist, aten::_pdist_forward> =
                [](auto x, const auto& a) {
                    const std::int64_t pairs = x.result_meta().shape[0];
                    return refuse_if(pairs == 0 || x.size(1) == 0, x,
                        "distances of nothing: TOSA has no empty tensors", [&] {
                            const auto rows = [&](bool second) {
                                return call<aten::index_select>(real(x), 0,
                                    x.tensor(dtype::int64, shape_builder{pairs},
                                        x.may_compute(pairs, dtype::int64) ? pair_members(x.size(0), second)
                                                                           : pmr_vector<std::int64_t>()));
                            };
                            const auto d = rows(false) - rows(true);
                            return in_result_type(
                                call<aten::linalg_vector_norm>(d, scalar(a.p), int_list{1}, false));
                        });
                },
            on<aten::isclose> =
                [](auto x, auto y, const auto& a) {
                    const auto equal = x == y;
                    const auto u = real(x);
                    const auto v = real(y);
                    const auto alike = choose(!a.equal_nan, equal,
                        [&] { return logical_or(equal, logical_and(!(u == u), !(v == v))); });
                    const auto error = abs(u - v);
                    const auto allowed = abs(v) * a.rtol + a.atol;
                    return logical_or(alike, logical_and(error < HUGE_VAL, error <= allowed));
                },
            on<aten::renorm> =
                [](auto x, const auto& a) {
                    const shape_builder others = axes_except(x.axis(a.dim), x.rank());
                    const double most = a.maxnorm.to_double();
                    const auto length = norm(real(x), a.p.to_double(), int_list(others));
                    const auto factor = where(length > most, most / (length + 1e-7), 1);
                    return in_result_type(real(x) * factor);
                },
            on<aten::linalg_norm> =
                [](auto x, const auto& a) {
                    const bool is_matrix = a.ord && (a.dim ? a.dim->size() == 2 : x.rank() == 2);
                    const int_list axes = a.dim ? *a.dim : is_matrix ? int_list{0, 1} : int_list();
                    const double order = a.ord ? a.ord->to_double() : 2;
                    return as_result(choose(
                        is_matrix, [&] { return matrix_norm(real(x), order, axes); },
                        [&] { return norm(real(x), order, axes); }));
                },
            on<aten::linalg_matrix_norm> =
                [](auto x, const auto& a) {
                    return as_result(matrix_norm(real(x), a.ord.to_double(), a.dim));
                },
            on<aten::linalg_matrix_norm_str_ord> =
                [](auto x, const auto& a) {
                    return refuse_if(a.ord != "fro", x, needs_singular_values,
                        [&] { return as_result(norm(real(x), 2, a.dim)); });
                });
    }

private:
    static constexpr std::string_view needs_singular_values =
        "this norm needs singular values, for which there is no lowering; use the Frobenius norm";

    // Along these axes, or all; reduced axes are kept with size 1.
    static auto norm(const auto& x, double order, const int_list& axes) {
        const auto named = axes.empty() ? std::nullopt : std::optional(axes);
        return call<aten::linalg_vector_norm>(x, scalar(order), named, true);
    }
    static auto matrix_norm(const auto& x, double order, const int_list& axes) {
        const bool by_columns = order == 1 || order == -1;
        const bool by_rows = order == HUGE_VAL || order == -HUGE_VAL;
        const int_list summed{axes[by_columns ? 0 : 1]};
        const int_list left{axes[by_columns ? 1 : 0]};
        return refuse_if(!by_columns && !by_rows, x, needs_singular_values,
            [&] { return extremum(sum(abs(x), summed), left, order > 0); });
    }
    static bool is_product(const auto& x, const auto& y, const auto& a) {
        constexpr std::int64_t few = 25;
        const std::int64_t mode = a.compute_mode.value_or(0);
        return a.p == 2 && (mode == 1 || (mode == 0 && (x.size(-2) > few || y.size(-2) > few)));
    }
    static auto by_product(const auto& x, const auto& y) {
        const auto squares = sum(x * x, int_list{-1}) + transposed_matrix(sum(y * y, int_list{-1}));
        return sqrt(max(squares - call<aten::matmul>(x, transposed_matrix(y)) * 2, 0));
    }
    // Returns the first or the second row index of each pair of rows.
    static pmr_vector<std::int64_t> pair_members(std::int64_t rows, bool second) {
        pmr_vector<std::int64_t> members;
        for (std::int64_t i = 0; i != rows; ++i) {
            for (std::int64_t j = i + 1; j < rows; ++j) members.push_back(second ? j : i);
        }
        return members;
    }
};
HEADRACE_COMPILED_PASS(decompose_distances);

/// Decomposes norms along axes: the largest or smallest |x| for p = ±∞, and the number of nonzero elements
/// for p = 0 (PyTorch, torch.linalg.vector_norm).
struct decompose_norms : pass_in<decomposition> {
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
    static auto norm(const auto& x, double p, const int_list& axes) {
        return choose(
            p == 2, [&] { return sqrt(sum(x * x, axes)); }, p == 1, [&] { return sum(abs(x), axes); },
            p == HUGE_VAL, [&] { return largest(abs(x), axes); }, p == -HUGE_VAL,
            [&] { return smallest(abs(x), axes); }, p == 0,
            [&] { return sum(where(x == 0, x.constant(0), x.constant(1)), axes); },
            [&] { return power(sum(power(abs(x), p), axes), 1 / p); });
    }
    static auto broadcast_to_both(const auto& x, const auto& other) {
        const auto both = broadcast(x.shape(), other.shape());
        return real(refuse_if(!both, x, "cosine_similarity: shapes that do not broadcast",
            [&] { return expanded(x, int_list(both.value())); }));
    }
};
HEADRACE_COMPILED_PASS(decompose_norms);

}  // namespace headrace

#endif
