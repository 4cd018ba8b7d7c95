// SPDX-License-Identifier: MIT
// Defines headrace::legalize_logical.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_LOGICAL_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_LOGICAL_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/pass/op_map.hpp>
#include <headrace/passes/legalize/integers.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers logic (TOSA 1.0, 2.4 and 2.5). What is not 0 counts as true.
struct legalize_logical : pass {
    using phase = legalization;
    using table =
        op_map<becomes<aten::logical_and, tosa::logical_and>, becomes<aten::logical_or, tosa::logical_or>,
               becomes<aten::logical_xor, tosa::logical_xor>>;
    using targets = joined<table::keys, ops<aten::logical_not>>;
    using produces = joined<table::values, build::reshape_ops, build::cast_ops>;

    template <one_of<table::keys> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return build::binary<table::at<Op>>(e, build::cast(e, a.self, dtype::boolean),
                                            build::cast(e, a.other, dtype::boolean));
    }
    value operator()(aten::logical_not, const args<aten::logical_not>& a, emit<produces>& e) const {
        return e.make<tosa::logical_not>(build::cast(e, a.self, dtype::boolean));
    }
};

}  // namespace headrace

#endif
