// SPDX-License-Identifier: MIT
// Defines headrace::legalize_index.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_INDEX_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_INDEX_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/tensor_indices.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers x[indices] to GATHER of rows (TOSA 1.0, 2.10.1). The indexed axes are brought together and merged;
/// the row is the sum of the indices times their strides; negative indices count from the end. As in PyTorch
/// and NumPy, the axes of indices that are not adjacent come first in the result.
struct legalize_index : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "x[indices] to GATHER";
    using targeted_ops = ops<aten::index_tensor, aten::_unsafe_index_tensor>;
    using produces = joined<build::indexed_ops, build::gather_ops>;

    template <one_of<targeted_ops> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        if (e.result_meta().elements() == 0) {
            return e.unsupported("it takes no elements: TOSA has no empty tensors; drop it from the model");
        }
        const build::tensor_index_list given = build::without_masks(e, a.indices);
        if (e.failed()) return {};
        if (build::axes_indexed(given).empty()) return a.self;
        const build::indexed_rows at = build::rows_at(e, a.self, given);
        return build::reshape(e, build::gather(e, at.values, at.rows), e.result_meta().shape);
    }
};
HEADRACE_COMPILED_PASS(legalize_index);

}  // namespace headrace

#endif
