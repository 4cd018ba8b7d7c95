// SPDX-License-Identifier: MIT
// Defines the passes that lower changes of shape: views, permutations, repetitions; and created tensors.
#ifndef HEADRACE_PASSES_LEGALIZE_SHAPE_HPP
#define HEADRACE_PASSES_LEGALIZE_SHAPE_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/linspace.hpp>
#include <headrace/passes/support/narrowing.hpp>
#include <headrace/passes/support/permuting.hpp>

namespace headrace {

/// Lowers every op that only changes the shape to RESHAPE (TOSA 1.0, 2.9.3). The new shape is known from
/// inference, however the op specifies it.
struct legalize_views : pass_in<legalization> {
    static constexpr std::string_view summary =
        "view, flatten, squeeze and other changes of shape to RESHAPE";

    static auto rewrites() {
        return rules(on<aten::view, aten::_unsafe_view, aten::reshape, aten::view_as, aten::reshape_as,
                         aten::flatten_using_ints, aten::unflatten_int, aten::squeeze, aten::squeeze_dim,
                         aten::squeeze_dims, aten::unsqueeze> = [](auto x, const auto&...) {
            return code<build::reshape>(x, x.result_meta().shape);
        });
    }
};
HEADRACE_COMPILED_PASS(legalize_views);

/// Lowers every op that permutes axes to TRANSPOSE (TOSA 1.0, 2.9.8), or to RESHAPE if only axes of size 1
/// move. If the rank exceeds TOSA's limit, axes that move together are merged.
struct legalize_permutes : pass_in<legalization> {
    static constexpr std::string_view summary = "permute, transpose, t and movedim to TRANSPOSE";

    static auto rewrites() {
        return rules(
            on<aten::permute, aten::transpose_int, aten::t, aten::movedim_int, aten::movedim_intlist> =
                code<made>([](emit<made> e, const auto& a) {
                    const result<shape_builder> order = build::order_of(a, e.rank(a.self));
                    return order ? build::permute(e, a.self, order.value()) : e.fail(order.error());
                }));
    }

private:
    using made = build::permute_ops;
};
HEADRACE_COMPILED_PASS(legalize_permutes);

/// Lowers ops that repeat a tensor to TILE (TOSA 1.0, 2.9.7), after adding leading axes of size 1. Expanded
/// axes are those of size 1 whose size changes; repeats count whole copies.
struct legalize_expand : pass_in<legalization> {
    static constexpr std::string_view summary = "expand, repeat and tile to TILE";

    static auto rewrites() {
        return rules(
            on<aten::expand, aten::broadcast_to, aten::expand_as> =
                [](auto x, const auto&...) { return code<build::broadcast>(x, x.result_meta().shape); },
            on<aten::repeat> = [](auto x, const auto& a) { return code<tiled>(x, a.repeats); },
            on<aten::tile> = [](auto x, const auto& a) { return code<tiled>(x, a.dims); });
    }

private:
    static value tiled(emit<build::broadcast_ops> e, value v, sizes repeats) {
        const shape_builder multiples = build::with_leading_ones(repeats, e.rank(v));
        v = build::with_rank(e, v, multiples.size());
        if (build::all_are(multiples, 1)) return v;
        return e.make<tosa::tile>({.input1 = v, .multiples = build::const_shape(e, multiples)});
    }
};
HEADRACE_COMPILED_PASS(legalize_expand);

/// Makes tensors whose elements are known: full, arange, eye and linspace become constants. As in PyTorch,
/// the elements of floating-point ranges are computed in float64 and rounded once; linspace counts from the
/// nearer end.
struct legalize_creation : pass_in<legalization> {
    using runs_after = pass_list<canonical_fills>;
    static constexpr std::string_view summary = "full, arange, eye and linspace to constants";

    static auto rewrites() {
        return rules(on<aten::full> = code<none>([](emit<none> e, const auto& a) {
            return computed(e, [&](std::int64_t) { return a.fill_value; });
        }),
            on<aten::arange, aten::arange_start, aten::arange_start_step> =
                code<none>([](emit<none> e, const auto& a) {
                    scalar start = 0, step = 1;
                    if constexpr (requires { a.start; }) start = a.start;
                    if constexpr (requires { a.step; }) step = a.step;
                    const bool integral = !start.is_floating() && !step.is_floating();
                    return computed(e, [&](std::int64_t i) -> scalar {
                        if (integral) return saturating_add(start.to_int(), saturating_mul(i, step.to_int()));
                        return start.to_double() + static_cast<double>(i) * step.to_double();
                    });
                }),
            on<aten::eye, aten::eye_m> = code<none>([](emit<none> e, const auto&) {
                const std::int64_t columns = e.result_meta().shape.back();
                return computed(
                    e, [&](std::int64_t i) { return scalar(i / columns == i % columns ? 1 : 0); });
            }),
            on<aten::linspace> = code<none>([](emit<none> e, const auto& a) {
                return computed(e, [&](std::int64_t i) -> scalar { return linspace_element(a, i); });
            }));
    }

private:
    using none = ops<>;
    // Makes a constant for the result, whose element i in row-major order is at(i).
    static value computed(emit<none> e, const auto& at) {
        const dtype type = narrowed(e.result_meta().dtype);
        const auto [least, most] = build::bounds_of(type);
        bool fits = true;
        const value v = e.constant_of(type, e.result_meta().shape, [&](std::size_t i) -> scalar {
            const scalar number = at(static_cast<std::int64_t>(i));
            const std::int64_t whole = number.to_int();
            fits = fits && (!is_integral(type) || (least.to_int() <= whole && whole <= most.to_int()));
            return number;
        });
        return fits ? v : e.unsupported({"a number does not fit in ", name_of(type)});
    }
};
HEADRACE_COMPILED_PASS(legalize_creation);

}  // namespace headrace

#endif
