// SPDX-License-Identifier: MIT
// Defines headrace::legalize_unary.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_UNARY_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_UNARY_HPP

#include <headrace/op/aten.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/op_map.hpp>

namespace headrace {

/// Lowers the elementwise functions that TOSA has under another name only (TOSA 1.0, 2.3 and 2.5). PyTorch gives
/// floats for integers: the operand is cast to the result's type first.
struct legalize_unary : pass {
    using table = op_map<becomes<aten::abs, tosa::abs>, becomes<aten::ceil, tosa::ceil>, becomes<aten::cos, tosa::cos>,
                         becomes<aten::erf, tosa::erf>, becomes<aten::exp, tosa::exp>,
                         becomes<aten::floor, tosa::floor>, becomes<aten::log, tosa::log>,
                         becomes<aten::reciprocal, tosa::reciprocal>, becomes<aten::rsqrt, tosa::rsqrt>,
                         becomes<aten::sigmoid, tosa::sigmoid>, becomes<aten::sin, tosa::sin>,
                         becomes<aten::tanh, tosa::tanh>>;
    using targets = table::keys;
    using produces = joined<table::values, build::cast_ops>;

    template <one_of<targets> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const value operand = build::cast(e, a.self, e.result_meta().dtype);
        // Integers are their own floor and ceiling.
        if ((std::is_same_v<Op, aten::floor> || std::is_same_v<Op, aten::ceil>) && !is_floating(e.dtype(operand))) {
            return operand;
        }
        return e.make<table::at<Op>>(operand);
    }
};

}  // namespace headrace

#endif
