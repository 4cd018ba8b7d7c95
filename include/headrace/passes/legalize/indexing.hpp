// SPDX-License-Identifier: MIT
// Defines headrace::build's index arithmetic: GATHER and SCATTER of rows, and the positions that they take.
#ifndef HEADRACE_PASSES_LEGALIZE_INDEXING_HPP
#define HEADRACE_PASSES_LEGALIZE_INDEXING_HPP

#include <headrace/base/text.hpp>
#include <headrace/passes/support/casting.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace::build {

/// 0, step, 2 * step, … along one axis, and ones elsewhere: ready to broadcast.
template <class E>
value iota(E& e, std::int64_t count, std::int64_t step, std::size_t axis, std::size_t rank,
           dtype type = dtype::int32) {
    shape_builder shape = shape_builder::filled(rank, 1);
    shape[axis] = count;
    return e.constant({type, int_list(shape), {}}, [&](std::span<std::byte> data) {
        const std::size_t width = traits_of(type).bits / 8U;
        for (std::int64_t i = 0; i != count; ++i) {
            headrace::detail::store_element(saturating_mul(i, step), type,
                                            &data[static_cast<std::size_t>(i) * width]);
        }
    });
}

using number_ops = joined<cast_ops, select_ops>;

/// The type that stands for bool where an op takes none: one that the target's profile has.
template <class E>
dtype number_for_bool(E& e) {
    return e.target().has(target_feature::profile_int) && !e.target().has(target_feature::profile_fp)
               ? dtype::int32
               : dtype::float32;
}
/// A bool as 0 or 1, anything else as it is. Without CAST, which PRO-FP does not have for bool.
template <class E>
value as_number(E& e, value v) {
    if (!v || !is_boolean(e.dtype(v))) return v;
    const dtype type = number_for_bool(e);
    return select(e, v, e.splat(1, type, e.rank(v)), e.splat(0, type, e.rank(v)));
}

/// The type in which positions are computed: INT32, or FP32 where the target has no profile with integers,
/// whose RESHAPE and TILE it then lacks too. FP32 is exact for positions up to 2^24, which exact_positions
/// checks.
template <class E>
dtype index_type(E& e) {
    return e.target().has(target_feature::profile_int) ? dtype::int32 : dtype::float32;
}
template <class E>
value index_number(E& e, value index) {
    return cast(e, cast(e, index, dtype::int32), index_type(e));
}
/// Positions as GATHER and SCATTER take them.
template <class E>
value as_index(E& e, value position) {
    if (!position || e.dtype(position) == dtype::int32) return position;
    return e.template make<tosa::cast>(
        {.input = position, .output_type = dtype::int32});  // they are integral
}
template <class E>
bool exact_positions(E& e, std::int64_t count) {
    if (index_type(e) == dtype::int32 || count <= std::int64_t{1} << 24) return true;
    e.unsupported("positions above 2^24 need integers: add INT to the target");
    return false;
}

/// The same positions in another shape.
template <class E>
value reshape_index(E& e, value v, sizes shape) {
    if (!v || e.shape(v) == int_list(shape)) return v;
    return as_index(e, reshape(e, index_number(e, v), shape));
}

using wrap_ops =
    joined<cast_ops, reshape_ops, ops<tosa::logical_right_shift, tosa::greater, tosa::mul, tosa::add>>;

/// Indices that may count from the end, as ones that do not: i + (i < 0 ? size : 0). Of INT32 the sign is the
/// top bit.
template <class E>
value wrap_indices(E& e, value index, std::int64_t size) {
    index = index_number(e, index);
    const dtype type = e.dtype(index);
    const std::size_t rank = e.rank(index);
    const value length = e.splat(size, type, rank);
    if (type == dtype::int32) {
        const value negative = e.template make<tosa::logical_right_shift>(index, e.splat(31, type, rank));
        return binary<tosa::add>(e, index, binary<tosa::mul>(e, negative, length));
    }
    const value negative = e.template make<tosa::greater>(e.splat(0, type, rank), index);
    return select(e, negative, binary<tosa::add>(e, index, length), index);
}

using gather_ops = joined<number_ops, broadcast_ops, ops<tosa::gather>>;

/// GATHER (TOSA 1.0, 2.10.1): values [N, K, C] and indices [N or 1, W] give [N, W, C].
template <class E>
value gather(E& e, value values, value indices) {
    if (!values || !indices || !exact_positions(e, e.shape(values)[1])) return {};
    const std::int64_t batches = e.shape(values)[0];
    indices = as_index(e, broadcast(e, indices, shape_builder{batches, e.shape(indices)[1]}));
    const value rows = e.template make<tosa::gather>(as_number(e, values), indices);
    return cast(e, rows, e.dtype(values));
}

