// SPDX-License-Identifier: MIT
// Defines the passes that lower x[indices] and x[indices] = values.
#ifndef HEADRACE_PASSES_LEGALIZE_TENSOR_INDICES_HPP
#define HEADRACE_PASSES_LEGALIZE_TENSOR_INDICES_HPP

#include <algorithm>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/indexing.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/constants.hpp>
#include <headrace/passes/support/permuting.hpp>

namespace headrace {

namespace build {

using tensor_index_list = pmr_vector<std::optional<value>>;

/// Replaces each constant mask in the indices of x[…] by the coordinates of its true elements, one index for
/// each axis that it covers. A computed mask is refused: how many elements it selects depends on data.
inline tensor_index_list without_masks(emit<ops<>> e, list<std::optional<value>> indices) {
    tensor_index_list given;
    for (const std::optional<value>& index : indices) {
        if (!index || !(is_boolean(e.dtype(*index)) || e.dtype(*index) == dtype::uint8)) {
            given.push_back(index);
            continue;
        }
        const auto mask = constant_integers(*index);
        if (!mask || e.rank(*index) == 0) {
            e.unsupported(
                "how much a computed mask selects depends on data; use torch.where with values of full "
                "shape");
            return {};
        }
        std::int64_t inner = e.meta(*index).elements();
        for (const std::int64_t size : e.shape(*index)) {
            inner /= std::max<std::int64_t>(size, 1);
            pmr_vector<std::int32_t> coordinates;
            for (std::size_t i = 0; i != mask->size(); ++i) {
                if ((*mask)[i] == 0) continue;
                coordinates.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(i) / inner % size));
            }
            const auto count = static_cast<std::int64_t>(coordinates.size());
            given.push_back(e.constant<std::int32_t>(dtype::int32, sizes(&count, 1), coordinates));
        }
    }
    return given;
}

/// The elements that x[indices] reads or writes, as rows of [N, K, C]; K combines the indexed axes.
struct indexed_rows {
    value values;            ///< [N, K, C]
    value rows;              ///< [1, W], each in [0, K)
    shape_builder perms;     ///< brings the indexed axes together: to the front, unless they are adjacent
    shape_builder shape;     ///< of the permuted tensor
    shape_builder selected;  ///< shape of x[indices]
    three_axes sizes;        ///< N, K, C
    std::optional<bool> repeats;  ///< whether a row is named twice, if it can be known
};

/// Returns the axes that an index list names, in order.
[[nodiscard]] inline shape_builder axes_indexed(const tensor_index_list& given) {
    shape_builder axes;
    for (std::size_t i = 0; i != given.size(); ++i) {
        if (given[i]) axes.push_back(static_cast<std::int64_t>(i));
    }
    return axes;
}

/// True if an index list of constants names a row twice; nothing if an index is computed, or if there are too
/// many rows to compare.
inline std::optional<bool> names_row_twice(
    const emitter& e, const tensor_index_list& given, sizes shape, sizes together) {
    constexpr std::int64_t max_rows = std::int64_t{1} << 25;
    if (element_count(together) > max_rows) return std::nullopt;
    pmr_vector<std::int64_t> rows(static_cast<std::size_t>(element_count(together)), 0);
    for (std::size_t k = 0; k != given.size(); ++k) {
        if (!given[k]) continue;
        const auto numbers = constant_integers(*given[k]);
        if (!numbers) return std::nullopt;
        const shape_builder own(e.shape(*given[k]));
        for (std::size_t i = 0; i != rows.size(); ++i) {
            // Axes of size 1 are broadcast, and have stride 0.
            std::int64_t left = static_cast<std::int64_t>(i);
            std::int64_t at = 0;
            std::int64_t stride = 1;
            for (std::size_t d = together.size(); d-- != 0; left /= together[d]) {
                if (d + own.size() < together.size()) continue;
                const std::int64_t size = own[d + own.size() - together.size()];
                if (size != 1) at += left % together[d] * stride;
                stride *= size;
            }
            const std::int64_t number = (*numbers)[static_cast<std::size_t>(at)];
            rows[i] = rows[i] * shape[k] + (number < 0 ? number + shape[k] : number);
        }
    }
    std::sort(rows.begin(), rows.end());
    return std::adjacent_find(rows.begin(), rows.end()) != rows.end();
}

using indexed_ops = joined<wrap_ops, permute_ops>;

