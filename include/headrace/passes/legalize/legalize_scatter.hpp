// SPDX-License-Identifier: MIT
// Defines headrace::legalize_scatter.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_SCATTER_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_SCATTER_HPP

#include <algorithm>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/indexing.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers the ops that write or add by index along one axis to SCATTER (TOSA 1.0, 2.10.2), which wants each
/// index once, as PyTorch does where the result would else depend on the order. Adding allows repeats, and
/// sums by comparison.
struct legalize_scatter : pass {
    using phase = legalization;
    using targets =
        ops<aten::scatter_src, aten::scatter_value, aten::scatter_add, aten::index_copy, aten::index_add>;
    using produces = joined<build::scatter_ops, build::position_ops, build::accumulate_ops, build::slice_ops>;

    value operator()(const args<aten::scatter_src>& a, emit<produces>& e) const {
        return written(e, a.self, a.dim, a.index, a.src);
    }
    value operator()(const args<aten::scatter_value>& a, emit<produces>& e) const {
        const value one = e.splat(a.value, e.dtype(a.self), e.rank(a.self));
        return written(e, a.self, a.dim, a.index, build::broadcast(e, one, e.shape(a.index)));
    }
    value operator()(const args<aten::scatter_add>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        if (e.failed()) return {};
        const build::three_axes k = build::around(e.shape(a.self), axis);
        const build::three_axes w = build::around(e.shape(a.index), axis);
        const bool all_columns = k.before == w.before && k.after == w.after;
        if (!all_columns) return added_anywhere(e, a.self, axis, a.index, a.src);
        const shape_builder shape{w.before, w.size, w.after};
        return added(e, a.self, k, build::reshape(e, build::index_number(e, a.index), shape),
                     build::reshape(e, cut_to(e, a.src, e.shape(a.index)), shape));
    }
    value operator()(const args<aten::index_copy>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        if (e.failed()) return {};
        const build::three_axes k = build::around(e.shape(a.self), axis);
        const value values = build::reshape(e, a.self, shape_builder{k.before, k.size, k.after});
        const std::int64_t count = e.meta(a.index).elements();
        const value index = build::reshape(e, build::index_number(e, a.index), shape_builder{1, count});
        const value rows = build::reshape(e, a.source, shape_builder{k.before, count, k.after});
        return build::reshape(e, build::scatter(e, values, index, rows), e.shape(a.self));
    }
    value operator()(const args<aten::index_add>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        if (e.failed()) return {};
        const build::three_axes k = build::around(e.shape(a.self), axis);
        const std::int64_t count = e.meta(a.index).elements();
        const value index = build::reshape(e, build::index_number(e, a.index), shape_builder{1, count, 1});
        value rows = build::reshape(e, a.source, shape_builder{k.before, count, k.after});
        if (!(a.alpha.to_double() == 1)) {
            rows = build::binary<tosa::mul>(e, rows, e.splat(a.alpha, e.dtype(rows), 3));
        }
        return added(e, a.self, k, index, rows);
    }

private:
    static value added(emit<produces>& e, value self, const build::three_axes& k, value index, value rows) {
        const value values = build::reshape(e, self, shape_builder{k.before, k.size, k.after});
        return build::reshape(e, build::accumulate(e, values, index, rows), e.shape(self));
    }
    // The index covers only part of the other axes: every element has a position of its own.
    static value added_anywhere(emit<produces>& e, value self, std::size_t axis, value index, value source) {
        const auto at = build::positions_along(e, index, e.shape(self), axis);
        const std::int64_t each = e.meta(index).elements() / std::max<std::int64_t>(at.batches, 1);
        const value rows =
            build::reshape(e, cut_to(e, source, e.shape(index)), shape_builder{at.batches, each, 1});
        return added(e, self, {at.batches, at.batch_size, 1},
                     build::reshape(e, at.indices, shape_builder{at.batches, each, 1}), rows);
    }
    static value written(emit<produces>& e, value self, std::int64_t dim, value index, value source) {
        const std::size_t axis = build::axis_in(e, dim, e.rank(self));
        if (e.failed()) return {};
        const auto at = build::positions_along(e, index, e.shape(self), axis);
        const std::int64_t each = e.meta(index).elements() / std::max<std::int64_t>(at.batches, 1);
        const value values = build::reshape(e, self, shape_builder{at.batches, at.batch_size, 1});
        const value rows =
            build::reshape(e, cut_to(e, source, e.shape(index)), shape_builder{at.batches, each, 1});
        return build::reshape(e, build::scatter(e, values, at.indices, rows), e.shape(self));
    }
    // PyTorch reads only as much of the source as the index covers.
    static value cut_to(emit<produces>& e, value v, sizes shape) {
        for (std::size_t i = 0; i != shape.size(); ++i) v = build::slice(e, v, i, 0, shape[i]);
        return v;
    }
};

}  // namespace headrace

#endif
