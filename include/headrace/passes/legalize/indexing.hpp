// SPDX-License-Identifier: MIT
// Defines headrace::build's gathers, scatters and positions, shared by the lowerings of indexing ops.
#ifndef HEADRACE_PASSES_LEGALIZE_INDEXING_HPP
#define HEADRACE_PASSES_LEGALIZE_INDEXING_HPP

#include <headrace/base/text.hpp>
#include <headrace/passes/legalize/promoting.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace::build {

/// Makes 0, step, 2 * step, … along one axis; the other axes have size 1, ready to broadcast.
inline value iota(emit<ops<>> e, std::int64_t count, std::int64_t step, std::size_t axis, std::size_t rank,
    dtype type = dtype::int32) {
    shape_builder shape = shape_builder::filled(rank, 1);
    shape[axis] = count;
    return e.constant_of(
        type, shape, [&](std::size_t i) { return saturating_mul(static_cast<std::int64_t>(i), step); });
}

// --- bools -----------------------------------------------------------------------------------------------

/// Returns the dtype that represents bool for ops that do not take bool: one that the target's profile has.
inline dtype number_for_bool(const emitter& e) {
    return e.target().has(target_feature::profile_int) && !e.target().has(target_feature::profile_fp)
        ? dtype::int32
        : dtype::float32;
}
/// Turns a bool into 0 or 1; returns other values unchanged. Does not use CAST, which PRO-FP lacks for bool.
inline value as_number(emit<ops<tosa::select>> e, value v) {
    if (!v || !is_boolean(e.dtype(v))) return v;
    const dtype type = number_for_bool(e);
    return e.make<tosa::select>(v, e.splat(1, type, e.rank(v)), e.splat(0, type, e.rank(v)));
}
/// Reverses as_number for a value that had dtype `type`.
inline value from_number(emit<truth_ops> e, value v, dtype type) {
    return is_boolean(type) ? to_truth(e, v) : v;
}

// --- indices ---------------------------------------------------------------------------------------------

/// The dtype in which positions are computed: INT32, or FP32 if the target has no integer profile, and thus
/// no INT32 RESHAPE and TILE either. FP32 is exact for positions up to 2^24, which exact_positions checks.
inline dtype index_type(const emitter& e) {
    return e.target().has(target_feature::profile_int) ? dtype::int32 : dtype::float32;
}
inline value index_number(emit<ops<tosa::cast>> e, value index) {
    return cast_directly(e, cast_directly(e, index, dtype::int32), index_type(e));
}
/// Casts positions to the dtype that GATHER and SCATTER take.
inline value as_index(emit<ops<tosa::cast>> e, value position) {
    return cast_directly(e, position, dtype::int32);  // exact: they are integers
}
inline bool exact_positions(emit<ops<>> e, std::int64_t count) {
    if (index_type(e) == dtype::int32 || count <= std::int64_t{1} << 24) return true;
    e.unsupported("positions above 2^24 need integers: add INT to the target");
    return false;
}

using index_ops = joined<reshape_ops, ops<tosa::cast>>;

/// Reshapes positions.
inline value reshape_index(emit<index_ops> e, value v, sizes shape) {
    if (!v || e.shape(v) == int_list(shape)) return v;
    return as_index(e, reshape(e, index_number(e, v), shape));
}

using wrap_ops =
    ops<tosa::cast, tosa::logical_right_shift, tosa::greater, tosa::mul, tosa::add, tosa::select>;

/// Makes negative indices, which count from the end, nonnegative: i + (i < 0 ? size : 0). For INT32 the sign
/// is the top bit.
inline value wrap_indices(emit<wrap_ops> e, value index, std::int64_t size) {
    index = index_number(e, index);
    const auto number = [&](std::int64_t n) { return e.splat(n, e.dtype(index), e.rank(index)); };
    if (e.dtype(index) == dtype::int32) {
        const value is_negative = e.make<tosa::logical_right_shift>(index, number(31));
        return e.make<tosa::add>(index, multiply(e, is_negative, number(size)));
    }
    const value is_negative = e.make<tosa::greater>(number(0), index);
    return e.make<tosa::select>(is_negative, e.make<tosa::add>(index, number(size)), index);
}

// --- rows ------------------------------------------------------------------------------------------------

using row_ops = joined<broadcast_ops, truth_ops, ops<tosa::select>>;
using gather_ops = joined<row_ops, ops<tosa::gather>>;
using scatter_ops = joined<row_ops, ops<tosa::scatter>>;

/// Returns indices [N or 1, W] for each batch of values [N, K, C]; nothing if they may be too large.
inline value batch_indices(emit<joined<broadcast_ops, ops<tosa::cast>>> e, value values, value indices) {
    if (!values || !indices || !exact_positions(e, e.shape(values)[1])) return {};
    return as_index(e, broadcast(e, indices, shape_builder{e.shape(values)[0], e.shape(indices)[1]}));
}

