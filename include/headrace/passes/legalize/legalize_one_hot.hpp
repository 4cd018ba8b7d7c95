// SPDX-License-Identifier: MIT
// Defines headrace::legalize_one_hot.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_ONE_HOT_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_ONE_HOT_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/indexing.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// one_hot(i, n)[…, k] = (i == k), for a known number of classes.
struct legalize_one_hot : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "one_hot to a comparison with the numbers of the classes";
    using targeted_ops = ops<aten::one_hot>;
    using produces = joined<build::reshape_ops, build::widen_ops, ops<tosa::equal>>;

    value operator()(const args<aten::one_hot>& a, emit<produces>& e) const {
        if (a.num_classes < 1) return e.unsupported("num_classes depends on data; give it as a number");
        const dtype key = build::number_for_bool(e);
        shape_builder shape(e.shape(a.self));
        shape.push_back(1);
        const value wanted = build::reshape(e, build::widen(e, a.self, key), shape);
        const value classes = build::iota(e, a.num_classes, 1, shape.size() - 1, shape.size(), key);
        const value hot = build::as_number(e, e.make<tosa::equal>(wanted, classes));
        return build::cast_directly(e, hot, dtype::int32);  // exact: 0 or 1
    }
};
HEADRACE_COMPILED_PASS(legalize_one_hot);

}  // namespace headrace

#endif
