// SPDX-License-Identifier: MIT
// Defines headrace::build::rows_at, which reads PyTorch's tensor indices as rows.
#ifndef HEADRACE_PASSES_LEGALIZE_TENSOR_INDICES_HPP
#define HEADRACE_PASSES_LEGALIZE_TENSOR_INDICES_HPP

#include <algorithm>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/legalize/indexing.hpp>
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
        // The number of elements that a mask selects depends on data.
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

}  // namespace headrace

#endif
