// SPDX-License-Identifier: MIT
// Defines headrace::legalize_argmax.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_ARGMAX_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_ARGMAX_HPP

#include <algorithm>
#include <tuple>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/indexing.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Lowers the positions of extrema to ARGMAX (TOSA 1.0, 2.2.1), which, like PyTorch, returns the first of
/// equal elements and ranks NaN highest; argmin is ARGMAX of the negated tensor. For integers, ARGMAX has at
/// most 16 bits and NEGATE overflows on the lowest value, so the first element equal to the extremum is
/// searched for.
struct legalize_argmax : pass {
    using phase = legalization;
    static constexpr std::string_view summary =
        "argmax, argmin, and max and min of an axis to ARGMAX and REDUCE_MAX";

    static auto rewrites() {
        return rules(
            on<aten::argmax> = code<made>([](emit<made> e, const auto& a) { return place(e, a, true); }),
            on<aten::argmin> = code<made>([](emit<made> e, const auto& a) { return place(e, a, false); }),
            on<aten::max_dim> = code<made>([](emit<made> e, const auto& a) { return both(e, a, true); }),
            on<aten::min_dim> = code<made>([](emit<made> e, const auto& a) { return both(e, a, false); }));
    }

private:
    using made = joined<build::reshape_ops, build::widen_ops,
        ops<tosa::argmax, tosa::negate, tosa::reduce_max, tosa::reduce_min, tosa::equal>>;
    static value place(emit<made> e, const auto& a, bool largest) {
        const std::int64_t count = e.meta(a.self).elements();
        const value v = a.dim ? a.self : build::reshape(e, a.self, sizes(&count, 1));
        return position(e, v, a.dim.value_or(0), largest, e.result_meta().shape);
    }
    static std::tuple<value, value> both(emit<made> e, const auto& a, bool largest) {
        const value v = build::with_rank(e, a.self, std::max<std::size_t>(e.rank(a.self), 1));
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(v));
        const value extremum = build::cast_directly(e, reduced(e, number(e, v), axis, largest), e.dtype(v));
        return {build::reshape(e, extremum, e.result_meta(0).shape),
            position(e, v, a.dim, largest, e.result_meta(1).shape)};
    }
    // Bools and integers are compared as INT32.
    static value number(emit<build::widen_ops> e, value v) {
        return is_floating(e.dtype(v)) ? v : build::widen(e, v, dtype::int32);
    }
    static value reduced(
        emit<ops<tosa::reduce_max, tosa::reduce_min>> e, value v, std::size_t axis, bool largest) {
        if (!v || e.shape(v)[axis] == 1) return v;
        return largest ? build::along<tosa::reduce_max>(e, v, axis)
                       : build::along<tosa::reduce_min>(e, v, axis);
    }
    static value position(emit<made> e, value v, std::int64_t dim, bool largest, sizes shape) {
        v = number(e, build::with_rank(e, v, std::max<std::size_t>(e.rank(v), 1)));
        const std::size_t axis = build::axis_in(e, dim, e.rank(v));
        if (e.failed()) return {};
        const bool floats = is_floating(e.dtype(v));
        const value found = floats ? build::along<tosa::argmax>(e, largest ? v : build::negate(e, v), axis)
                                   : of_integers(e, v, axis, largest);
        return build::reshape_index(e, found, shape);
    }
    static value of_integers(emit<made> e, value v, std::size_t axis, bool largest) {
        if (!build::allows<tosa::equal>(e, {dtype::int32, dtype::int32, dtype::boolean}))
            return e.unsupported("integers need the profile INT; add it to the target");
        const std::int64_t size = e.shape(v)[axis];
        const value found = e.make<tosa::equal>(v, reduced(e, v, axis, largest));
        const value at = build::iota(e, size, 1, axis, e.rank(v));
        const value candidates = e.make<tosa::select>(found, at, e.splat(size, dtype::int32, e.rank(v)));
        return reduced(e, candidates, axis, false);
    }
};
HEADRACE_COMPILED_PASS(legalize_argmax);

}  // namespace headrace

#endif
