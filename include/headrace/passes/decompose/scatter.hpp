// SPDX-License-Identifier: MIT
// Defines headrace::decompose_scatter_reduction and decompose_bags.
#ifndef HEADRACE_PASSES_DECOMPOSE_SCATTER_HPP
#define HEADRACE_PASSES_DECOMPOSE_SCATTER_HPP

#include <cmath>

#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

struct decompose_division;
/// Decomposes torch.scatter_reduce: the position of each element of the result is compared with the index of
/// each element of the source, and the matching ones are reduced. All comparisons are in memory at once, so
/// there is a limit.
struct decompose_scatter_reduction : pass_in<decomposition> {
    using runs_before = pass_list<decompose_division>;  // averages of integers are rounded down
    static constexpr std::string_view summary =
        "scatter_reduce, index_reduce by comparisons of indices with places; sums by scatter_add";

    static auto rewrites() {
        return rules(on<aten::scatter_reduce_two> = code<made>([](emit<made> e, const auto& a) {
            return reduced(e, {a.self, a.dim, a.index, a.src, a.reduce, a.include_self});
        }),
            on<aten::scatter_src_reduce> = code<made>([](emit<made> e, const auto& a) {
                return reduced(e, {a.self, a.dim, a.index, a.src, a.reduce == "add" ? "sum" : "prod", true});
            }),
            on<aten::index_reduce> = code<slices_reduced>());
    }

private:
    using made = ops<aten::amax, aten::amin, aten::add_tensor, aten::any_dim, aten::constant_pad_nd,
        aten::div_tensor_mode, aten::eq_tensor, aten::expand, aten::maximum, aten::minimum, aten::movedim_int,
        aten::mul_tensor, aten::narrow, aten::prod_dim_int, aten::reciprocal, aten::scatter_add,
        aten::sum_dim_intlist, aten::unsqueeze, aten::view, aten::where_self, aten::_to_copy>;
    struct request {
        value self;
        std::int64_t dim;
        value index, src;
        std::string_view reduce;
        bool include_self;
    };

    // A single index for each slice of the source.
    static value slices_reduced(emit<made> e, const args<aten::index_reduce>& a) {
        const term source(e, a.source);
        if (e.rank(a.self) == 0 || source.rank() == 0)
            return e.unsupported("reducing into a tensor of rank 0; use a tensor of one axis");
        const auto axis = static_cast<std::int64_t>(build::axis_in(e, a.dim, e.rank(a.self)));
        const shape_builder line = line_shape(source.rank(), axis, source.size(axis));
        const term index = call<aten::expand>(viewed(term(e, a.index), int_list(line)), source.shape());
        return reduced(e, {a.self, a.dim, index.value(), a.source, a.reduce, a.include_self});
    }
    static value reduced(emit<made> e, const request& r) {
        const dtype type = e.dtype(r.self);
        if (e.meta(r.index).elements() == 0) return r.self;
        if (is_boolean(type)) return e.unsupported("booleans are not reduced so; cast them to integers");
        if (r.reduce == "sum" && r.include_self)
            return e.make<aten::scatter_add>({.self = r.self, .dim = r.dim, .index = r.index, .src = r.src});
        const auto wide = [&](value v) {
            return e.rank(v) == 0 ? viewed(term(e, v), int_list{1}) : term(e, v);
        };
        const term self = wide(r.self);
        const term index = wide(r.index);
        const std::size_t axis = self.axis(r.dim);
        const std::int64_t comparisons =
            saturating_mul(self.meta().elements(), index.rank() == self.rank() ? index.shape()[axis] : 1);
        if (comparisons > max_comparisons) {
            return e.unsupported({"it takes ", comparisons,
                " comparisons of indices, all in memory at once; at most 2^24 are made"});
        }
        if (e.failed()) return {};
        // [..., places, sources]: an index of -1 matches no place.
        const auto dim = static_cast<std::int64_t>(axis);
        const auto last = [&](const term& v) { return call<aten::movedim_int>(v, dim, -1); };
        const term own = last(self);
        const term places = filled_up(cropped(index, index.shape()), self.shape(), axis, -1);
        const term source = filled_up(cropped(wide(r.src), index.shape()), self.shape(), axis, 0);
        const term at = unsqueezed(last(places), -2);
        const term from = unsqueezed(last(source), -2);
        const term hit = as(at, dtype::int64) == numbered(own, dtype::int64, shape_builder{own.size(-1), 1});
        const term combination = combined(r, own, hit, from);
        return viewed(call<aten::movedim_int>(combination, -1, dim), e.shape(r.self)).value();
    }
    static term combined(const request& r, const term& own, const term& hit, const term& from) {
        const dtype type = own.dtype();
        const int_list sources{-1};
        const auto counted = [&](const term& v) { return as(sum_along(v, -1), type); };
        const term is_hit = call<aten::any_dim>(hit, -1);
        const auto unless_missed = [&](const term& v) { return where(is_hit, v, own); };
        if (r.reduce == "amax" || r.reduce == "amin") {
            const bool most = r.reduce == "amax";
            // Elements of other places are replaced by a neutral number.
            const term others = is_floating(type) ? own.constant(most ? -HUGE_VAL : HUGE_VAL)
                                                  : extremum(from, sources, !most);
            const term found = viewed(extremum(where(hit, from, others), sources, most), own.shape());
            if (!r.include_self) return unless_missed(found);
            return unless_missed(most ? max(found, own) : min(found, own));
        }
        if (r.reduce == "prod") {
            const term product =
                as(call<aten::prod_dim_int>(where(hit, from, from.constant(1)), -1, false), type);
            return r.include_self ? product * own : unless_missed(product);
        }
        const term sum = counted(where(hit, from, from.constant(0)));
        if (r.reduce == "sum") return unless_missed(sum);
        const term counts = counted(where(hit, from.constant(1), from.constant(0)));
        const term whole = r.include_self ? sum + own : sum;
        const term all =
            r.include_self ? counts + counts.constant(1) : where(is_hit, counts, counts.constant(1));
        return unless_missed(is_floating(type)
                ? whole / all
                : call<aten::div_tensor_mode>(whole, all, std::string_view("floor")));
    }
    // Returns the part of `v` that has indices.
    static term cropped(term v, sizes shape) {
        for (std::size_t i = 0; i != v.rank() && i != shape.size(); ++i) {
            if (v.shape()[i] == shape[i]) continue;
            v = call<aten::narrow>(v, static_cast<std::int64_t>(i), std::int64_t{0}, shape[i]);
        }
        return v;
    }
    // Pads `v` to the size of `shape` along all axes except one.
    static term filled_up(const term& v, sizes shape, std::size_t axis, std::int64_t with) {
        shape_builder padding = shape_builder::filled(2 * v.rank(), 0);
        bool pads = false;
        for (std::size_t i = 0; i != v.rank() && i != shape.size(); ++i) {
            if (i == axis || shape[i] == v.shape()[i]) continue;
            padding[2 * (v.rank() - 1 - i) + 1] = shape[i] - v.shape()[i];
            pads = true;
        }
        return pads ? call<aten::constant_pad_nd>(v, int_list(padding), scalar(with)) : v;
    }
};
HEADRACE_COMPILED_PASS(decompose_scatter_reduction);

