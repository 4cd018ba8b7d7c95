// SPDX-License-Identifier: MIT
// Defines headrace::legalize_concat.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_CONCAT_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_CONCAT_HPP

#include <memory_resource>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/casting.hpp>
#include <headrace/passes/support/reducing.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Lowers cat to CONCAT (TOSA 1.0, 2.9.1). Tensors without elements add nothing and are left out, as are the
/// empty tensors of rank 1 that torch.cat tolerates among others; operands are cast to their common type.
struct legalize_concat : pass {
    using phase = legalization;
    using targets = ops<aten::cat, aten::concat>;
    using produces = joined<build::concat_ops, build::reshape_ops, build::cast_ops>;

    template <one_of<targets> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const dtype type = build::lowered(e.result_meta().dtype);
        std::pmr::vector<value> parts;
        for (const value v : a.tensors) {
            if (e.meta(v).elements() != 0) parts.push_back(build::cast(e, v, type));
        }
        if (parts.empty()) {
            return e.unsupported(
                "it joins only empty tensors: TOSA has no empty tensors; drop it from the model");
        }
        return build::concat(e, parts, build::axis_in(e, a.dim, e.result_meta().rank()));
    }
};

}  // namespace headrace

#endif
