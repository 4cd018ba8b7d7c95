// SPDX-License-Identifier: MIT
// Defines headrace::reduced_axes and headrace::build::reduce, shared by the lowerings of reductions.
#ifndef HEADRACE_PASSES_SUPPORT_REDUCING_HPP
#define HEADRACE_PASSES_SUPPORT_REDUCING_HPP

#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/narrowing.hpp>

namespace headrace {

/// Returns the axes that a reduction's arguments name: `dim` may be one axis, a list, empty, or missing.
template <class Args>
[[nodiscard]] result<axis_set> reduced_axes(const Args& a, std::size_t rank, no_axes empty = no_axes::all) {
    [[maybe_unused]] const auto axes_in = [&](const auto& dim) {
        if constexpr (requires { dim.size(); }) {
            return axes_of(sizes(dim), rank, empty);
        } else {
            return axes_of(sizes(&dim, 1), rank, empty);
        }
    };
    if constexpr (!requires { a.dim; }) {
        return axis_set::all(rank);
    } else if constexpr (requires { a.dim.has_value(); }) {
        return a.dim ? axes_in(*a.dim) : axis_set::all(rank);
    } else {
        return axes_in(a.dim);
    }
}

namespace build {

/// Returns the dtype of sums and products: 32 bits, as PyTorch uses for narrower dtypes.
[[nodiscard]] constexpr dtype summing_type(dtype t) {
    if (!is_floating(t)) return dtype::int32;
    return t == dtype::float64 ? t : dtype::float32;
}

/// Calls `step(v, axis)`, which reduces an axis to size 1, for each axis that the arguments name and whose
/// size is not 1, starting with the last. The result has the shape of the node's result.
inline value reduce(emit<reshape_ops> e, value v, const result<axis_set>& axes,
    function_ref<value(value, std::size_t)> step) {
    if (!axes) return e.fail(axes.error());
    for (std::size_t i = e.rank(v); i-- != 0;) {
        if (axes.value().contains(i) && v && e.shape(v)[i] != 1) v = step(v, i);
    }
    return reshape(e, v, e.result_meta().shape);
}
template <class Args>
value reduce(emit<reshape_ops> e, value v, const Args& a, function_ref<value(value, std::size_t)> step,
    no_axes empty = no_axes::all) {
    return reduce(e, v, reduced_axes(a, e.rank(v), empty), step);
}

}  // namespace build
}  // namespace headrace

#endif