/// GATHER (TOSA 1.0, 2.10.1): values [N, K, C] and indices [N or 1, W] give [N, W, C].
inline value gather(emit<gather_ops> e, value values, value indices) {
    indices = batch_indices(e, values, indices);
    return from_number(e, e.make<tosa::gather>(as_number(e, values), indices), e.dtype(values));
}

/// SCATTER (2.10.2): values [N, K, C] with the rows at indices [N or 1, W] replaced by `rows` [N, W, C]. No
/// index may occur twice in a batch.
inline value scatter(emit<scatter_ops> e, value values, value indices, value rows) {
    indices = batch_indices(e, values, indices);
    if (indices && rows && e.shape(rows)[1] > e.shape(values)[1]) {
        return e.unsupported({"it writes ", e.shape(rows)[1], " elements of ", e.shape(values)[1],
            ", some of them twice, and which value stays is not defined; write each once"});
    }
    const value written = e.make<tosa::scatter>(as_number(e, values), indices, as_number(e, rows));
    return from_number(e, written, e.dtype(values));
}

/// Refuses results without elements; returns true if the rewrite has failed, now or before.
inline bool refuse_empty(emitter e) {
    if (e.result_meta().elements() == 0)
        e.unsupported("it takes no elements: TOSA has no empty tensors; drop it from the model");
    return e.failed();
}
/// Views a tensor of rank 0 as an axis of one element, as PyTorch does for indexing.
inline value at_least_1d(emit<reshape_ops> e, value v) {
    return with_rank(e, v, std::max<std::size_t>(e.rank(v), 1));
}

using position_ops = joined<index_ops, ops<tosa::mul, tosa::add>>;

/// The positions that torch.gather and torch.scatter along `axis` access in a tensor of that shape, as
/// GATHER's [N, W]. N combines the leading axes that the index covers in full; positions count within the
/// other axes.
struct element_positions {
    value indices;                ///< [N, W]
    std::int64_t batches = 1;     ///< N
    std::int64_t batch_size = 1;  ///< elements of the tensor in a batch
    std::int64_t count = 1;       ///< W
};
inline element_positions positions_along(emit<position_ops> e, value index, sizes shape, std::size_t axis) {
    index = index_number(e, with_rank(e, index, shape.size()));
    if (!index) return {};
    const dtype type = e.dtype(index);
    const shape_builder counts(e.shape(index));
    std::size_t lead = 0;
    while (lead < axis && counts[lead] == shape[lead]) ++lead;
    value position = index;
    std::int64_t stride = 1;
    value offset;
    for (std::size_t i = shape.size(); i-- > lead; stride *= shape[i]) {
        if (i == axis) {
            position = stride == 1 ? index : multiply(e, index, e.splat(stride, type, shape.size()));
        } else if (counts[i] > 1) {
            const value along = iota(e, counts[i], stride, i, shape.size(), type);
            offset = offset ? e.make<tosa::add>(offset, along) : along;
        }
    }
    if (offset) position = e.make<tosa::add>(position, offset);
    const std::int64_t batches = element_count(shape.first(lead));
    const std::int64_t count = element_count(sizes(counts).subspan(lead));
    return {reshape(e, position, shape_builder{batches, count}), batches, stride, count};
}

using accumulate_ops = joined<index_ops, ops<tosa::equal, tosa::select, tosa::reduce_sum, tosa::add>>;

/// Adds rows [N, W, C] to values [N, K, C] at rows indices[n, w, c]; indices [N or 1, W, C or 1] may repeat.
/// Each row of the result picks its addends by comparison: out[k] = values[k] + sum over w of (indices[w] ==
/// k ? rows[w] : 0). A product with 0 and 1 would turn infinities into NaN.
inline value accumulate(emit<accumulate_ops> e, value values, value indices, value rows) {
    constexpr std::int64_t max_pairs = std::int64_t{1} << 24;
    if (!values || !indices || !rows) return {};
    const shape_builder s(e.shape(values));
    const shape_builder r(e.shape(rows));
    const shape_builder i(e.shape(indices));
    if (element_count(s) * r[1] > max_pairs) {
        return e.unsupported({"adding ", r[1], " rows to ", s[1],
            " at indices that may repeat would compare more than 2^24 pairs; use fewer indices"});
    }
    const dtype type = e.dtype(values);
    const dtype wide = is_floating(type) ? dtype::float32 : dtype::int32;
    const dtype key = number_for_bool(e);
    const value wanted = reshape(e, cast_directly(e, indices, key), shape_builder{i[0], 1, i[1], i[2]});
    const value hit = e.make<tosa::equal>(wanted, iota(e, s[1], 1, 1, 4, key));
    const value addends = reshape(e, widen(e, rows, wide), shape_builder{r[0], 1, r[1], r[2]});
    const value picked = e.make<tosa::select>(hit, addends, e.splat(0, wide, 4));
    const value sum = reshape(e, along<tosa::reduce_sum>(e, picked, 2), s);
    return cast_directly(e, e.make<tosa::add>(widen(e, values, wide), sum), type);
}

}  // namespace headrace::build

#endif
