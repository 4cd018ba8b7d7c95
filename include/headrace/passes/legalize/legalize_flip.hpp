// SPDX-License-Identifier: MIT
// Defines headrace::legalize_flip.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_FLIP_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_FLIP_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Lowers flip to REVERSE, one axis at a time (TOSA 1.0, 2.9.5).
struct legalize_flip : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "flip to REVERSE";
    using targeted_ops = ops<aten::flip>;
    using produces = build::reverse_ops;

    value operator()(const args<aten::flip>& a, emit<produces>& e) const {
        const auto axes = axes_of(a.dims, e.rank(a.self), no_axes::none);
        if (!axes) return e.fail(axes.error());
        value v = a.self;
        for (std::size_t i = 0; i != e.rank(a.self); ++i) {
            if (axes.value().contains(i)) v = build::reverse(e, v, i);
        }
        return v;
    }
};
HEADRACE_COMPILED_PASS(legalize_flip);

}  // namespace headrace

#endif
