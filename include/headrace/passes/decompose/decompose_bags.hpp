// SPDX-License-Identifier: MIT
// Defines headrace::decompose_bags.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_BAGS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_BAGS_HPP

#include <limits>
#include <optional>

#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/reductions.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Decomposes bags of table rows (PyTorch, torch.nn.EmbeddingBag). Comparisons of positions with the offsets
/// give a membership matrix; multiplying the rows by it sums them per bag. Padding indices do not count.
struct decompose_bags : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "embedding_bag as embedding, and a product with a matrix that tells the rows of bags";
    using targeted_ops = ops<aten::embedding_bag, aten::embedding_bag_padding_idx, aten::_embedding_bag,
        aten::_embedding_bag_forward_only>;
    using produces =
        ops<aten::amax, aten::any_dim, aten::cat, aten::embedding, aten::eq_tensor, aten::ge_tensor,
            aten::logical_and, aten::logical_not, aten::matmul, aten::maximum, aten::mul_tensor, aten::narrow,
            aten::reciprocal, aten::sum_dim_intlist, aten::unsqueeze, aten::where_self, aten::_to_copy>;

    template <one_of<targeted_ops> Op>
    value_list operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const std::int64_t count = e.shape(a.indices)[0];
        const std::int64_t bags = e.result_meta().shape[0];
        if (count == 0 || bags == 0)
            return {e.unsupported("bags of nothing: TOSA has no empty tensors"), {}, {}, {}};
        const term indices = as(term(e, a.indices), dtype::int64);
        const term rows = as(call<aten::embedding>(term(e, a.weight), indices), dtype::float32);
        const auto counted = [&](const term& in_bag) {
            const std::optional<std::int64_t> padding = padding_of(a, e.shape(a.weight)[0]);
            return padding ? logical_and(in_bag, !(indices == indices.constant(scalar(*padding)))) : in_bag;
        };
        const term belongs = counted(membership(e, a, count, bags));
        const term weighted = a.per_sample_weights
            ? rows * call<aten::unsqueeze>(as(term(e, *a.per_sample_weights), dtype::float32), 1)
            : rows;
        const term made =
            a.mode == 2 ? largest_rows(belongs, weighted) : summed_rows(belongs, weighted, a.mode);
        return {in_result_type(made).value(), {}, {}, {}};
    }

private:
    template <class Args>
    static std::optional<std::int64_t> padding_of(const Args& a, std::int64_t rows) {
        std::optional<std::int64_t> padding;
        if constexpr (requires { a.padding_idx; }) {
            padding = a.padding_idx;
            const bool from_end = std::is_same_v<Args, args<aten::embedding_bag_padding_idx>>;
            if (padding && *padding < 0) padding = from_end ? std::optional(*padding + rows) : std::nullopt;
        }
        return padding;
    }

    // [bags, count]: a bag begins at its offset and ends where the next one begins, or at the last index.
    template <class Args>
    static term membership(emit<produces>& e, const Args& a, std::int64_t count, std::int64_t bags) {
        const term position(e, e.constant_of(dtype::int64, shape_builder{1, count}, [](std::size_t i) {
            return scalar(static_cast<std::int64_t>(i));
        }));
        const term offsets = as(term(e, a.offsets), dtype::int64);
        const auto column = [&](const term& v) { return call<aten::unsqueeze>(v, 1); };
        const auto part = [&](std::int64_t start, std::int64_t length) {
            return length == offsets.size(0) ? offsets
                                             : call<aten::narrow>(offsets, std::int64_t{0}, start, length);
        };
        const term begun = position >= column(part(0, bags));
        if (bags == 1 && !a.include_last_offset) return begun;
        const term end(
            e, e.constant_of(dtype::int64, shape_builder{1}, [&](std::size_t) { return scalar(count); }));
        const term ends = a.include_last_offset
            ? part(1, bags)
            : call<aten::cat>(tensors(part(1, bags - 1), end), std::int64_t{0});
        return logical_and(begun, !(position >= column(ends)));
    }
    static term summed_rows(const term& belongs, const term& rows, std::int64_t mode) {
        const term matrix = where(belongs, rows.constant(1), rows.constant(0));
        const term sums = call<aten::matmul>(matrix, rows);
        if (mode == 0) return sums;
        const term counts = call<aten::sum_dim_intlist>(matrix, int_list{1}, true);
        return sums / max(counts, 1);  // an empty bag yields 0
    }
    static term largest_rows(const term& belongs, const term& rows) {
        const term lowest = rows.constant(-std::numeric_limits<double>::infinity());
        const term chosen = where(call<aten::unsqueeze>(belongs, 2), rows, lowest);
        const term found = call<aten::amax>(chosen, int_list{1}, false);
        return where(call<aten::unsqueeze>(call<aten::any_dim>(belongs, 1), 1), found, 0);
    }
};
HEADRACE_COMPILED_PASS(decompose_bags);

}  // namespace headrace

#endif
