// SPDX-License-Identifier: MIT
// Defines headrace::decompose_rectifiers.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_RECTIFIERS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_RECTIFIERS_HPP

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// Activations that are linear in pieces (PyTorch, torch.nn): limits become clamp, and the others
///
///     hardsigmoid(x) = clamp(x + 3, 0, 6) / 6          hardswish(x) = x · hardsigmoid(x)
///     leaky_relu(x), prelu(x) = x where x > 0, else slope · x
///     threshold(x) = v where x <= t, else x            softshrink(x) = x - clamp(x, -λ, λ)
///     hardshrink(x) = 0 where |x| <= λ, else x
struct decompose_rectifiers : pass {
    using phase = function_decomposition;
    using targets =
        ops<aten::relu, aten::relu6, aten::hardtanh, aten::hardsigmoid, aten::hardswish, aten::leaky_relu,
            aten::prelu, aten::_prelu_kernel, aten::threshold, aten::softshrink, aten::hardshrink>;
    using produces = joined<formula_ops, ops<aten::view>>;

    value operator()(const args<aten::relu>& a, emit<produces>& e) const {
        return clamp(formula::term_of(e, a.self), 0, {});
    }
    value operator()(const args<aten::relu6>& a, emit<produces>& e) const {
        return clamp(formula::term_of(e, a.self), 0, 6);
    }
    value operator()(const args<aten::hardtanh>& a, emit<produces>& e) const {
        return in_result_type(clamp(formula::term_of(e, a.self), a.min_val, a.max_val));
    }
    value operator()(const args<aten::hardsigmoid>& a, emit<produces>& e) const {
        return in_result_type(clamp(formula::real(e, a.self) + 3, 0, 6) / 6);
    }
    value operator()(const args<aten::hardswish>& a, emit<produces>& e) const {
        const auto x = formula::real(e, a.self);
        return in_result_type(x * (clamp(x + 3, 0, 6) / 6));
    }
    value operator()(const args<aten::leaky_relu>& a, emit<produces>& e) const {
        const auto x = formula::term_of(e, a.self);
        return where(x > 0, x, x * a.negative_slope.to_double());
    }
    /// The slopes belong to axis 1.
    value operator()(const args<aten::prelu>& a, emit<produces>& e) const {
        const std::size_t rank = e.rank(a.self);
        shape_builder shape = shape_builder::filled(rank, 1);
        if (rank >= 2) shape[1] = e.meta(a.weight).elements();
        return rectified(e, a.self, e.make<aten::view>({.self = a.weight, .size = int_list(shape)}));
    }
    value operator()(const args<aten::_prelu_kernel>& a, emit<produces>& e) const {
        return rectified(e, a.self, a.weight);
    }
    value operator()(const args<aten::threshold>& a, emit<produces>& e) const {
        const auto x = formula::term_of(e, a.self);
        return where(x <= a.threshold.to_double(), a.value.to_double(), x);
    }
    value operator()(const args<aten::softshrink>& a, emit<produces>& e) const {
        const auto x = formula::term_of(e, a.self);
        return x - clamp(x, -a.lambd.to_double(), a.lambd.to_double());
    }
    value operator()(const args<aten::hardshrink>& a, emit<produces>& e) const {
        const auto x = formula::term_of(e, a.self);
        return where(abs(x) <= a.lambd.to_double(), 0, x);
    }

private:
    static value rectified(emit<produces>& e, value self, value slope) {
        const auto x = formula::term_of(e, self);
        return in_result_type(where(x > 0, x, x * formula::term_of(e, slope)));
    }
};

}  // namespace headrace

#endif
