// SPDX-License-Identifier: MIT
// Defines the passes that lower reductions: sums, products, extrema and their positions, any and all, cumsum.
#ifndef HEADRACE_PASSES_LEGALIZE_REDUCTION_HPP
#define HEADRACE_PASSES_LEGALIZE_REDUCTION_HPP

#include <algorithm>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/indexing.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/reducing.hpp>

namespace headrace {

namespace build {
/// Widens to the dtype of PyTorch's result, and then to that in which sums and products are computed.
inline value widen_to_sum(emit<widen_ops> e, value v) {
    const dtype type = narrowed(e.result_meta().dtype);
    return widen(e, widen(e, v, type), summing_type(type));
}
}  // namespace build

/// Lowers sums to REDUCE_SUM, one axis at a time (TOSA 1.0, 2.8.6). Half-precision floats are summed in FP32
/// and narrow integers in INT32, as in PyTorch.
struct legalize_sums : pass_in<legalization> {
    static constexpr std::string_view summary = "sum to REDUCE_SUM";

    static auto rewrites() {
        return rules(on<aten::sum, aten::sum_dim_intlist> = code<made>([](emit<made> e, const auto& a) {
            const value sum = build::reduce(e, build::widen_to_sum(e, a.self), a,
                [&](value v, std::size_t axis) { return build::along<tosa::reduce_sum>(e, v, axis); });
            return build::cast_directly(e, sum, narrowed(e.result_meta().dtype));
        }));
    }

private:
    using made = joined<build::widen_ops, build::reshape_ops, ops<tosa::reduce_sum>>;
};
HEADRACE_COMPILED_PASS(legalize_sums);

/// Lowers products to REDUCE_PRODUCT (TOSA 1.0, 2.8.5), which takes floats only; for integers, the halves of
/// the axis are multiplied until one element is left.
struct legalize_products : pass_in<legalization> {
    static constexpr std::string_view summary = "prod to REDUCE_PRODUCT, or to products of halves";

    static auto rewrites() {
        return rules(on<aten::prod, aten::prod_dim_int> = code<made>([](emit<made> e, const auto& a) {
            const dtype type = narrowed(e.result_meta().dtype);
            const auto step = [&](value v, std::size_t axis) {
                return is_floating(type) ? build::along<tosa::reduce_product>(e, v, axis)
                                         : halved(e, v, axis);
            };
            return build::cast_directly(e, build::reduce(e, build::widen_to_sum(e, a.self), a, step), type);
        }));
    }

private:
    using halving_ops = joined<build::slice_ops, build::concat_ops, ops<tosa::mul>>;
    using made = joined<build::widen_ops, build::reshape_ops, halving_ops, ops<tosa::reduce_product>>;
    static value halved(emit<halving_ops> e, value v, std::size_t axis) {
        for (std::int64_t size = e.shape(v)[axis]; size > 1 && v; size = (size + 1) / 2) {
            const std::int64_t half = size / 2;
            const value product =
                build::multiply(e, build::slice(e, v, axis, 0, half), build::slice(e, v, axis, half, half));
            if (size % 2 == 0) {
                v = product;
            } else {
                const value parts[] = {product, build::slice(e, v, axis, size - 1, 1)};
                v = build::concat(e, parts, axis);
            }
        }
        return v;
    }
};
HEADRACE_COMPILED_PASS(legalize_products);

/// Lowers the largest and the smallest element to REDUCE_MAX and REDUCE_MIN (TOSA 1.0, 2.8.3 and 2.8.4),
/// which propagate NaN as PyTorch does. For bools these are REDUCE_ANY and REDUCE_ALL.
struct legalize_limits : pass_in<legalization> {
    static constexpr std::string_view summary = "amax, amin and their like to REDUCE_MAX and REDUCE_MIN";

