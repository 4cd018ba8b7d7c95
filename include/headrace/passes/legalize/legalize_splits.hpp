// SPDX-License-Identifier: MIT
// Defines headrace::legalize_splits.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_SPLITS_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_SPLITS_HPP

#include <algorithm>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Lowers ops that split an axis into several tensors to one SLICE for each (TOSA 1.0, 2.9.6). The sizes of
/// the parts are those of the results.
struct legalize_splits : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "split, chunk and unbind to SLICE";
    using targeted_ops = ops<aten::split_tensor, aten::split_sizes, aten::split_with_sizes,
        aten::unsafe_split_tensor, aten::unsafe_split_with_sizes, aten::chunk, aten::tensor_split_sections,
        aten::tensor_split_indices, aten::unbind_int>;
    using produces = joined<build::slice_ops, build::reshape_ops>;

    template <one_of<targeted_ops> Op>
    value_list operator()(Op, const args<Op>& a, emit<produces>& e) const {
        if constexpr (requires { a.indices; }) {
            return parts_of(a.self, a.dim, &a.indices, e);
        } else {
            return parts_of(a.self, a.dim, nullptr, e);
        }
    }

private:
    // Parts begin at `indices`, or each where the one before ends.
    static value_list parts_of(value v, std::int64_t dim, const int_list* indices, emit<produces>& e) {
        const std::size_t axis = build::axis_in(e, dim, e.rank(v));
        value_list parts;
        std::int64_t start = 0;
        for (std::uint32_t i = 0; i != e.current().result_count && !e.failed(); ++i) {
            const int_list& shape = e.result_meta(i).shape;
            const std::int64_t available = e.shape(v)[axis];
            const std::int64_t size = shape.size() == e.rank(v) ? shape[axis] : 1;  // unbind drops the axis
            if (indices != nullptr) start = part_start(*indices, i, available);
            start = std::min(start, available - size);
            parts.push_back(build::reshape(e, build::slice(e, v, axis, start, size), shape));
            start += size;
        }
        return parts;
    }
};
HEADRACE_COMPILED_PASS(legalize_splits);

}  // namespace headrace

#endif
