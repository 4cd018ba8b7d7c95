// SPDX-License-Identifier: MIT
// Defines headrace::legalize_index_put.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_INDEX_PUT_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_INDEX_PUT_HPP

#include <optional>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/passes/legalize/tensor_indices.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers x[indices] = values to SCATTER of rows (TOSA 1.0, 2.10.2), and x[mask] = value, with one value for
/// all selected elements, to SELECT. With `accumulate`, rows that constant indices name only once are
/// gathered, added to and scattered; rows that may repeat are summed by comparison. Without it, PyTorch does
/// not specify which value is kept for a repeated index, and SCATTER forbids repeats: such constants are
/// refused.
struct legalize_index_put : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "x[indices] = values to SCATTER, x[mask] = value to SELECT";
    using targeted_ops = ops<aten::index_put, aten::_unsafe_index_put>;
    using produces = joined<build::indexed_ops, build::gather_ops, build::scatter_ops, build::accumulate_ops,
        build::select_ops>;

    template <one_of<targeted_ops> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const value values = build::widen(e, a.values, e.dtype(a.self));
        if (const auto mask = only_mask(e, a.indices)) {
            if (const auto spread = over_mask(e, values, *mask, e.rank(a.self))) {
                return masked(e, a.self, *mask, *spread, a.accumulate);
            }
        }
        const build::tensor_index_list given = build::without_masks(e, a.indices);
        if (e.failed()) return {};
        if (build::axes_indexed(given).empty()) return e.unsupported("index_put needs an index");
        return rows(e, a.self, given, values, a.accumulate);
    }

private:
    struct masked_axes {
        value mask;
        std::size_t first;
        std::size_t after;  ///< axes after those that the mask covers
    };
    /// Returns the only given index, if it is a mask.
    static std::optional<masked_axes> only_mask(emit<produces>& e, list<std::optional<value>> indices) {
        std::optional<masked_axes> found;
        const std::size_t rank = e.result_meta().rank();
        for (std::size_t i = 0; i != indices.size(); ++i) {
            if (!indices[i]) continue;
            const value v = *indices[i];
            if (found || !is_boolean(e.dtype(v)) || e.rank(v) == 0 || i + e.rank(v) > rank)
                return std::nullopt;
            found = masked_axes{v, i, rank - i - e.rank(v)};
        }
        return found;
    }
    /// Returns the values, ready to broadcast; nothing if each selected element has its own value.
    static std::optional<value> over_mask(
        emit<produces>& e, value values, const masked_axes& m, std::size_t rank) {
        shape_builder shape(e.shape(values));
        if (shape.size() <= m.after) return values;
        const std::size_t at = shape.size() - 1 - m.after;
        if (shape[at] != 1) return std::nullopt;
        const std::size_t covered = rank - m.first - m.after;
        for (std::size_t i = 1; i < covered; ++i) shape.insert(at, 1);
        return build::reshape(e, values, shape);
    }
    static value masked(emit<produces>& e, value self, const masked_axes& m, value values, bool accumulate) {
        shape_builder shape = shape_builder::filled(m.first, 1);
        shape.append(e.shape(m.mask));
        for (std::size_t i = 0; i != m.after; ++i) shape.push_back(1);
        if (!expanded_shape(e.shape(values), e.shape(self))) return no_such_values(e, values, e.shape(self));
        const value mask = build::reshape(e, m.mask, shape);
        if (!accumulate) return build::select(e, mask, values, self);
        const value nothing = e.splat(0, e.dtype(self), e.rank(self));
        return build::binary<tosa::add>(e, self, build::select(e, mask, values, nothing));
    }
    // The number of elements that a mask selects depends on data, so no rule can refuse such values earlier.
    static value no_such_values(emit<produces>& e, value values, sizes selected) {
        return e.unsupported({"values ", shape_text(e.shape(values)), " do not broadcast to ",
            shape_text(selected), ", which the indices select"});
    }
    static value rows(
        emit<produces>& e, value self, const build::tensor_index_list& given, value values, bool accumulate) {
        const build::indexed_rows at = build::rows_at(e, self, given);
        if (e.failed()) return {};
        if (element_count(at.selected) == 0) return self;
        if (!expanded_shape(e.shape(values), at.selected)) return no_such_values(e, values, at.selected);
        if (at.repeats == true && !accumulate) {
            return e.unsupported(
                "an index is named twice, so that the result depends on the order of the writes; "
                "name each once, or accumulate");
        }
        const std::int64_t count = e.shape(at.rows)[1];
        const shape_builder folded{at.sizes.before, count, at.sizes.after};
        values = build::reshape(e, build::broadcast(e, values, at.selected), folded);
        value written;
        if (accumulate && at.repeats != false) {
            if (is_boolean(e.dtype(self))) return e.unsupported("TOSA does not add booleans; use logical_or");
            written = build::accumulate(
                e, at.values, build::reshape(e, at.rows, shape_builder{1, count, 1}), values);
        } else {
            if (accumulate)
                values = build::binary<tosa::add>(e, build::gather(e, at.values, at.rows), values);
            written = build::scatter(e, at.values, at.rows, values);
        }
        return build::permute(e, build::reshape(e, written, at.shape), build::inverse(at.perms));
    }
};
HEADRACE_COMPILED_PASS(legalize_index_put);

}  // namespace headrace

#endif
