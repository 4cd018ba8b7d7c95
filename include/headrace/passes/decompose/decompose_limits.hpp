// SPDX-License-Identifier: MIT
// Defines headrace::decompose_limits.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_LIMITS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_LIMITS_HPP

#include <type_traits>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// clamp with tensors as limits is min(max(x, low), high); clamp_min and clamp_max with numbers are clamp
/// with one. fmax and fmin pass over NaN: they take the other operand.
struct decompose_limits : pass {
    using phase = function_decomposition;
    using targets = ops<aten::clamp_tensor, aten::clamp_min_tensor, aten::clamp_max_tensor, aten::clamp_min,
                        aten::clamp_max, aten::fmax, aten::fmin>;
    using produces =
        ops<aten::maximum, aten::minimum, aten::clamp, aten::_to_copy, aten::eq_tensor, aten::where_self>;

    value operator()(const args<aten::clamp_tensor>& a, emit<produces>& e) const {
        value v = a.self;
        if (a.min) v = e.make<aten::maximum>(v, *a.min);
        if (a.max) v = e.make<aten::minimum>(v, *a.max);
        return in_result_type(formula::term_of(e, v));
    }
    value operator()(const args<aten::clamp_min_tensor>& a, emit<produces>& e) const {
        return e.make<aten::maximum>(a.self, a.min);
    }
    value operator()(const args<aten::clamp_max_tensor>& a, emit<produces>& e) const {
        return e.make<aten::minimum>(a.self, a.max);
    }
    value operator()(const args<aten::clamp_min>& a, emit<produces>& e) const {
        return e.make<aten::clamp>({.self = a.self, .min = a.min});
    }
    value operator()(const args<aten::clamp_max>& a, emit<produces>& e) const {
        return e.make<aten::clamp>({.self = a.self, .max = a.max});
    }
    template <one_of<ops<aten::fmax, aten::fmin>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        using extremum = std::conditional_t<std::is_same_v<Op, aten::fmax>, aten::maximum, aten::minimum>;
        const dtype type = e.result_meta().dtype;
        const auto x = formula::as(formula::term_of(e, a.self), type);
        const auto y = formula::as(formula::term_of(e, a.other), type);
        const auto both = formula::term_of(e, e.make<extremum>(x.v, y.v));
        return is_floating(type) ? where(x == x, where(y == y, both, x), y).v : both.v;
    }
};

}  // namespace headrace

#endif