/// Returns the rows that indices select. At least one axis must be indexed, by something other than a mask.
inline indexed_rows rows_at(emit<indexed_ops> e, value self, const tensor_index_list& given) {
    indexed_rows at;
    const shape_builder axes = axes_indexed(given);
    const std::size_t rank = e.rank(self);
    if (given.size() > rank) {
        e.unsupported("more indices than axes");
        return at;
    }
    const bool neighbours = axes[axes.size() - 1] - axes[0] + 1 == static_cast<std::int64_t>(axes.size());
    const std::size_t first = neighbours ? static_cast<std::size_t>(axes[0]) : 0;
    for (std::size_t i = 0; i != first; ++i) at.perms.push_back(static_cast<std::int64_t>(i));
    at.perms.append(axes);
    for (std::size_t i = first; i != rank; ++i) {
        if (i >= given.size() || !given[i]) at.perms.push_back(static_cast<std::int64_t>(i));
    }
    at.shape = permuted(e.shape(self), at.perms);
    at.sizes = around(at.shape, first, axes.size());

    value row;
    for (std::size_t i = 0; i != axes.size(); ++i) {
        const std::int64_t stride =
            element_count(headrace::sizes(at.shape).subspan(first + i + 1, axes.size() - i - 1));
        const value index = wrap_indices(e, *given[static_cast<std::size_t>(axes[i])], at.shape[first + i]);
        if (row && !broadcast(headrace::sizes(e.shape(row)), e.shape(index))) {
            e.unsupported({"indices of shapes ", shape_text(e.shape(row)), " and ",
                shape_text(e.shape(index)), " do not broadcast"});
            return at;
        }
        const value scaled =
            stride == 1 ? index : multiply(e, index, e.splat(stride, e.dtype(index), e.rank(index)));
        row = row ? binary<tosa::add>(e, row, scaled) : scaled;
    }
    const shape_builder together(e.shape(row));
    at.selected = with_axes(at.shape, first, axes.size(), together);
    at.rows = reshape(e, row, shape_builder{1, element_count(together)});
    at.values =
        reshape(e, permute(e, self, at.perms), shape_builder{at.sizes.before, at.sizes.size, at.sizes.after});
    at.repeats = names_row_twice(e, given, e.shape(self), together);
    return at;
}

}  // namespace build

/// Lowers x[indices] to GATHER of rows (TOSA 1.0, 2.10.1). The indexed axes are brought together and merged;
/// the row is the sum of the indices times their strides; negative indices count from the end. As in PyTorch
/// and NumPy, the axes of indices that are not adjacent come first in the result.
struct legalize_index : pass_in<legalization> {
    static constexpr std::string_view summary = "x[indices] to GATHER";

    static auto rewrites() {
        return rules(
            on<aten::index_tensor, aten::_unsafe_index_tensor> = code<made>([](emit<made> e, const auto& a) {
                if (build::refuse_empty(e)) return value();
                const build::tensor_index_list given = build::without_masks(e, a.indices);
                if (e.failed()) return value();
                if (build::axes_indexed(given).empty()) return a.self;
                const build::indexed_rows at = build::rows_at(e, a.self, given);
                return build::reshape(e, build::gather(e, at.values, at.rows), e.result_meta().shape);
            }));
    }

private:
    using made = joined<build::indexed_ops, build::gather_ops>;
};
HEADRACE_COMPILED_PASS(legalize_index);

/// Lowers x[indices] = values to SCATTER of rows (TOSA 1.0, 2.10.2), and x[mask] = value, with one value for
/// all selected elements, to SELECT. With `accumulate`, rows that constant indices name only once are
/// gathered, added to and scattered; rows that may repeat are summed by comparison. Without it, PyTorch does
/// not specify which value is kept for a repeated index, and SCATTER forbids repeats: such constants are
/// refused.
struct legalize_index_put : pass_in<legalization> {
    static constexpr std::string_view summary = "x[indices] = values to SCATTER, x[mask] = value to SELECT";

    static auto rewrites() {
        return rules(
            on<aten::index_put, aten::_unsafe_index_put> = code<made>([](emit<made> e, const auto& a) {
                const value values = build::widen(e, a.values, e.dtype(a.self));
                if (const auto mask = only_mask(e, a.indices)) {
                    if (const auto spread = over_mask(e, values, *mask, e.rank(a.self)))
                        return masked(e, a.self, *mask, *spread, a.accumulate);
                }
                const build::tensor_index_list given = build::without_masks(e, a.indices);
                if (e.failed()) return value();
                if (build::axes_indexed(given).empty()) return e.unsupported("index_put needs an index");
                return rows(e, a.self, given, values, a.accumulate);
            }));
    }

private:
    using made = joined<build::indexed_ops, build::gather_ops, build::scatter_ops, build::accumulate_ops,
        build::select_ops>;
    struct masked_axes {
        value mask;
        std::size_t first;
        std::size_t after;  ///< axes after those that the mask covers
    };
    // Returns the only given index, if it is a mask.
    static std::optional<masked_axes> only_mask(emit<made> e, list<std::optional<value>> indices) {
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
    // Returns the values, ready to broadcast; nothing if each selected element has its own value.
    static std::optional<value> over_mask(
        emit<made> e, value values, const masked_axes& m, std::size_t rank) {
        shape_builder shape(e.shape(values));
        if (shape.size() <= m.after) return values;
        const std::size_t at = shape.size() - 1 - m.after;
        if (shape[at] != 1) return std::nullopt;
        const std::size_t covered = rank - m.first - m.after;
        for (std::size_t i = 1; i < covered; ++i) shape.insert(at, 1);
        return build::reshape(e, values, shape);
    }
    static value masked(emit<made> e, value self, const masked_axes& m, value values, bool accumulate) {
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
    static value no_such_values(emit<made> e, value values, sizes selected) {
        return e.unsupported({"values ", shape_text(e.shape(values)), " do not broadcast to ",
            shape_text(selected), ", which the indices select"});
    }
    static value rows(
        emit<made> e, value self, const build::tensor_index_list& given, value values, bool accumulate) {
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
