// SPDX-License-Identifier: MIT
// Defines headrace::legalize_binary.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_BINARY_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_BINARY_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/pass/op_map.hpp>
#include <headrace/passes/legalize/integers.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

struct decompose_division;
/// Lowers arithmetic of two tensors (TOSA 1.0, 2.4). Operands are first cast to the type that PyTorch
/// promotes them to. Short integers are computed in 32 bits and cut back, which is how they wrap around in
/// PyTorch. The sum of booleans is their `or`, the product their `and`. Integers divided toward zero are
/// INTDIV.
struct legalize_binary : pass {
    using phase = legalization;
    using runs_after = pass_list<unit_alpha, decompose_division>;
    using table = op_map<becomes<aten::add_tensor, tosa::add>, becomes<aten::sub_tensor, tosa::sub>,
                         becomes<aten::mul_tensor, tosa::mul>>;
    using extrema = op_map<becomes<aten::maximum, tosa::maximum>, becomes<aten::minimum, tosa::minimum>>;
    using targets = joined<table::keys, extrema::keys, ops<aten::div_tensor_mode, aten::pow_tensor_tensor>>;
    using produces = joined<table::values, build::extremum_ops, ops<tosa::intdiv, tosa::pow>>;

    template <one_of<table::keys> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const dtype type = build::common_type(e, a.self, a.other);
        const value x = build::cast(e, a.self, type);
        const value y = build::cast(e, a.other, type);
        if (is_boolean(type)) {
            if (std::is_same_v<Op, aten::add_tensor>) return build::binary<tosa::logical_or>(e, x, y);
            if (std::is_same_v<Op, aten::mul_tensor>) return build::binary<tosa::logical_and>(e, x, y);
            return e.unsupported("sub: PyTorch does not subtract booleans");
        }
        return build::cast(e, build::binary<table::at<Op>>(e, build::widened(e, x), build::widened(e, y)),
                           type);
    }
    template <one_of<extrema::keys> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const dtype type = build::common_type(e, a.self, a.other);
        return build::extremum<extrema::at<Op>>(e, build::cast(e, a.self, type),
                                                build::cast(e, a.other, type));
    }
    value operator()(aten::pow_tensor_tensor, const args<aten::pow_tensor_tensor>& a,
                     emit<produces>& e) const {
        const dtype type = build::common_type(e, a.self, a.exponent);
        if (!is_floating(type)) return e.unsupported("pow: TOSA's POW takes floating-point operands only");
        return build::binary<tosa::pow>(e, build::cast(e, a.self, type), build::cast(e, a.exponent, type));
    }
    value operator()(aten::div_tensor_mode, const args<aten::div_tensor_mode>& a, emit<produces>& e) const {
        const dtype type = build::common_type(e, a.self, a.other);
        if (!is_integral(type)) return e.unsupported("div: only integers can be divided toward zero here");
        const auto operand = [&](value v) { return build::widened(e, build::cast(e, v, type)); };
        return build::cast(e, build::binary<tosa::intdiv>(e, operand(a.self), operand(a.other)), type);
    }
};

}  // namespace headrace

#endif
