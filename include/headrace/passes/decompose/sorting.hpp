// SPDX-License-Identifier: MIT
// Defines headrace::decompose_sort and decompose_topk.
#ifndef HEADRACE_PASSES_DECOMPOSE_SORTING_HPP
#define HEADRACE_PASSES_DECOMPOSE_SORTING_HPP

#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/support/narrowing.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Takes the largest element k times: each time, the element found is replaced by the lowest number of the
/// dtype. If only that number is left, the next position is the first one that has not been taken.
struct decompose_topk : pass_in<decomposition> {
    static constexpr std::string_view summary = "topk as argmax and amax, k times";

    static auto rewrites() { return rules(on<aten::topk> = code<highest>()); }

private:
    using made = ops<aten::amax, aten::amin, aten::argmax, aten::argmin, aten::cat, aten::eq_tensor,
        aten::reshape, aten::where_self, aten::_to_copy>;
    static std::tuple<value, value> highest(emit<made> e, const args<aten::topk>& a) {
        const dtype type = e.dtype(a.self);
        if (!is_floating(type) && !is_signed_integral(type))
            return {e.unsupported("TOSA does not compare unsigned integers; cast them"), {}};
        if (a.k == 0) return {e.unsupported("none are taken: TOSA has no empty tensors"), {}};
        if (!e.may_unroll(a.k)) return {};
        term rest(e, a.self);
        if (rest.rank() == 0) rest = call<aten::reshape>(rest, int_list{1});
        const auto axis = static_cast<std::int64_t>(rest.axis(a.dim));
        if (e.failed()) return {};
        const auto number = [&](scalar n) { return term(e, e.splat(n, type, 0)); };
        const auto [low, high] = build::bounds_of(narrowed(type));
        const term last = number(a.largest ? low : high);
        const term taken = number(a.largest ? 0 : 1);
        term ranked = rest, open = number(a.largest ? 1 : 0);
        value_list values, positions;
        for (std::int64_t i = 0; i != a.k; ++i) {
            const term best = extremum(rest, int_list{axis}, a.largest);
            // Taken positions hold the lowest number, which differs once the tensor is quantized.
            if (i != 0) ranked = where(best == extremum(rest, int_list{axis}, !a.largest), open, rest);
            const term found =
                a.largest ? call<aten::argmax>(ranked, axis, true) : call<aten::argmin>(ranked, axis, true);
            values.push_back(best.value());
            positions.push_back(found.value());
            if (i + 1 == a.k) break;
            const term here = is_at(rest, axis, found);
            rest = where(here, last, rest);
            open = where(here, taken, open);
        }
        const auto joined = [&](const value_list& parts, std::uint32_t i) {
            return reshaped(e, cat(e, parts, static_cast<std::size_t>(axis)), e.result_meta(i).shape);
        };
        return {joined(values, 0), joined(positions, 1)};
    }
    // Positions are compared in the tensor's kind of dtype, so that floats do not need integers as well.
    static term is_at(const term& x, std::int64_t axis, const term& found) {
        const dtype type = counting_type(x.dtype());
        return as(found, type) == numbered(x, type, line_shape(x.rank(), axis, x.size(axis)));
    }
};
HEADRACE_COMPILED_PASS(decompose_topk);

/// Decomposes sort, which TOSA does not have. Each element is compared with every other one along the axis:
/// the number of elements that precede it is its place. Equal elements keep their order, and NaN is the
/// largest, as in PyTorch. n elements take n² comparisons, all in memory at once, so long axes are refused.
struct decompose_sort : pass_in<decomposition> {
    static constexpr std::string_view summary = "sort, argsort, msort by how many elements come before each";

