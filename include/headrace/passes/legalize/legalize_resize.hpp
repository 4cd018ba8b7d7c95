// SPDX-License-Identifier: MIT
// Defines headrace::legalize_resize.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_RESIZE_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_RESIZE_HPP

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/resizing.hpp>

namespace headrace {

/// Lowers upsampling to RESIZE (TOSA 1.0, 2.11.1).
struct legalize_resize : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "upsampling by nearest or linear interpolation to RESIZE";
    using targeted_ops = joined<linear_ops, nearest_ops, nearest_exact_ops>;
    using produces = build::resize_ops;

    template <one_of<targeted_ops> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        if (!has_trait<Op>(trait::nearest) && !is_floating(e.result_meta().dtype)) {
            return e.unsupported(
                "TOSA's RESIZE gives interpolated integers another type; interpolate floats");
        }
        return build::resize<Op>(e, a).image;
    }
};
HEADRACE_COMPILED_PASS(legalize_resize);

}  // namespace headrace

#endif
