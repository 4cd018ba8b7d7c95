// SPDX-License-Identifier: MIT
// Defines headrace::legalize_scatter.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_SCATTER_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_SCATTER_HPP

#include <algorithm>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/indexing.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers ops that write or add by index along one axis to SCATTER (TOSA 1.0, 2.10.2), which requires
/// distinct indices, as PyTorch does if the result would otherwise depend on the order. Ops that add allow
/// repeats, and sum by comparison.
struct legalize_scatter : pass {
    using phase = legalization;
    static constexpr std::string_view summary =
        "scatter, index_copy and index_add to SCATTER, or sums by comparison";
    using targeted_ops =
        ops<aten::scatter_src, aten::scatter_value, aten::scatter_add, aten::index_copy, aten::index_add>;
    using produces = joined<build::scatter_ops, build::position_ops, build::accumulate_ops, build::slice_ops>;

    value operator()(const args<aten::scatter_src>& a, emit<produces>& e) const {
        return written(e, a.self, a.dim, a.index, a.src);
    }
    value operator()(const args<aten::scatter_value>& a, emit<produces>& e) const {
        const value one = e.splat(a.value, e.dtype(a.self), e.rank(a.index));
        return written(e, a.self, a.dim, a.index, build::broadcast(e, one, e.shape(a.index)));
    }
    value operator()(const args<aten::scatter_add>& a, emit<produces>& e) const {
        const value self = build::at_least_1d(e, a.self);
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(self));
        if (e.failed()) return {};
        const build::three_axes k = build::around(e.shape(self), axis);
        const value covered = build::at_least_1d(e, a.index);
        const build::three_axes w = build::around(e.shape(covered), axis);
        const value source = cut_to(e, build::at_least_1d(e, a.src), e.shape(covered));
        if (k.before == w.before && k.after == w.after) {
            return added(e, self, k, build::index_number(e, a.index), source, w);
        }
        // The index covers the other axes only in part, so every element has a position of its own.
        const auto at = build::positions_along(e, a.index, e.shape(self), axis);
        return added(e, self, {at.batches, at.batch_size, 1}, at.indices, source, {at.batches, at.count, 1});
    }
    value operator()(const args<aten::index_copy>& a, emit<produces>& e) const {
        const value self = build::at_least_1d(e, a.self);
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(self));
        if (e.failed()) return {};
        const build::three_axes k = build::around(e.shape(self), axis);
        const std::int64_t count = e.meta(a.index).elements();
        const value index = build::reshape(e, build::index_number(e, a.index), shape_builder{1, count});
        return replaced(e, self, k, index, a.source, count);
    }
    value operator()(const args<aten::index_add>& a, emit<produces>& e) const {
        const value self = build::at_least_1d(e, a.self);
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(self));
        if (e.failed()) return {};
        const build::three_axes k = build::around(e.shape(self), axis);
        const std::int64_t count = e.meta(a.index).elements();
        const value index = build::reshape(e, build::index_number(e, a.index), shape_builder{1, count, 1});
        value rows = build::reshape(e, a.source, shape_builder{k.before, count, k.after});
        if (a.alpha.to_double() != 1) rows = build::multiply(e, rows, e.splat(a.alpha, e.dtype(rows), 3));
        return added(e, self, k, index, rows);
    }

private:
    static value added(emit<produces>& e, value self, const build::three_axes& k, value index, value rows) {
        const value values = build::reshape(e, self, shape_builder{k.before, k.size, k.after});
        return build::reshape(e, build::accumulate(e, values, index, rows), e.result_meta().shape);
    }
    // Takes an index and a source with equally many elements, which are reshaped to [N, W, C].
    static value added(emit<produces>& e, value self, const build::three_axes& k, value index, value source,
        const build::three_axes& w) {
        const shape_builder shape{w.before, w.size, w.after};
        return added(e, self, k, build::reshape(e, index, shape), build::reshape(e, source, shape));
    }
    static value replaced(emit<produces>& e, value self, const build::three_axes& k, value index,
        value source, std::int64_t count) {
        const value values = build::reshape(e, self, shape_builder{k.before, k.size, k.after});
        const value rows = build::reshape(e, source, shape_builder{k.before, count, k.after});
        return build::reshape(e, build::scatter(e, values, index, rows), e.result_meta().shape);
    }
    static value written(emit<produces>& e, value self, std::int64_t dim, value index, value source) {
        self = build::at_least_1d(e, self);
        index = build::at_least_1d(e, index);
        source = build::at_least_1d(e, source);
        const std::size_t axis = build::axis_in(e, dim, e.rank(self));
        if (e.failed()) return {};
        const auto at = build::positions_along(e, index, e.shape(self), axis);
        return replaced(
            e, self, {at.batches, at.batch_size, 1}, at.indices, cut_to(e, source, e.shape(index)), at.count);
    }
    // PyTorch reads only the part of the source that the index covers.
    static value cut_to(emit<build::slice_ops> e, value v, sizes shape) {
        for (std::size_t i = 0; i != shape.size(); ++i) v = build::slice(e, v, i, 0, shape[i]);
        return v;
    }
};
HEADRACE_COMPILED_PASS(legalize_scatter);

}  // namespace headrace

#endif
