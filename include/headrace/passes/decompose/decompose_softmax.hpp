// SPDX-License-Identifier: MIT
// Defines headrace::decompose_softmax.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_SOFTMAX_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_SOFTMAX_HPP

#include <limits>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// Along an axis, with m the largest x, so that no exponential overflows:
///
///     softmax(x) = exp(x - m) / sum(exp(x - m))        log_softmax(x) = x - m - log(sum(exp(x - m)))
///     logsumexp(x) = m + log(sum(exp(x - m)))
///
/// _safe_softmax gives 0 where all x are -infinity, and softmax NaN, as PyTorch does.
struct decompose_softmax : pass {
    using phase = decomposition;
    using targets = ops<aten::softmax_int, aten::_softmax, aten::_safe_softmax, aten::log_softmax_int,
                        aten::_log_softmax, aten::logsumexp>;
    using produces = joined<formula_ops, ops<aten::amax, aten::sum_dim_intlist, aten::view>>;

    template <one_of<targets> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        auto x = formula::real(e, a.self);
        if (e.rank(a.self) == 0) x = {&e, e.make<aten::view>({.self = x, .size = {1}})};
        const auto largest = maximum(x, {a.dim});
        const auto shifted = x - largest;
        const auto powers = exp(shifted);
        const auto total = sum(powers, {a.dim});
        auto y = powers;
        if constexpr (one_of<Op, ops<aten::log_softmax_int, aten::_log_softmax>>) {
            y = shifted - log(total);
        } else {
            y = powers / total;
        }
        if constexpr (std::is_same_v<Op, aten::_safe_softmax>) {
            y = where(largest == -std::numeric_limits<double>::infinity(), 0, y);
        }
        return shaped(in_result_type(y), e);
    }
    value operator()(aten::logsumexp, const args<aten::logsumexp>& a, emit<produces>& e) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        auto x = formula::real(e, a.self);
        if (e.rank(a.self) == 0) x = {&e, e.make<aten::view>({.self = x, .size = {1}})};
        const int_list axes = e.rank(a.self) == 0 ? int_list{0} : a.dim;
        const auto largest = maximum(x, axes);
        const auto shift = where(abs(largest) == infinity, 0, largest);  // infinity - infinity would be NaN
        return shaped(in_result_type(log(sum(exp(x - shift), axes)) + shift), e);
    }

private:
    template <class Term>
    static Term maximum(const Term& x, const int_list& axes) {
        return {x.e, x.e->template make<aten::amax>({.self = x.v, .dim = axes, .keepdim = true})};
    }
    template <class Term>
    static Term sum(const Term& x, const int_list& axes) {
        return {x.e, x.e->template make<aten::sum_dim_intlist>({.self = x.v, .dim = axes, .keepdim = true})};
    }
    static value shaped(value v, emit<produces>& e) {
        const int_list& shape = e.result_meta().shape;
        return e.shape(v) == shape ? v : e.make<aten::view>({.self = v, .size = shape});
    }
};

}  // namespace headrace

#endif
