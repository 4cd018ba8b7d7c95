// SPDX-License-Identifier: MIT
// Defines headrace::decompose_partial_writes.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_PARTIAL_WRITES_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_PARTIAL_WRITES_HPP

#include <algorithm>
#include <memory_resource>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// A tensor with a part replaced is the parts around it joined with what replaces it: select_scatter and
/// slice_scatter. With a step, the span is viewed as [n, step], whose first column is replaced. index_fill
/// puts one number at the indices of an axis.
struct decompose_partial_writes : pass {
    using phase = decomposition;
    using targets = ops<aten::select_scatter, aten::slice_scatter, aten::index_fill_int_scalar>;
    using produces =
        ops<aten::narrow, aten::cat, aten::reshape, aten::_to_copy, aten::constant_pad_nd, aten::index_copy>;

    value operator()(const args<aten::select_scatter>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        if (e.failed()) return {};
        const std::int64_t index = a.index < 0 ? a.index + e.shape(a.self)[axis] : a.index;
        const shape_builder shape = build::with_axis(e.shape(a.self), axis, 1);
        const value part = e.make<aten::reshape>({.self = typed(e, a.src, a.self), .shape = int_list(shape)});
        return replaced(e, a.self, axis, index, part);
    }
    value operator()(const args<aten::slice_scatter>& a, emit<produces>& e) const {
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        if (e.failed()) return {};
        const slice_range range = clamped_slice(a.start, a.end, e.shape(a.self)[axis]);
        const std::int64_t count = range.count(a.step);
        if (count == 0) return a.self;
        const value part = typed(e, a.src, a.self);
        if (a.step == 1 || count == 1) return replaced(e, a.self, axis, range.start, part);
        return replaced(e, a.self, axis, range.start,
                        interleaved(e, a.self, axis, range.start, part, a.step));
    }
    value operator()(const args<aten::index_fill_int_scalar>& a, emit<produces>& e) const {
        const std::size_t rank = e.rank(a.self);
        const std::size_t axis = build::axis_in(e, a.dim, rank);
        if (e.failed() || rank == 0) return e.unsupported("index_fill of a single number; use full");
        const shape_builder part = build::with_axis(e.shape(a.self), axis, e.meta(a.index).elements());
        return e.make<aten::index_copy>({.self = a.self,
                                         .dim = a.dim,
                                         .index = a.index,
                                         .source = e.splat(a.value, e.dtype(a.self), sizes(part))});
    }

private:
    static value typed(emit<produces>& e, value v, value like) {
        return e.dtype(v) == e.dtype(like) ? v : e.make<aten::_to_copy>({.self = v, .dtype = e.dtype(like)});
    }
    static value narrow(emit<produces>& e, value v, std::size_t axis, std::int64_t start,
                        std::int64_t count) {
        return e.make<aten::narrow>(
            {.self = v, .dim = static_cast<std::int64_t>(axis), .start = start, .length = count});
    }
    static value replaced(emit<produces>& e, value v, std::size_t axis, std::int64_t start, value part) {
        if (!part) return {};
        const std::int64_t end = start + e.shape(part)[axis];
        const std::int64_t size = e.shape(v)[axis];
        std::pmr::vector<value> parts;
        if (start > 0) parts.push_back(narrow(e, v, axis, 0, start));
        parts.push_back(part);
        if (end < size) parts.push_back(narrow(e, v, axis, end, size - end));
        return e.make<aten::cat>({.tensors = list<value>(parts), .dim = static_cast<std::int64_t>(axis)});
    }
    // The span from the first to the last element written, with `part` in every step-th place.
    static value interleaved(emit<produces>& e, value v, std::size_t axis, std::int64_t start, value part,
                             std::int64_t step) {
        const std::int64_t count = e.shape(part)[axis];
        const std::int64_t length = (count - 1) * step + 1;
        const std::int64_t room = std::min(count * step, e.shape(v)[axis] - start);
        const shape_builder result = build::with_axis(e.shape(v), axis, length);
        const build::three_axes k = build::around(e.shape(v), axis);
        const auto viewed = [&](value x, std::int64_t n, std::int64_t m) {
            return e.make<aten::reshape>({.self = x, .shape = int_list{k.before, n, m, k.after}});
        };
        value span = e.make<aten::reshape>(
            {.self = narrow(e, v, axis, start, room), .shape = int_list{k.before, room, k.after}});
        if (room < count * step) {
            span =
                e.make<aten::constant_pad_nd>({.self = span, .pad = int_list{0, 0, 0, count * step - room}});
        }
        const value parts[] = {viewed(part, count, 1), narrow(e, viewed(span, count, step), 2, 1, step - 1)};
        value joined = e.make<aten::cat>({.tensors = list<value>(parts, 2), .dim = 2});
        joined = e.make<aten::reshape>({.self = joined, .shape = int_list{k.before, count * step, k.after}});
        return e.make<aten::reshape>({.self = narrow(e, joined, 1, 0, length), .shape = int_list(result)});
    }
};

}  // namespace headrace

#endif
