// SPDX-License-Identifier: MIT
// Defines the decompositions of repeated, written and strided parts of tensors.
#ifndef HEADRACE_PASSES_DECOMPOSE_INDEXING_HPP
#define HEADRACE_PASSES_DECOMPOSE_INDEXING_HPP

#include <headrace/op/op_query.hpp>
#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/support/constants.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

struct decompose_repeats : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "repeat_interleave as x[…, None] expanded, or as constant indices; meshgrid as expands";

    static auto rewrites() {
        return rules(
            on<aten::meshgrid_indexing> = code<grids_of>(),
            on<aten::repeat_interleave_self_int> =
                [](auto x, const auto& a) {
                    build::three_axes k{1, x.meta().elements(), 1};  // the tensor as one axis
                    if (a.dim && x.rank() != 0) k = build::around(x.shape(), x.axis(*a.dim));
                    const auto apart = call<aten::reshape>(x, int_list{k.before, k.size, 1, k.after});
                    const auto copies =
                        call<aten::expand>(apart, int_list{k.before, k.size, a.repeats, k.after});
                    return call<aten::reshape>(copies, x.result_meta().shape);
                },
            on<aten::repeat_interleave_tensor> = code<positions>());
    }

private:
    // Each vector is expanded along the axes of the others.
    static value_list grids_of(
        emit<ops<aten::reshape, aten::expand>> e, const args<aten::meshgrid_indexing>& a) {
        const std::size_t rank = a.tensors.size();
        value_list grids;
        for (std::uint32_t i = 0; i != rank; ++i) {
            const bool swapped = a.indexing == "xy" && rank > 1 && i < 2;
            grids.push_back(spread_along(e, a.tensors[i], swapped ? 1 - i : i, e.result_meta(i).shape));
        }
        return grids;
    }
    // Returns the position of each element, repeated as often as the constant `repeats` says.
    static value positions(emit<ops<>> e, const args<aten::repeat_interleave_tensor>& a) {
        const std::int64_t size = *a.output_size;
        const auto counts = constant_integers(a.repeats);
        if (!counts)
            return e.unsupported("repetitions that are computed: only constant ones are known in advance");
        if (!e.may_compute(size, dtype::int64)) return {};
        pmr_vector<std::int64_t> all;
        std::int64_t left = size;
        for (std::size_t i = 0; i != counts->size() && left >= 0; ++i) {
            const std::int64_t count = (*counts)[i];
            left = count < 0 || count > left ? -1 : left - count;
            if (left >= 0)
                all.insert(all.end(), static_cast<std::size_t>(count), static_cast<std::int64_t>(i));
        }
        if (left != 0) return e.unsupported("its repetitions do not make output_size");
        return e.constant_of(
            e.dtype(a.repeats), shape_builder{size}, [&](std::size_t i) { return scalar(all[i]); });
    }
};
HEADRACE_COMPILED_PASS(decompose_repeats);

/// Replaces part of a tensor by joining the parts around it with the replacement. With a step, the span is
/// viewed as [n, step], and its first column is replaced.
struct decompose_partial_writes : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "select_scatter, slice_scatter as cat of slices; index_fill as index_put";

    static auto rewrites() {
        return rules(on<aten::select_scatter> = code<slice_written>(),
            on<aten::slice_scatter> = code<span_written>(), on<aten::index_fill_int_scalar> = code<filled>());
    }

private:
    using made =
        ops<aten::narrow, aten::cat, aten::reshape, aten::_to_copy, aten::constant_pad_nd, aten::index_put>;
    static value slice_written(emit<made> e, const args<aten::select_scatter>& a) {
        const term x(e, a.self);
        const std::size_t axis = x.axis(a.dim);
        if (e.failed()) return {};
        const std::int64_t index = a.index < 0 ? a.index + x.shape()[axis] : a.index;
        const term part = as(term(e, a.src), x.dtype());
        return replaced(x, axis, index, shaped(part, build::with_axis(x.shape(), axis, 1)));
    }
    static value span_written(emit<made> e, const args<aten::slice_scatter>& a) {
        const term x(e, a.self);
        const std::size_t axis = x.axis(a.dim);
        if (e.failed()) return {};
        const slice_range range = clamped_slice(a.start, a.end, x.shape()[axis]);
        const std::int64_t count = range.count(a.step);
        if (count == 0) return a.self;
        const term part = as(term(e, a.src), x.dtype());
        return replaced(x, axis, range.start,
            a.step == 1 || count == 1 ? part : interleaved(x, axis, range.start, part, a.step));
    }
    static value filled(emit<made> e, const args<aten::index_fill_int_scalar>& a) {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        if (e.failed() || e.rank(a.self) == 0)
            return e.unsupported("index_fill of a tensor of rank 0; use full");
        pmr_vector<std::optional<value>> indices(axis + 1);
        indices[axis] = a.index;
        return e.make<aten::index_put>({.self = a.self,
            .indices = list<std::optional<value>>(indices),
            .values = e.splat(a.value, e.dtype(a.self), 0)});
    }
    static term shaped(const term& x, const shape_builder& shape) {
        return call<aten::reshape>(x, int_list(shape));
    }
    static term part_of(const term& x, std::size_t axis, std::int64_t start, std::int64_t length) {
        return call<aten::narrow>(x, static_cast<std::int64_t>(axis), start, length);
    }
    static value replaced(const term& x, std::size_t axis, std::int64_t start, const term& part) {
        if (!part.value()) return {};
        const std::int64_t end = start + part.shape()[axis];
        const std::int64_t left = x.shape()[axis] - end;
        value_list parts;
        if (start > 0) parts.push_back(part_of(x, axis, 0, start).value());
        parts.push_back(part.value());
        if (left > 0) parts.push_back(part_of(x, axis, end, left).value());
        return cat(emit<made>(x.owner()), parts, axis);
    }
    // Returns the span from the first to the last element written, with `part` in every step-th place.
    static term interleaved(
        const term& x, std::size_t axis, std::int64_t start, const term& part, std::int64_t step) {
        const std::int64_t count = part.shape()[axis];
        const std::int64_t room = std::min(count * step, x.shape()[axis] - start);
        const shape_builder result = build::with_axis(x.shape(), axis, (count - 1) * step + 1);
        const build::three_axes k = build::around(x.shape(), axis);
        term span = shaped(part_of(x, axis, start, room), {k.before, room, k.after});
        if (room < count * step)
            span = call<aten::constant_pad_nd>(span, int_list{0, 0, 0, count * step - room});
        span = shaped(span, {k.before, count, step, k.after});
        const term column = shaped(part, {k.before, count, 1, k.after});
        const term joined = call<aten::cat>(tensors(column, part_of(span, 2, 1, step - 1)), 2);
        const term whole = shaped(joined, {k.before, count * step, k.after});
        return shaped(part_of(whole, 1, 0, result[axis]), result);
    }
};
HEADRACE_COMPILED_PASS(decompose_partial_writes);

