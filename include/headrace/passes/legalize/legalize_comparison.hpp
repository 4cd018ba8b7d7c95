// SPDX-License-Identifier: MIT
// Defines headrace::legalize_comparison.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_COMPARISON_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_COMPARISON_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/pass/op_map.hpp>
#include <headrace/passes/legalize/integers.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers comparisons (TOSA 1.0, 2.7) of operands of the type that PyTorch promotes them to.
struct legalize_comparison : pass {
    using phase = legalization;
    using table = op_map<becomes<aten::eq_tensor, tosa::equal>, becomes<aten::gt_tensor, tosa::greater>,
                         becomes<aten::ge_tensor, tosa::greater_equal>>;
    using targets = table::keys;
    using produces = build::compare_ops;

    template <one_of<targets> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const dtype type = build::common_type(e, a.self, a.other);
        return build::compare<table::at<Op>>(e, build::cast(e, a.self, type), build::cast(e, a.other, type));
    }
};

}  // namespace headrace

#endif
