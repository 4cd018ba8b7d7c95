// SPDX-License-Identifier: MIT
// Defines headrace::legalize_where.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_WHERE_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_WHERE_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/integers.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers where to SELECT (TOSA 1.0, 2.6.1), of operands of the type that PyTorch promotes them to.
struct legalize_where : pass {
    using phase = legalization;
    using targets = ops<aten::where_self>;
    using produces = joined<build::cast_ops, build::select_ops>;

    value operator()(const args<aten::where_self>& a, emit<produces>& e) const {
        const dtype type = build::common_type(e, a.self, a.other);
        return build::select(e, build::cast(e, a.condition, dtype::boolean), build::cast(e, a.self, type),
                             build::cast(e, a.other, type));
    }
};

}  // namespace headrace

#endif