    static auto rewrites() {
        return rules(
            on<aten::amax, aten::max> = code<made>([](emit<made> e, const auto& a) { return largest(e, a); }),
            on<aten::amin, aten::min> =
                code<made>([](emit<made> e, const auto& a) { return smallest(e, a); }),
            on<aten::aminmax> = code<made>([](emit<made> e, const auto& a) {
                return std::tuple<value, value>{smallest(e, a), largest(e, a)};
            }));
    }

private:
    using made = joined<build::reshape_ops,
        ops<tosa::reduce_max, tosa::reduce_min, tosa::reduce_any, tosa::reduce_all>>;
    static value largest(emit<made> e, const auto& a) {
        return reduced<tosa::reduce_max, tosa::reduce_any>(e, a);
    }
    static value smallest(emit<made> e, const auto& a) {
        return reduced<tosa::reduce_min, tosa::reduce_all>(e, a);
    }
    template <op_tag OfNumbers, op_tag OfBools>
    static value reduced(emit<made> e, const auto& a) {
        return build::reduce(e, a.self, a, [&](value v, std::size_t axis) {
            return is_boolean(e.dtype(v)) ? build::along<OfBools>(e, v, axis)
                                          : build::along<OfNumbers>(e, v, axis);
        });
    }
};
HEADRACE_COMPILED_PASS(legalize_limits);

/// Lowers any and all to REDUCE_ANY and REDUCE_ALL (TOSA 1.0, 2.8.1 and 2.8.2). Numbers are true if not 0.
struct legalize_any_all : pass_in<legalization> {
    static constexpr std::string_view summary = "any and all to REDUCE_ANY and REDUCE_ALL";

    static auto rewrites() {
        return rules(on<aten::any, aten::any_dim, aten::any_dims> = code<made>(
                         [](emit<made> e, const auto& a) { return reduced<tosa::reduce_any>(e, a); }),
            on<aten::all, aten::all_dim, aten::all_dims> =
                code<made>([](emit<made> e, const auto& a) { return reduced<tosa::reduce_all>(e, a); }));
    }

private:
    using made = joined<build::truth_ops, build::reshape_ops, ops<tosa::reduce_any, tosa::reduce_all>>;
    template <op_tag To>
    static value reduced(emit<made> e, const auto& a) {
        const auto step = [&](value v, std::size_t axis) { return build::along<To>(e, v, axis); };
        // An empty list of axes reduces nothing.
        return build::reduce(e, build::to_truth(e, a.self), a, step, no_axes::none);
    }
};
HEADRACE_COMPILED_PASS(legalize_any_all);

/// Lowers the positions of extrema to ARGMAX (TOSA 1.0, 2.2.1), which, like PyTorch, returns the first of
/// equal elements and ranks NaN highest; argmin is ARGMAX of the negated tensor. For integers, ARGMAX has at
/// most 16 bits and NEGATE overflows on the lowest value, so the first element equal to the extremum is
/// searched for.
struct legalize_argmax : pass_in<legalization> {
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
        const value v = build::at_least_1d(e, a.self);
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
        v = number(e, build::at_least_1d(e, v));
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

/// Computes cumsum by doubling (Hillis and Steele, Data Parallel Algorithms, 1986): for s = 1, 2, 4, …, x[i]
/// += x[i - s]. Each prefix is summed as a tree, in FP32 or INT32, and an infinity only reaches prefixes that
/// contain it. The number shifted in is -0, the only one that never changes a sum.
struct legalize_cumsum : pass_in<legalization> {
    static constexpr std::string_view summary = "cumsum to a logarithmic number of shifted additions";

    using made =
        joined<build::widen_ops, build::reshape_ops, build::slice_ops, build::pad_ops, ops<tosa::add>>;
    static auto rewrites() {
        return rules(on<aten::cumsum> = code<made>([](emit<made> e, const auto& a) {
            value v = build::at_least_1d(e, build::widen_to_sum(e, a.self));
            const std::size_t axis = build::axis_in(e, a.dim, e.rank(v));
            if (e.failed()) return value();
            const scalar nothing = is_floating(e.dtype(v)) ? scalar(-0.0) : scalar(0);
            const std::int64_t size = e.shape(v)[axis];
            for (std::int64_t shift = 1; shift < size; shift *= 2) {
                const value kept = build::slice(e, v, axis, 0, size - shift);
                v = e.make<tosa::add>(v, build::pad(e, kept, axis, shift, 0, nothing));
            }
            v = build::reshape(e, v, e.result_meta().shape);
            return build::cast_directly(e, v, narrowed(e.result_meta().dtype));
        }));
    }
};
HEADRACE_COMPILED_PASS(legalize_cumsum);

}  // namespace headrace

#endif
