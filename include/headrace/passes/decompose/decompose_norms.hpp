// SPDX-License-Identifier: MIT
// Defines headrace::decompose_norms.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_NORMS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_NORMS_HPP

#include <limits>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// Norms along axes: ‖x‖_p = (Σ|x|^p)^(1/p), the largest or smallest |x| for ±∞, and the number of elements
/// that are not 0 for p = 0 (PyTorch, torch.linalg.vector_norm). cosine_similarity(a, b) = Σab / (max(‖a‖, ε)
/// · max(‖b‖, ε)).
struct decompose_norms : pass {
    using phase = decomposition;
    using targets =
        ops<aten::linalg_vector_norm, aten::norm_scalar, aten::norm_scalaropt_dim, aten::cosine_similarity>;
    using produces = joined<formula::power_ops,
                            ops<aten::sum_dim_intlist, aten::amax, aten::amin, aten::view, aten::expand>>;

    value operator()(const args<aten::linalg_vector_norm>& a, emit<produces>& e) const {
        return norm(e, a.self, a.ord.to_double(), a.dim.value_or(int_list{}));
    }
    value operator()(const args<aten::norm_scalar>& a, emit<produces>& e) const {
        return norm(e, a.self, a.p.to_double(), {});
    }
    value operator()(const args<aten::norm_scalaropt_dim>& a, emit<produces>& e) const {
        return norm(e, a.self, a.p ? a.p->to_double() : 2, a.dim);
    }
    value operator()(const args<aten::cosine_similarity>& a, emit<produces>& e) const {
        const auto shape = broadcast(e.shape(a.x1), e.shape(a.x2));
        if (!shape) return e.unsupported("cosine_similarity: shapes that do not broadcast");
        const auto operand = [&](value v) {
            const bool same = e.shape(v) == int_list(shape.value());
            return formula::real(
                e, same ? v : e.make<aten::expand>({.self = v, .size = int_list(shape.value())}));
        };
        const auto x = operand(a.x1);
        const auto y = operand(a.x2);
        const int_list axes{a.dim};
        const auto length = [&](const term& v) { return max(sqrt(sum(v * v, axes)), a.eps); };
        return shaped(e, in_result_type(sum(x * y, axes) / (length(x) * length(y))));
    }

private:
    using term = formula::term<emit<produces>>;

    static term sum(const term& x, const int_list& axes) {
        return {x.e, x.e->make<aten::sum_dim_intlist>({.self = x.v, .dim = axes, .keepdim = true})};
    }
    static value shaped(emit<produces>& e, value v) {
        const int_list& shape = e.result_meta().shape;
        return e.shape(v) == shape ? v : e.make<aten::view>({.self = v, .size = shape});
    }
    static value norm(emit<produces>& e, value self, double p, int_list axes) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if (e.rank(self) == 0) {
            self = e.make<aten::view>({.self = self, .size = {1}});
            axes = int_list{0};
        }
        shape_builder all;
        for (std::size_t i = 0; i != e.rank(self); ++i) all.push_back(static_cast<std::int64_t>(i));
        if (axes.empty()) axes = int_list(all);
        const term x = formula::real(e, self);
        term y = x;
        if (p == 2) {
            y = sqrt(sum(x * x, axes));
        } else if (p == 1) {
            y = sum(abs(x), axes);
        } else if (p == infinity) {
            y = {&e, e.make<aten::amax>({.self = abs(x), .dim = axes, .keepdim = true})};
        } else if (p == -infinity) {
            y = {&e, e.make<aten::amin>({.self = abs(x), .dim = axes, .keepdim = true})};
        } else if (p == 0) {
            y = sum(where(x == 0, x.number(0), x.number(1)), axes);
        } else {
            y = power(sum(power(abs(x), p), axes), 1 / p);
        }
        return shaped(e, in_result_type(y));
    }
};

}  // namespace headrace

#endif
