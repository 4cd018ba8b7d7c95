// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the attention of aten.
#ifndef HEADRACE_INFER_ATEN_ATTENTION_HPP
#define HEADRACE_INFER_ATEN_ATTENTION_HPP

#include <cstddef>
#include <optional>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

namespace detail {

/// Leading axes broadcast, except the heads (third axis from the end) if key and value share them: `grouped`.
inline result<shape_builder> attention_shape(sizes query, sizes key, sizes value, bool grouped) {
    HEADRACE_TRY(require_rank("query", query, grouped ? 3 : 2, shape_builder::capacity));
    HEADRACE_TRY(require_rank("key", key, query.size()));
    HEADRACE_TRY(require_rank("value", value, query.size()));
    const std::size_t rank = query.size();
    if (query.back() != key.back() || key[rank - 2] != value[rank - 2]) {
        return invalid({"query ", shape_text(query), ", key ", shape_text(key), " and value ",
            shape_text(value), " do not match"});
    }
    const std::size_t lead = rank - (grouped ? 3 : 2);
    if (grouped) {
        for (const sizes shared : {key, value}) {
            if (shared[lead] > 0 && query[lead] % shared[lead] == 0) continue;
            return invalid(
                {"the heads of ", shape_text(shared), " do not divide those of query ", shape_text(query)});
        }
    }
    HEADRACE_TRY(batch, broadcast(query.first(lead), key.first(lead), value.first(lead)));
    shape_builder shape(batch);
    shape.append(query.subspan(lead));
    shape.back() = value.back();
    return shape;
}

struct attention_operands {
    const tensor_meta& query;
    const tensor_meta& key;
    const tensor_meta& value;
    const std::optional<headrace::value>& mask;
    bool is_causal;
    bool grouped;
};
inline result<shape_builder> infer_attention(inference& out, const attention_operands& a) {
    HEADRACE_TRY(shape, attention_shape(a.query.shape, a.key.shape, a.value.shape, a.grouped));
    HEADRACE_TRY(require_floating("query", a.query.dtype));
    HEADRACE_TRY(require_real("query", a.query.dtype));
    HEADRACE_TRY(require_dtype("key", a.key.dtype, a.query.dtype));
    HEADRACE_TRY(require_dtype("value", a.value.dtype, a.query.dtype));
    if (a.mask) {
        const tensor_meta& mask = inference::of(*a.mask);
        if (a.is_causal) return invalid("attn_mask must not be given together with is_causal");
        if (!is_boolean(mask.dtype) && mask.dtype != dtype::float32) {
            HEADRACE_TRY(require_dtype("attn_mask", mask.dtype, a.query.dtype));
        }
        shape_builder scores(shape);
        scores.back() = a.key.shape[a.key.rank() - 2];
        HEADRACE_TRY(require_expandable("attn_mask", mask.shape, scores));
    }
    HEADRACE_TRY(add_result(out, a.query.dtype, shape));
    return shape;
}

}  // namespace detail

template <one_of<ops<aten::scaled_dot_product_attention>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(detail::infer_attention(out,
        {inference::of(a.query), inference::of(a.key), inference::of(a.value), a.attn_mask, a.is_causal,
            a.enable_gqa}));
    return {};
}
template <one_of<ops<aten::_scaled_dot_product_flash_attention_for_cpu>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& query = inference::of(a.query);
    HEADRACE_TRY(require_rank("query", query.shape, 4));
    HEADRACE_TRY(shape,
        detail::infer_attention(
            out, {query, inference::of(a.key), inference::of(a.value), a.attn_mask, a.is_causal, false}));
    // Nothing broadcasts here: there is one sum per row of the query.
    HEADRACE_TRY(require_shape("query", sizes(query.shape).first(3), sizes(shape).first(3)));
    const dtype sums = query.dtype == dtype::float64 ? dtype::float64 : dtype::float32;
    return add_result(out, sums, sizes(query.shape).first(3));
}

}  // namespace headrace

#endif