using scatter_ops = joined<number_ops, broadcast_ops, ops<tosa::scatter>>;

/// SCATTER (2.10.2): values [N, K, C] with the rows that indices [N or 1, W] name replaced by `rows` [N, W,
/// C]. No index may occur twice in a batch.
template <class E>
value scatter(E& e, value values, value indices, value rows) {
    if (!values || !indices || !rows || !exact_positions(e, e.shape(values)[1])) return {};
    const std::int64_t batches = e.shape(values)[0];
    indices = as_index(e, broadcast(e, indices, shape_builder{batches, e.shape(indices)[1]}));
    const value written = e.template make<tosa::scatter>(as_number(e, values), indices, as_number(e, rows));
    return cast(e, written, e.dtype(values));
}

using position_ops = joined<cast_ops, reshape_ops, ops<tosa::mul, tosa::add>>;

/// Where torch.gather and torch.scatter along `axis` find the element of `index` in a tensor of that shape,
/// as GATHER's [N, W]: the leading axes that both have in full make up N, and the position counts in what
/// follows.
struct element_positions {
    value indices;                ///< [N, W]
    std::int64_t batches = 1;     ///< N
    std::int64_t batch_size = 1;  ///< elements of the tensor in a batch
};
template <class E>
element_positions positions_along(E& e, value index, sizes shape, std::size_t axis) {
    index = index_number(e, index);
    const dtype type = e.dtype(index);
    const shape_builder counts(e.shape(index));
    std::size_t lead = 0;
    while (lead < axis && counts[lead] == shape[lead]) ++lead;
    value position = index;
    std::int64_t stride = 1;
    value offset;
    for (std::size_t i = shape.size(); i-- > lead; stride *= shape[i]) {
        if (i == axis) {
            position = stride == 1 ? index : binary<tosa::mul>(e, index, e.splat(stride, type, shape.size()));
        } else if (counts[i] > 1) {
            const value along = iota(e, counts[i], stride, i, shape.size(), type);
            offset = offset ? binary<tosa::add>(e, offset, along) : along;
        }
    }
    if (offset) position = binary<tosa::add>(e, position, offset);
    const std::int64_t batches = element_count(shape.first(lead));
    const std::int64_t each = element_count(sizes(counts).subspan(lead));
    return {reshape(e, position, shape_builder{batches, each}), batches, stride};
}

using accumulate_ops =
    joined<broadcast_ops, cast_ops, ops<tosa::equal, tosa::select, tosa::reduce_sum, tosa::add>>;

/// values [N, K, C] plus, in row indices[n, w, c], rows [N, W, C]; indices [N or 1, W, C or 1] may name a row
/// more than once. Each row of the result picks its addends by comparison: out[k] = values[k] + sum over w of
/// (indices[w] == k ? rows[w] : 0), which a product with 0 and 1 would not be for infinities.
template <class E>
value accumulate(E& e, value values, value indices, value rows) {
    constexpr std::int64_t most = std::int64_t{1} << 24;
    if (!values || !indices || !rows) return {};
    const shape_builder s(e.shape(values));
    const shape_builder r(e.shape(rows));
    const shape_builder i(e.shape(indices));
    if (element_count(s) * r[1] > most) {
        return e.unsupported(
            "adding " + number_text(r[1]) + " rows to " + number_text(s[1]) +
            " at indices that may repeat would compare more than 2^24 pairs; use fewer indices");
    }
    const dtype type = e.dtype(values);
    const dtype wide = is_floating(type) ? dtype::float32 : dtype::int32;
    const dtype key = number_for_bool(e);
    const value wanted = reshape(e, cast(e, indices, key), shape_builder{i[0], 1, i[1], i[2]});
    const value hit = e.template make<tosa::equal>(wanted, iota(e, s[1], 1, 1, 4, key));
    const value addends = reshape(e, cast(e, rows, wide), shape_builder{r[0], 1, r[1], r[2]});
    const value picked = select(e, hit, addends, e.splat(0, wide, 4));
    const value sum = e.template make<tosa::reduce_sum>({.input = picked, .axis = 2});
    return cast(e, binary<tosa::add>(e, cast(e, values, wide), reshape(e, sum, s)), type);
}

}  // namespace headrace::build

#endif
