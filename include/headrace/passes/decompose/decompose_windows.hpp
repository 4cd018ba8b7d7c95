// SPDX-License-Identifier: MIT
// Defines headrace::decompose_windows.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_WINDOWS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_WINDOWS_HPP

#include <memory_resource>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// unfold(x, d, size, step)[…, u, …, c] = x[…, u * step + c, …]: windows that tile the axis are a view;
/// overlapping ones are taken by index, all at once. The window's axis then moves to the end.
struct decompose_windows : pass {
    using phase = decomposition;
    using targets = ops<aten::unfold>;
    using produces = ops<aten::narrow, aten::index_select, aten::reshape, aten::movedim_int>;

    value operator()(const args<aten::unfold>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dimension, e.rank(a.self));
        if (e.failed() || e.rank(a.self) == 0) return e.unsupported("unfold of a single number; use reshape");
        if (a.step < 1 || a.size < 1 || a.size > e.shape(a.self)[axis]) {
            return e.unsupported("windows must have elements, step on, and fit in the axis");
        }
        const std::int64_t windows = (e.shape(a.self)[axis] - a.size) / a.step + 1;
        const auto dim = static_cast<std::int64_t>(axis);
        const value taken =
            a.size == a.step
                ? e.make<aten::narrow>({.self = a.self, .dim = dim, .start = 0, .length = windows * a.size})
                : e.make<aten::index_select>({.self = a.self, .dim = dim, .index = places(e, windows, a)});
        const std::int64_t apart[] = {windows, a.size};
        const shape_builder shape = build::with_axes(e.shape(a.self), axis, 1, apart);
        const value split = e.make<aten::reshape>({.self = taken, .shape = int_list(shape)});
        return e.make<aten::movedim_int>({.self = split, .source = dim + 1, .destination = -1});
    }

private:
    static value places(emit<produces>& e, std::int64_t windows, const args<aten::unfold>& a) {
        std::pmr::vector<std::int32_t> at;
        for (std::int64_t u = 0; u != windows; ++u) {
            for (std::int64_t c = 0; c != a.size; ++c)
                at.push_back(static_cast<std::int32_t>(u * a.step + c));
        }
        const auto count = static_cast<std::int64_t>(at.size());
        return e.constant<std::int32_t>(dtype::int32, sizes(&count, 1), at);
    }
};

}  // namespace headrace

#endif
