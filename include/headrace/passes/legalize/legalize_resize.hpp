// SPDX-License-Identifier: MIT
// Defines headrace::legalize_resize.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_RESIZE_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_RESIZE_HPP

#include <headrace/passes/support/interpolating.hpp>

namespace headrace {

/// Lowers upsampling to RESIZE, of which Ethos-U55 has hardly any.
struct legalize_resize : pass {
    using targets = joined<linear_ops, nearest_ops, nearest_exact_ops>;
    using produces = build::sample_nearest_ops;

    template <one_of<targets> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        if constexpr (!one_of<Op, linear_ops>) {
            if (e.target().has(target_feature::u55)) return build::sample_nearest<Op>(e, a);
        }
        return build::resize<Op>(e, a).image;
    }
};

}  // namespace headrace

#endif
