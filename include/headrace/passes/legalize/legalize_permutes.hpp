// SPDX-License-Identifier: MIT
// Defines headrace::legalize_permutes.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_PERMUTES_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_PERMUTES_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/axis_order.hpp>
#include <headrace/passes/support/permuting.hpp>

namespace headrace {

/// Lowers every op that permutes axes to TRANSPOSE (TOSA 1.0, 2.9.8), or to RESHAPE if only axes of size 1
/// move. If the rank exceeds TOSA's limit, axes that move together are merged.
struct legalize_permutes : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "permute, transpose, t and movedim to TRANSPOSE";
    using targeted_ops =
        ops<aten::permute, aten::transpose_int, aten::t, aten::movedim_int, aten::movedim_intlist>;
    using produces = build::permute_ops;

    template <one_of<targeted_ops> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const result<shape_builder> order = build::order_of(a, e.rank(a.self));
        if (!order) return e.fail(order.error());
        return build::permute(e, a.self, order.value());
    }
};
HEADRACE_COMPILED_PASS(legalize_permutes);

}  // namespace headrace

#endif
