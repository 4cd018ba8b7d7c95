// SPDX-License-Identifier: MIT
// Defines headrace::decompose_fused_arithmetic.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_FUSED_ARITHMETIC_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_FUSED_ARITHMETIC_HPP

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// addcmul = self + v·a·b, addcdiv = self + v·a/b, and lerp = self + w·(end - self), which PyTorch computes
/// from the nearer end: for |w| >= 1/2 as end - (end - self)·(1 - w).
struct decompose_fused_arithmetic : pass {
    using phase = function_decomposition;
    using targets = ops<aten::addcmul, aten::addcdiv, aten::lerp_scalar, aten::lerp_tensor>;
    using produces = formula_ops;

    value operator()(const args<aten::addcmul>& a, emit<produces>& e) const {
        const auto in = [&](value v) { return computed(e, v); };
        return in_result_type(in(a.self) + scaled(in(a.tensor1) * in(a.tensor2), a.value.to_double()));
    }
    value operator()(const args<aten::addcdiv>& a, emit<produces>& e) const {
        const auto in = [&](value v) { return formula::real(e, v); };
        return in_result_type(in(a.self) + scaled(in(a.tensor1) / in(a.tensor2), a.value.to_double()));
    }
    value operator()(const args<aten::lerp_scalar>& a, emit<produces>& e) const {
        const auto start = formula::real(e, a.self);
        const auto end = formula::real(e, a.end);
        const double w = a.weight.to_double();
        return in_result_type(std::abs(w) < 0.5 ? start + (end - start) * w : end - (end - start) * (1 - w));
    }
    value operator()(const args<aten::lerp_tensor>& a, emit<produces>& e) const {
        const auto start = formula::real(e, a.self);
        const auto end = formula::real(e, a.end);
        const auto w = formula::real(e, a.weight);
        const auto way = end - start;
        return in_result_type(where(abs(w) < 0.5, start + w * way, end - way * (1 - w)));
    }

private:
    static formula::term<emit<produces>> computed(emit<produces>& e, value v) {
        const dtype type = e.result_meta().dtype;
        return as(formula::term_of(e, v), is_floating(type) ? dtype::float32 : type);
    }
    template <class Term>
    static Term scaled(const Term& x, double by) {
        return by == 1 ? x : x * by;
    }
};

}  // namespace headrace

#endif