/// Decomposes bags of table rows (PyTorch, torch.nn.EmbeddingBag). Comparisons of positions with the offsets
/// give a membership matrix; multiplying the rows by it sums them per bag. Padding indices do not count.
struct decompose_bags : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "embedding_bag as embedding, and a product with a matrix that tells the rows of bags";

    static auto rewrites() {
        return rules(on<aten::embedding_bag, aten::embedding_bag_padding_idx, aten::_embedding_bag,
                         aten::_embedding_bag_forward_only> = code<made>([](emit<made> e, const auto& a) {
            return value_list{rows_of_bags(e, a), {}, {}, {}};  // the others are for gradients
        }));
    }

private:
    using made = ops<aten::amax, aten::any_dim, aten::cat, aten::embedding, aten::eq_tensor, aten::ge_tensor,
        aten::logical_and, aten::logical_not, aten::matmul, aten::maximum, aten::mul_tensor, aten::narrow,
        aten::reciprocal, aten::sum_dim_intlist, aten::unsqueeze, aten::where_self, aten::_to_copy>;

    static value rows_of_bags(emit<made> e, const auto& a) {
        const std::int64_t count = e.shape(a.indices)[0];
        const std::int64_t bags = e.result_meta().shape[0];
        if (count == 0 || bags == 0) return e.unsupported("bags of nothing: TOSA has no empty tensors");
        const term indices = as(term(e, a.indices), dtype::int64);
        const term rows = real(call<aten::embedding>(term(e, a.weight), indices));
        term belongs = membership(as(term(e, a.offsets), dtype::int64), a.include_last_offset, count, bags);
        if (const auto padding = padding_of(a, e.shape(a.weight)[0]))
            belongs = logical_and(belongs, !(indices == indices.constant(scalar(*padding))));
        const term weighted =
            a.per_sample_weights ? rows * unsqueezed(real(term(e, *a.per_sample_weights)), 1) : rows;
        return in_result_type(
            a.mode == 2 ? largest_rows(belongs, weighted) : summed_rows(belongs, weighted, a.mode))
            .value();
    }
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
    static term membership(const term& offsets, bool has_end, std::int64_t count, std::int64_t bags) {
        const term position = numbered(offsets, dtype::int64, shape_builder{1, count});
        const auto reaches = [&](const term& limits) { return position >= unsqueezed(limits, 1); };
        const auto part = [&](std::int64_t start, std::int64_t length) {
            return length == offsets.size(0) ? offsets
                                             : call<aten::narrow>(offsets, std::int64_t{0}, start, length);
        };
        const term begun = reaches(part(0, bags));
        if (bags == 1 && !has_end) return begun;
        const auto ends = [&] {
            if (has_end) return part(1, bags);
            const term end = offsets.tensor(dtype::int64, shape_builder{1}, std::array{count});
            return call<aten::cat>(tensors(part(1, bags - 1), end), std::int64_t{0});
        };
        return logical_and(begun, !reaches(ends()));
    }
    static term summed_rows(const term& belongs, const term& rows, std::int64_t mode) {
        const term matrix = where(belongs, rows.constant(1), rows.constant(0));
        const term sums = call<aten::matmul>(matrix, rows);
        if (mode == 0) return sums;
        return sums / max(sum(matrix, int_list{1}), 1);  // an empty bag yields 0
    }
    static term largest_rows(const term& belongs, const term& rows) {
        const term chosen = where(unsqueezed(belongs, 2), rows, rows.constant(-HUGE_VAL));
        const term found = call<aten::amax>(chosen, int_list{1}, false);
        return where(unsqueezed(call<aten::any_dim>(belongs, 1), 1), found, 0);
    }
};
HEADRACE_COMPILED_PASS(decompose_bags);

}  // namespace headrace

#endif
