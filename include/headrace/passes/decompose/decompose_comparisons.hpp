// SPDX-License-Identifier: MIT
// Defines headrace::decompose_comparisons.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_COMPARISONS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_COMPARISONS_HPP

#include <optional>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// TOSA compares with EQUAL, GREATER and GREATER_EQUAL only (spec 2.7): a < b is b > a, a <= b is b >= a, and
/// a != b is not (a == b), for NaN, too. A real number counts as true where it is not 0: said as a
/// comparison, that holds of quantized numbers as well.
struct decompose_comparisons : pass {
    using phase = function_decomposition;
    using connectives = ops<aten::logical_and, aten::logical_or, aten::logical_xor>;
    using reductions =
        ops<aten::any, aten::any_dim, aten::any_dims, aten::all, aten::all_dim, aten::all_dims>;
    using targets =
        joined<ops<aten::lt_tensor, aten::le_tensor, aten::ne_tensor, aten::logical_not, aten::_to_copy>,
               connectives, reductions>;
    using produces = joined<ops<aten::gt_tensor, aten::ge_tensor, aten::eq_tensor, aten::logical_not>,
                            connectives, reductions>;

    value operator()(const args<aten::lt_tensor>& a, emit<produces>& e) const {
        return e.make<aten::gt_tensor>(a.other, a.self);
    }
    value operator()(const args<aten::le_tensor>& a, emit<produces>& e) const {
        return e.make<aten::ge_tensor>(a.other, a.self);
    }
    value operator()(const args<aten::ne_tensor>& a, emit<produces>& e) const {
        return e.make<aten::logical_not>(e.make<aten::eq_tensor>(a.self, a.other));
    }
    std::optional<value> operator()(const args<aten::logical_not>& a, emit<produces>& e) const {
        if (!is_floating(e.dtype(a.self))) return std::nullopt;
        return is_zero(e, a.self);
    }
    std::optional<value> operator()(const args<aten::_to_copy>& a, emit<produces>& e) const {
        if (!is_floating(e.dtype(a.self)) || !is_boolean(e.result_meta().dtype)) return std::nullopt;
        return truth_of(e, a.self);
    }
    template <one_of<connectives> Op>
    std::optional<value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        if (!is_floating(e.dtype(a.self)) && !is_floating(e.dtype(a.other))) return std::nullopt;
        return e.make<Op>(truth_of(e, a.self), truth_of(e, a.other));
    }
    template <one_of<reductions> Op>
    std::optional<value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        if (!is_floating(e.dtype(a.self))) return std::nullopt;
        args<Op> of_truth = a;
        of_truth.self = truth_of(e, a.self);
        return e.make<Op>(of_truth);
    }

private:
    static value is_zero(emit<produces>& e, value v) {
        return e.make<aten::eq_tensor>(v, e.splat(0.0, e.dtype(v), e.rank(v)));
    }
    static value truth_of(emit<produces>& e, value v) {
        return is_floating(e.dtype(v)) ? e.make<aten::logical_not>(is_zero(e, v)) : v;
    }
};

}  // namespace headrace

#endif
