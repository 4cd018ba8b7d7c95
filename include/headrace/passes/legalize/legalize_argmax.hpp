// SPDX-License-Identifier: MIT
// Defines headrace::legalize_argmax.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_ARGMAX_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_ARGMAX_HPP

#include <algorithm>
#include <tuple>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/indexing.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers the positions of extrema to ARGMAX (TOSA 1.0, 2.2.1), which as PyTorch takes the first of equals
/// and NaN above all; the smallest is the largest of the negated. Integers, for which ARGMAX has at most 16
/// bits and NEGATE no largest value, look for the first element that equals the extremum.
struct legalize_argmax : pass {
    using phase = legalization;
    using targets = ops<aten::argmax, aten::argmin, aten::max_dim, aten::min_dim>;
    using produces = joined<build::cast_ops, build::reshape_ops,
                            ops<tosa::argmax, tosa::negate, tosa::reduce_max, tosa::reduce_min>>;

    template <one_of<ops<aten::argmax, aten::argmin>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        constexpr bool largest = std::is_same_v<Op, aten::argmax>;
        const bool whole = !a.dim.has_value();
        const std::int64_t count = e.meta(a.self).elements();
        const value v = whole ? build::reshape(e, a.self, sizes(&count, 1)) : a.self;
        return position(e, v, whole ? 0 : *a.dim, largest, e.result_meta().shape);
    }
    template <one_of<ops<aten::max_dim, aten::min_dim>> Op>
    std::tuple<value, value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        constexpr bool largest = std::is_same_v<Op, aten::max_dim>;
        const value v = build::with_rank(e, a.self, std::max<std::size_t>(e.rank(a.self), 1));
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(v));
        const value extremum = build::cast(e, reduced(e, number(e, v), axis, largest), e.dtype(v));
        return {build::reshape(e, extremum, e.result_meta(0).shape),
                position(e, v, a.dim, largest, e.result_meta(1).shape)};
    }

private:
    // Bools and integers are compared as INT32.
    static value number(emit<produces>& e, value v) {
        return is_floating(e.dtype(v)) ? v : build::cast(e, v, dtype::int32);
    }
    static value reduced(emit<produces>& e, value v, std::size_t i, bool largest) {
        if (!v || e.shape(v)[i] == 1) return v;
        const auto axis = static_cast<std::int64_t>(i);
        return largest ? e.make<tosa::reduce_max>({.input = v, .axis = axis})
                       : e.make<tosa::reduce_min>({.input = v, .axis = axis});
    }
    static value position(emit<produces>& e, value v, std::int64_t dim, bool largest, sizes shape) {
        v = number(e, build::with_rank(e, v, std::max<std::size_t>(e.rank(v), 1)));
        const std::size_t axis = build::axis_in(e, dim, e.rank(v));
        if (e.failed()) return {};
        const bool floats = is_floating(e.dtype(v));
        return build::reshape_index(
            e, floats ? of_floats(e, v, axis, largest) : of_integers(e, v, axis, largest), shape);
    }
    static value of_floats(emit<produces>& e, value v, std::size_t axis, bool largest) {
        return e.make<tosa::argmax>(
            {.input = largest ? v : build::negate(e, v), .axis = static_cast<std::int64_t>(axis)});
    }
    static value of_integers(emit<produces>& e, value v, std::size_t axis, bool largest) {
        const std::int64_t size = e.shape(v)[axis];
        const value found = e.make<tosa::equal>(v, reduced(e, v, axis, largest));
        const value at = build::iota(e, size, 1, axis, e.rank(v));
        return reduced(e, build::select(e, found, at, e.splat(size, dtype::int32, e.rank(v))), axis, false);
    }
};

}  // namespace headrace

#endif
