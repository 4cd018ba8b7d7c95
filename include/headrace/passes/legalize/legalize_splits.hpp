// SPDX-License-Identifier: MIT
// Defines headrace::legalize_splits.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_SPLITS_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_SPLITS_HPP

#include <algorithm>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Lowers the ops that cut an axis into several tensors to one SLICE for each (TOSA 1.0, 2.9.6). The sizes of
/// the parts are those of the results.
struct legalize_splits : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "split, chunk and unbind to SLICE";
    using targeted_ops = ops<aten::split_tensor, aten::split_sizes, aten::split_with_sizes,
                             aten::unsafe_split_tensor, aten::unsafe_split_with_sizes, aten::chunk,
                             aten::tensor_split_sections, aten::tensor_split_indices, aten::unbind_int>;
    using produces = joined<build::slice_ops, build::reshape_ops>;

    template <one_of<targeted_ops> Op>
    value_list operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        value_list parts;
        std::int64_t start = 0;
        for (std::uint32_t i = 0; i != e.current().result_count && !e.failed(); ++i) {
            const int_list& shape = e.result_meta(i).shape;
            const std::int64_t available = e.shape(a.self)[axis];
            const std::int64_t size = shape.size() == e.rank(a.self) ? shape[axis] : 1;  // unbind drops it
            if constexpr (requires { a.indices; }) start = part_start(a.indices, i, available);
            start = std::min(start, available - size);
            parts.push_back(build::reshape(e, build::slice(e, a.self, axis, start, size), shape));
            start += size;
        }
        return parts;
    }
};
HEADRACE_COMPILED_PASS(legalize_splits);

}  // namespace headrace

#endif
