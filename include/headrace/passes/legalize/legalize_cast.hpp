// SPDX-License-Identifier: MIT
// Defines headrace::legalize_cast.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_CAST_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_CAST_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/integers.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers casts (TOSA 1.0, 2.12.1).
struct legalize_cast : pass {
    using phase = legalization;
    using runs_after = pass_list<canonical_casts>;
    using targets = ops<aten::_to_copy>;
    using produces = build::cast_ops;

    value operator()(const args<aten::_to_copy>& a, emit<produces>& e) const {
        return build::cast(e, a.self, build::narrowed(e.result_meta().dtype));
    }
};

}  // namespace headrace

#endif
