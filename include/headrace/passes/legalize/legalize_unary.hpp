// SPDX-License-Identifier: MIT
// Defines headrace::legalize_unary.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_UNARY_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_UNARY_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/pass/op_map.hpp>
#include <headrace/passes/legalize/integers.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers the elementwise functions that TOSA has under another name only (TOSA 1.0, 2.3 and 2.5). PyTorch
/// gives floats for integers: the operand is cast to the result's type first. Integers are their own floor
/// and ceiling; they are negated as 0 - x, and their absolute value is the larger of the two.
struct legalize_unary : pass {
    using phase = legalization;
    using table =
        op_map<becomes<aten::ceil, tosa::ceil>, becomes<aten::cos, tosa::cos>, becomes<aten::erf, tosa::erf>,
               becomes<aten::exp, tosa::exp>, becomes<aten::floor, tosa::floor>,
               becomes<aten::log, tosa::log>, becomes<aten::reciprocal, tosa::reciprocal>,
               becomes<aten::rsqrt, tosa::rsqrt>, becomes<aten::sigmoid, tosa::sigmoid>,
               becomes<aten::sin, tosa::sin>, becomes<aten::tanh, tosa::tanh>>;
    using targets = joined<table::keys, ops<aten::abs, aten::neg>>;
    using produces = joined<table::values, build::extremum_ops, ops<tosa::abs, tosa::negate, tosa::sub>>;

    template <one_of<table::keys> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const value operand = build::cast(e, a.self, build::narrowed(e.result_meta().dtype));
        if ((std::is_same_v<Op, aten::floor> ||
             std::is_same_v<Op, aten::ceil>)&&!is_floating(e.dtype(operand))) {
            return operand;
        }
        return e.make<table::at<Op>>(operand);
    }
    value operator()(aten::neg, const args<aten::neg>& a, emit<produces>& e) const {
        const dtype type = e.dtype(a.self);
        if (is_floating(type)) return build::negate(e, a.self);
        return build::cast(e, negated(e, build::widened(e, a.self)), type);
    }
    value operator()(aten::abs, const args<aten::abs>& a, emit<produces>& e) const {
        const dtype type = e.dtype(a.self);
        if (is_floating(type)) return e.make<tosa::abs>(a.self);
        if (is_boolean(type)) return a.self;
        const value wide = build::widened(e, a.self);
        if (build::allows<tosa::abs>(e, {dtype::int32, dtype::int32})) {
            return build::cast(e, e.make<tosa::abs>(wide), type);
        }
        return build::cast(e, build::extremum<tosa::maximum>(e, wide, negated(e, wide)), type);
    }

private:
    static value negated(emit<produces>& e, value v) {
        return e.make<tosa::sub>(e.splat(0, dtype::int32, e.rank(v)), v);
    }
};

}  // namespace headrace

#endif