    static auto rewrites() {
        return rules(
            on<aten::argsort, aten::argsort_stable> = code<made>([](emit<made> e, const auto& a) -> value {
                return std::get<1>(in_order(e, a.self, a.dim, a.descending));
            }),
            on<aten::msort> = code<made>([](emit<made> e, const auto& a) -> value {
                return std::get<0>(in_order(e, a.self, 0, false));
            }),
            on<aten::sort, aten::sort_stable> = code<made>(
                [](emit<made> e, const auto& a) { return in_order(e, a.self, a.dim, a.descending); }));
    }

private:
    using made = ops<aten::_to_copy, aten::eq_tensor, aten::gather, aten::ge_tensor, aten::gt_tensor,
        aten::logical_and, aten::logical_not, aten::reshape, aten::sum_dim_intlist, aten::unsqueeze,
        aten::where_self>;
    // Returns the elements in order, and their positions.
    static std::tuple<value, value> in_order(emit<made> e, value self, std::int64_t dim, bool descending) {
        const term x(e, self);
        if (x.dtype() == dtype::uint8)
            return {e.unsupported("TOSA does not compare unsigned integers; cast them"), {}};
        term v = is_boolean(x.dtype()) ? as(x, dtype::int32) : x;
        if (x.rank() == 0) v = call<aten::reshape>(v, int_list{1});
        const auto axis = static_cast<std::int64_t>(v.axis(dim));
        if (e.failed()) return {};
        const std::int64_t comparisons = saturating_mul(v.meta().elements(), v.size(axis));
        if (comparisons > max_comparisons) {
            return {e.unsupported({"sorting ", v.size(axis), " elements takes ", comparisons,
                        " comparisons, as TOSA has no sort; at most 2^24 are made: use topk for a few"}),
                {}};
        }
        const term positions = positions_of(v, places_of(v, axis, descending), axis);
        const term elements = as(call<aten::gather>(v, axis, positions), x.dtype());
        return {reshaped(e, elements.value(), x.shape()), reshaped(e, positions.value(), x.shape())};
    }
    // Returns the place of each element: the number of elements that precede it. Elements before it on the
    // axis do unless it is less than they are; elements after it do only if they are less.
    static term places_of(const term& v, std::int64_t axis, bool descending) {
        const term one = unsqueezed(v, axis + 1);
        const term other = unsqueezed(v, axis);
        const term other_first = descending ? less(one, other) : less(other, one);
        const term one_first = descending ? less(other, one) : less(one, other);
        const term is_earlier =
            pairs(v, axis, dtype::boolean, [](std::int64_t i, std::int64_t j) { return scalar(j < i); });
        const term is_before = where(is_earlier, !one_first, other_first);
        return sum_along(where(is_before, number(v, 1), number(v, 0)), axis + 1);
    }
    // Returns, for each place, the position of the element that belongs there.
    static term positions_of(const term& v, const term& places, std::int64_t axis) {
        const auto numbers = [&](bool of_first) {
            return pairs(v, axis, counting_type(v.dtype()),
                [&](std::int64_t i, std::int64_t j) { return scalar(of_first ? i : j); });
        };
        const term is_here = unsqueezed(places, axis + 1) == numbers(false);
        return as(sum_along(where(is_here, numbers(true), number(v, 0)), axis), dtype::int64);
    }
    static term number(const term& v, int n) { return v.of(v.owner().splat(n, counting_type(v.dtype()), 0)); }
    static term less(const term& a, const term& b) {
        if (!is_floating(a.dtype())) return b > a;
        const term is_number = a == a;
        return logical_and(!(a >= b), is_number);
    }
    // Returns `number(i, j)` for each pair of positions of the axis, which is expanded to two axes.
    static term pairs(const term& v, std::int64_t axis, dtype type, const auto& number) {
        const auto first = static_cast<std::size_t>(axis);
        shape_builder shape = line_shape(v.rank(), axis, v.size(axis));
        shape.insert(first + 1, v.size(axis));
        return v.of(build::constant_at(emit<ops<>>(v.owner()), type, shape,
            [&](const shape_builder& at) { return number(at[first], at[first + 1]); }));
    }
};
HEADRACE_COMPILED_PASS(decompose_sort);

}  // namespace headrace

#endif
