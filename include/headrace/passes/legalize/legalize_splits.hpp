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
    using targets = ops<aten::split_tensor, aten::split_sizes, aten::split_with_sizes,
                        aten::unsafe_split_tensor, aten::unsafe_split_with_sizes, aten::chunk,
                        aten::tensor_split_sections, aten::tensor_split_indices, aten::unbind_int>;
    using produces = joined<build::slice_ops, build::reshape_ops>;

    template <one_of<targets> Op>
    value_list operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        value_list parts;
        std::int64_t start = 0;
        for (std::uint32_t i = 0; i != e.current().result_count && !e.failed(); ++i) {
            const int_list& shape = e.result_meta(i).shape;
            const bool keeps_axis = shape.size() == e.rank(a.self);  // unbind drops it
            const std::int64_t size = keeps_axis ? shape[axis] : 1;
            start = std::min(start_of(a, e, axis, i, start), e.shape(a.self)[axis] - size);
            parts.push_back(build::reshape(e, build::slice(e, a.self, axis, start, size), shape));
            start += size;
        }
        return parts;
    }

private:
    // Parts follow one another, except that indices may go back.
    template <class Args>
    static std::int64_t start_of(const Args& a, const emit<produces>& e, std::size_t axis, std::uint32_t i,
                                 std::int64_t start) {
        if constexpr (requires { a.indices; }) {
            return i == 0 ? 0 : clamped_slice(a.indices[i - 1], std::nullopt, e.shape(a.self)[axis]).start;
        } else {
            return start;
        }
    }
};

}  // namespace headrace

#endif