/// Decomposes as_strided. The storage of a row-major tensor is the flat tensor: rows without gaps are a slice
/// of it, anything else is gathered by index. A tensor derived from a view with other strides has a different
/// storage, and is refused, unless a reduction gives it and only one of its axes is longer than 1.
struct decompose_as_strided : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "as_strided(x, …)[i] as storage[offset + Σ i·stride] (torch.as_strided)";

    static auto rewrites() { return rules(on<aten::as_strided> = code<strided>()); }

private:
    using made = ops<aten::reshape, aten::narrow, aten::index_select>;
    static value strided(emit<made> e, const args<aten::as_strided>& a) {
        const std::int64_t count = e.result_meta().elements();
        const std::int64_t stored = e.meta(a.self).elements();
        const std::int64_t offset = a.storage_offset.value_or(0);
        if (a.stride.size() != a.size.size() || !stays_inside(a, stored, offset))
            return e.unsupported("as_strided must stay within the tensor");
        if (!lies_row_by_row(e.owner(), a.self)) {
            return e.unsupported(
                "as_strided of a view whose storage is not known; call contiguous() before it and use "
                "view or permute");
        }
        if (!without_gaps(a) && !e.may_compute(count, dtype::int32)) return {};
        value v = e.make<aten::reshape>({.self = a.self, .shape = int_list{stored}});
        if (without_gaps(a)) {
            v = e.make<aten::narrow>({.self = v, .dim = 0, .start = offset, .length = count});
        } else {
            const value index = e.constant_of(dtype::int32, sizes(&count, 1),
                [&](std::size_t i) { return scalar(place_of(a, static_cast<std::int64_t>(i), offset)); });
            v = e.make<aten::index_select>({.self = v, .dim = 0, .index = index});
        }
        return e.make<aten::reshape>({.self = v, .shape = e.result_meta().shape});
    }
    static bool stays_inside(const args<aten::as_strided>& a, std::int64_t elements, std::int64_t offset) {
        std::int64_t last = offset;
        for (std::size_t i = 0; i != a.size.size(); ++i) {
            if (a.stride[i] < 0) return false;
            const std::int64_t steps = std::max<std::int64_t>(a.size[i] - 1, 0);
            last = saturating_add(last, saturating_mul(steps, a.stride[i]));
        }
        return offset >= 0 && last < elements;
    }
    static bool without_gaps(const args<aten::as_strided>& a) {
        std::int64_t expected = 1;
        for (std::size_t i = a.size.size(); i-- != 0; expected *= a.size[i]) {
            if (a.size[i] != 1 && a.stride[i] != expected) return false;
        }
        return true;
    }
    static std::int64_t place_of(const args<aten::as_strided>& a, std::int64_t i, std::int64_t offset) {
        for (std::size_t d = a.size.size(); d-- != 0; i /= a.size[d]) offset += i % a.size[d] * a.stride[d];
        return offset;
    }
    // Views that change strides, which values computed from them may inherit.
    static constexpr auto strided_views = set_where<aten::dialect, trait::aliasing> -
        set_where<aten::dialect, trait::forwarding | trait::reshaping | trait::casting>;
    // The result of a reduction has storage of its own without gaps, and the order of its axes matters only
    // for those that are longer than 1. Other ops may have been in place, in the storage of a view.
    static bool is_reduced_line(value v) {
        const int_list& shape = meta_of(v)->shape;
        return v.producer->op->has(trait::reduction) &&
            std::count_if(shape.begin(), shape.end(), [](std::int64_t n) { return n != 1; }) <= 1;
    }
    static bool lies_row_by_row(const graph& g, value v) {
        if (is_reduced_line(v)) return true;
        pmr_vector<const node*> pending{v.producer};
        pmr_vector<bool> seen(g.id_bound());
        while (!pending.empty()) {
            const node& n = *pending.back();
            pending.pop_back();
            if (seen[n.id]) continue;
            seen[n.id] = true;
            if (strided_views.contains(*n.op)) return false;
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                if (!n.results[i].meta) continue;
                const int_list& order = n.results[i].meta->dim_order;
                if (!std::is_sorted(order.begin(), order.end())) return false;
            }
            for (const edge& e : n.operand_edges()) pending.push_back(e.source);
        }
        return true;
    }
};
HEADRACE_COMPILED_PASS(decompose_as_strided);

}  // namespace headrace

#endif
