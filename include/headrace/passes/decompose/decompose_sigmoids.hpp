// SPDX-License-Identifier: MIT
// Defines headrace::decompose_sigmoids.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_SIGMOIDS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_SIGMOIDS_HPP

#include <numbers>

#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// Activations made of the logistic function and its logarithm (PyTorch, torch.nn):
///
///     silu(x) = x · sigmoid(x)                        glu(a, b) = a · sigmoid(b), a and b the halves of an
///     axis softplus(x) = log(1 + exp(βx)) / β, or x where βx is above the threshold mish(x) = x ·
///     tanh(softplus(x)) = x · n / (n + 2) with n = exp(x) · (exp(x) + 2) log_sigmoid(x) = min(x, 0) - log(1
///     + exp(-|x|)) logit(x) = log(x / (1 - x)), x first limited to [ε, 1 - ε] if ε is given
struct decompose_sigmoids : pass {
    using targets = ops<aten::silu, aten::mish, aten::softplus, aten::log_sigmoid, aten::log_sigmoid_forward,
                        aten::logit, aten::glu>;
    using produces = joined<formula_ops, ops<aten::slice_tensor>>;

    value operator()(const args<aten::silu>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        return in_result_type(x * sigmoid(x));
    }
    value operator()(const args<aten::mish>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        const auto power = exp(min(x, 20));  // from there on the fraction is 1
        const auto n = power * (power + 2);
        return in_result_type(x * (n / (n + 2)));
    }
    value operator()(const args<aten::softplus>& a, emit<produces>& e) const {
        const double beta = a.beta.to_double();
        const auto x = formula::real(e, a.self);
        const auto scaled = beta == 1 ? x : x * beta;
        const auto y = max(scaled, 0) + log(exp(-abs(scaled)) + 1);
        return in_result_type(where(scaled > a.threshold.to_double(), x, beta == 1 ? y : y / beta));
    }
    value operator()(const args<aten::log_sigmoid>& a, emit<produces>& e) const {
        return in_result_type(log_of_sigmoid(formula::real(e, a.self)));
    }
    /// The second result serves the gradient only.
    std::tuple<value, value> operator()(const args<aten::log_sigmoid_forward>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        return {in_result_type(log_of_sigmoid(x)), in_result_type(exp(-abs(x)), 1)};
    }
    value operator()(const args<aten::logit>& a, emit<produces>& e) const {
        const auto self =
            is_floating(e.dtype(a.self)) ? formula::term_of(e, a.self) : formula::real(e, a.self);
        const auto x = formula::real(e, a.eps ? clamp(self, *a.eps, 1 - *a.eps) : self);
        return in_result_type(log(x / (1 - x)));
    }
    value operator()(const args<aten::glu>& a, emit<produces>& e) const {
        const auto axis = normalized_axis(a.dim, e.rank(a.self));
        if (!axis) return e.unsupported("glu: axis out of range");
        const std::int64_t size = e.shape(a.self)[*axis];
        const auto half = [&](std::int64_t start, std::int64_t end) {
            const auto dim = static_cast<std::int64_t>(*axis);
            return formula::real(
                e, e.make<aten::slice_tensor>({.self = a.self, .dim = dim, .start = start, .end = end}));
        };
        return in_result_type(half(0, size / 2) * sigmoid(half(size / 2, size)));
    }

private:
    template <class Term>
    static Term log_of_sigmoid(const Term& x) {
        return min(x, 0) - log(exp(-abs(x)) + 1);
    }
};

}  // namespace headrace

#endif
