// SPDX-License-Identifier: MIT
// Defines headrace::decompose_partial_writes.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_PARTIAL_WRITES_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_PARTIAL_WRITES_HPP

#include <algorithm>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/decompose/joining.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Replaces part of a tensor by joining the parts around it with the replacement. With a step, the span is
/// viewed as [n, step], and its first column is replaced.
struct decompose_partial_writes : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "select_scatter, slice_scatter as cat of slices; index_fill as index_put";

    using targeted_ops = ops<aten::select_scatter, aten::slice_scatter, aten::index_fill_int_scalar>;
    using produces =
        ops<aten::narrow, aten::cat, aten::reshape, aten::_to_copy, aten::constant_pad_nd, aten::index_put>;

    value operator()(const args<aten::select_scatter>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        if (e.failed()) return {};
        const std::int64_t index = a.index < 0 ? a.index + e.shape(a.self)[axis] : a.index;
        const shape_builder shape = build::with_axis(e.shape(a.self), axis, 1);
        return replaced(e, a.self, axis, index, viewed(e, cast(e, a.src, e.dtype(a.self)), shape));
    }
    value operator()(const args<aten::slice_scatter>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        if (e.failed()) return {};
        const slice_range range = clamped_slice(a.start, a.end, e.shape(a.self)[axis]);
        const std::int64_t count = range.count(a.step);
        if (count == 0) return a.self;
        value part = cast(e, a.src, e.dtype(a.self));
        if (a.step != 1 && count != 1) part = interleaved(e, a.self, axis, range.start, part, a.step);
        return replaced(e, a.self, axis, range.start, part);
    }
    value operator()(const args<aten::index_fill_int_scalar>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        if (e.failed() || e.rank(a.self) == 0)
            return e.unsupported("index_fill of a tensor of rank 0; use full");
        pmr_vector<std::optional<value>> indices(axis + 1);
        indices[axis] = a.index;
        return e.make<aten::index_put>({.self = a.self,
            .indices = list<std::optional<value>>(indices),
            .values = e.splat(a.value, e.dtype(a.self), 0)});
    }

private:
    static value viewed(emit<ops<aten::reshape>> e, value v, sizes shape) {
        return e.make<aten::reshape>({.self = v, .shape = int_list(shape)});
    }

    static value replaced(
        emit<ops<aten::narrow, aten::cat>> e, value v, std::size_t axis, std::int64_t start, value part) {
        if (!part) return {};
        const std::int64_t end = start + e.shape(part)[axis];
        const std::int64_t size = e.shape(v)[axis];
        value_list parts;
        if (start > 0) parts.push_back(narrow(e, v, axis, 0, start));
        parts.push_back(part);
        if (end < size) parts.push_back(narrow(e, v, axis, end, size - end));
        return cat(e, parts, axis);
    }
    // Returns the span from the first to the last element written, with `part` in every step-th place.
    static value interleaved(
        emit<produces> e, value v, std::size_t axis, std::int64_t start, value part, std::int64_t step) {
        const std::int64_t count = e.shape(part)[axis];
        const std::int64_t room = std::min(count * step, e.shape(v)[axis] - start);
        const shape_builder result = build::with_axis(e.shape(v), axis, (count - 1) * step + 1);
        const build::three_axes k = build::around(e.shape(v), axis);
        value span = viewed(e, narrow(e, v, axis, start, room), shape_builder{k.before, room, k.after});
        if (room < count * step) {
            span =
                e.make<aten::constant_pad_nd>({.self = span, .pad = int_list{0, 0, 0, count * step - room}});
        }
        span = viewed(e, span, shape_builder{k.before, count, step, k.after});
        const value column = viewed(e, part, shape_builder{k.before, count, 1, k.after});
        const value parts[] = {column, narrow(e, span, 2, 1, step - 1)};
        const value joined = viewed(e, cat(e, parts, 2), shape_builder{k.before, count * step, k.after});
        return viewed(e, narrow(e, joined, 1, 0, result[axis]), result);
    }
};
HEADRACE_COMPILED_PASS(decompose_partial_writes);

}  // namespace headrace

#endif
