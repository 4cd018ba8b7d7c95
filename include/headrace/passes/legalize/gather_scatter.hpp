// SPDX-License-Identifier: MIT
// Defines the passes that read and write elements by index along one axis, and one_hot.
#ifndef HEADRACE_PASSES_LEGALIZE_GATHER_SCATTER_HPP
#define HEADRACE_PASSES_LEGALIZE_GATHER_SCATTER_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/indexing.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers ops that select rows or elements by index to GATHER (TOSA 1.0, 2.10.1). Whole rows are [N, K, C],
/// where N and C are the axes before and after the indexed one; torch.gather selects single elements, at
/// computed positions.
struct legalize_gather : pass_in<legalization> {
    static constexpr std::string_view summary = "index_select, embedding and gather to GATHER";

    static auto rewrites() {
        return rules(on<aten::index_select> = code<made>([](emit<made> e, const auto& a) {
            const value self = build::at_least_1d(e, a.self);
            return rows(e, self, build::axis_in(e, a.dim, e.rank(self)), a.index);
        }),
            on<aten::embedding> =
                code<made>([](emit<made> e, const auto& a) { return rows(e, a.weight, 0, a.indices); }),
            on<aten::gather> = code<gathered>());
    }

private:
    using made = joined<build::gather_ops, build::position_ops>;
    static value gathered(emit<made> e, const args<aten::gather>& a) {
        const value self = build::at_least_1d(e, a.self);
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(self));
        if (build::refuse_empty(e)) return {};
        const auto at = build::positions_along(e, a.index, e.shape(self), axis);
        const value elements = build::reshape(e, self, shape_builder{at.batches, at.batch_size, 1});
        return build::reshape(e, build::gather(e, elements, at.indices), e.result_meta().shape);
    }
    static value rows(emit<made> e, value v, std::size_t axis, value index) {
        if (build::refuse_empty(e)) return {};
        const build::three_axes k = build::around(e.shape(v), axis);
        index = build::index_number(e, index);
        index = build::reshape(e, index, shape_builder{1, e.meta(index).elements()});
        const value found =
            build::gather(e, build::reshape(e, v, shape_builder{k.before, k.size, k.after}), index);
        return build::reshape(e, found, e.result_meta().shape);
    }
};
HEADRACE_COMPILED_PASS(legalize_gather);

/// Lowers ops that write or add by index along one axis to SCATTER (TOSA 1.0, 2.10.2), which requires
/// distinct indices, as PyTorch does if the result would otherwise depend on the order. Ops that add allow
/// repeats, and sum by comparison.
struct legalize_scatter : pass_in<legalization> {
    static constexpr std::string_view summary =
        "scatter, index_copy and index_add to SCATTER, or sums by comparison";

    static auto rewrites() {
        return rules(on<aten::scatter_src> = code<made>([](emit<made> e, const auto& a) {
            return written(e, a.self, a.dim, a.index, a.src);
        }),
            on<aten::scatter_value> = code<filled>(), on<aten::scatter_add> = code<scattered>(),
            on<aten::index_copy> = code<copied>(), on<aten::index_add> = code<added_rows>());
    }

private:
    using made = joined<build::scatter_ops, build::position_ops, build::accumulate_ops, build::slice_ops>;
    static value filled(emit<made> e, const args<aten::scatter_value>& a) {
        const value one = e.splat(a.value, e.dtype(a.self), e.rank(a.index));
        return written(e, a.self, a.dim, a.index, build::broadcast(e, one, e.shape(a.index)));
    }
    static value scattered(emit<made> e, const args<aten::scatter_add>& a) {
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
    static value copied(emit<made> e, const args<aten::index_copy>& a) {
        const value self = build::at_least_1d(e, a.self);
        const build::three_axes k = build::around(e.shape(self), build::axis_in(e, a.dim, e.rank(self)));
        if (e.failed()) return {};
        const std::int64_t count = e.meta(a.index).elements();
        const value index = build::reshape(e, build::index_number(e, a.index), shape_builder{1, count});
        return replaced(e, self, k, index, a.source, count);
    }
    static value added_rows(emit<made> e, const args<aten::index_add>& a) {
        const value self = build::at_least_1d(e, a.self);
        const build::three_axes k = build::around(e.shape(self), build::axis_in(e, a.dim, e.rank(self)));
        if (e.failed()) return {};
        const std::int64_t count = e.meta(a.index).elements();
        const value index = build::reshape(e, build::index_number(e, a.index), shape_builder{1, count, 1});
        value rows = build::reshape(e, a.source, shape_builder{k.before, count, k.after});
        if (a.alpha.to_double() != 1) rows = build::multiply(e, rows, e.splat(a.alpha, e.dtype(rows), 3));
        return added(e, self, k, index, rows);
    }
    static value added(emit<made> e, value self, const build::three_axes& k, value index, value rows) {
        const value values = build::reshape(e, self, shape_builder{k.before, k.size, k.after});
        return build::reshape(e, build::accumulate(e, values, index, rows), e.result_meta().shape);
    }
    // Takes an index and a source with equally many elements, which are reshaped to [N, W, C].
    static value added(emit<made> e, value self, const build::three_axes& k, value index, value source,
        const build::three_axes& w) {
        const shape_builder shape{w.before, w.size, w.after};
        return added(e, self, k, build::reshape(e, index, shape), build::reshape(e, source, shape));
    }
    static value replaced(
        emit<made> e, value self, const build::three_axes& k, value index, value source, std::int64_t count) {
        const value values = build::reshape(e, self, shape_builder{k.before, k.size, k.after});
        const value rows = build::reshape(e, source, shape_builder{k.before, count, k.after});
        return build::reshape(e, build::scatter(e, values, index, rows), e.result_meta().shape);
    }
    static value written(emit<made> e, value self, std::int64_t dim, value index, value source) {
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

/// one_hot(i, n)[…, k] = (i == k), for a known number of classes.
struct legalize_one_hot : pass_in<legalization> {
    static constexpr std::string_view summary = "one_hot to a comparison with the numbers of the classes";

    using made = joined<build::reshape_ops, build::widen_ops, ops<tosa::equal>>;
    static auto rewrites() {
        return rules(on<aten::one_hot> = code<made>([](emit<made> e, const auto& a) {
            if (a.num_classes < 1) return e.unsupported("num_classes depends on data; give it as a number");
            const dtype key = build::number_for_bool(e);
            shape_builder shape(e.shape(a.self));
            shape.push_back(1);
            const value wanted = build::reshape(e, build::widen(e, a.self, key), shape);
            const value classes = build::iota(e, a.num_classes, 1, shape.size() - 1, shape.size(), key);
            const value hot = build::as_number(e, e.make<tosa::equal>(wanted, classes));
            return build::cast_directly(e, hot, dtype::int32);  // exact: 0 or 1
        }));
    }
};
HEADRACE_COMPILED_PASS(legalize_one_hot);

}  // namespace headrace

#endif
