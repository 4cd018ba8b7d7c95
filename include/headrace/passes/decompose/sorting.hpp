// SPDX-License-Identifier: MIT
// Defines headrace::decompose_sort and decompose_topk.
#ifndef HEADRACE_PASSES_DECOMPOSE_SORTING_HPP
#define HEADRACE_PASSES_DECOMPOSE_SORTING_HPP

#include <string>
#include <tuple>
#include <type_traits>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/joining.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/narrowing.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Takes the largest element k times: each time, the element found is replaced by the lowest number of the
/// dtype. If only that number is left, the next position is the first one that has not been taken.
struct decompose_topk : pass {
    using phase = decomposition;
    static constexpr std::string_view summary = "topk as argmax and amax, k times";
    using targeted_ops = ops<aten::topk>;
    using produces = ops<aten::amax, aten::amin, aten::argmax, aten::argmin, aten::cat, aten::eq_tensor,
        aten::reshape, aten::where_self, aten::_to_copy>;

    std::tuple<value, value> operator()(const args<aten::topk>& a, emit<produces>& e) const {
        if (!is_floating(e.dtype(a.self)) && !is_signed_integral(e.dtype(a.self)))
            return {e.unsupported("TOSA does not compare unsigned integers; cast them"), {}};
        if (a.k == 0) return {e.unsupported("none are taken: TOSA has no empty tensors"), {}};
        if (!e.may_unroll(a.k)) return {};
        value rest = a.self;
        if (e.rank(rest) == 0) rest = e.make<aten::reshape>({.self = rest, .shape = int_list{1}});
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(rest));
        if (e.failed()) return {};
        value_list values, positions;
        const dtype type = e.dtype(rest);
        const auto [lowest, highest] = build::bounds_of(narrowed(type));
        const value last = e.splat(a.largest ? lowest : highest, type, 0);
        const value taken = e.splat(a.largest ? 0 : 1, type, 0);
        value ranked = rest, open = e.splat(a.largest ? 1 : 0, type, 0);
        for (std::int64_t i = 0; i != a.k; ++i) {
            const value best = extremum(e, rest, axis, a.largest);
            if (i != 0) {
                // Taken positions hold the lowest number, which differs once the tensor is quantized.
                const value lowest_left = extremum(e, rest, axis, !a.largest);
                ranked = e.make<aten::where_self>(e.make<aten::eq_tensor>(best, lowest_left), open, rest);
            }
            const value found = position(e, ranked, axis, a.largest);
            values.push_back(best);
            positions.push_back(found);
            if (i + 1 == a.k) break;
            const value here = is_at(e, rest, axis, found);
            rest = e.make<aten::where_self>(here, last, rest);
            open = e.make<aten::where_self>(here, taken, open);
        }
        return {reshaped(e, cat(e, values, axis), e.result_meta(0).shape),
            reshaped(e, cat(e, positions, axis), e.result_meta(1).shape)};
    }

private:
    static value extremum(emit<ops<aten::amax, aten::amin>> e, value v, std::size_t axis, bool largest) {
        const int_list axes{static_cast<std::int64_t>(axis)};
        return largest ? e.make<aten::amax>({.self = v, .dim = axes, .keepdim = true})
                       : e.make<aten::amin>({.self = v, .dim = axes, .keepdim = true});
    }
    static value position(emit<ops<aten::argmax, aten::argmin>> e, value v, std::size_t axis, bool largest) {
        const auto dim = static_cast<std::int64_t>(axis);
        return largest ? e.make<aten::argmax>({.self = v, .dim = dim, .keepdim = true})
                       : e.make<aten::argmin>({.self = v, .dim = dim, .keepdim = true});
    }
    // Positions are compared in the tensor's kind of dtype, so that floats do not need integers as well.
    static value is_at(emit<ops<aten::eq_tensor, aten::_to_copy>> e, value v, std::size_t axis, value found) {
        const bool floats = is_floating(e.dtype(v));
        const dtype type = floats ? dtype::float32 : dtype::int64;
        if (floats) found = e.make<aten::_to_copy>({.self = found, .dtype = type});
        shape_builder line = shape_builder::filled(e.rank(v), 1);
        line[axis] = e.shape(v)[axis];
        const value at = e.constant_of(type, line, [&](std::size_t i) {
            return floats ? scalar(static_cast<double>(i)) : scalar(static_cast<std::int64_t>(i));
        });
        return e.make<aten::eq_tensor>(found, at);
    }
};
HEADRACE_COMPILED_PASS(decompose_topk);

/// Decomposes sort, which TOSA does not have. Each element is compared with every other one along the axis:
/// the number of elements that precede it is its place. Equal elements keep their order, and NaN is the
/// largest, as in PyTorch. n elements take n² comparisons, all in memory at once, so long axes are refused.
struct decompose_sort : pass {
    using phase = decomposition;
    static constexpr std::string_view summary = "sort, argsort, msort by how many elements come before each";
    using targeted_ops = aten::sort_ops;
    using produces = ops<aten::_to_copy, aten::eq_tensor, aten::gather, aten::ge_tensor, aten::gt_tensor,
        aten::logical_and, aten::logical_not, aten::reshape, aten::sum_dim_intlist, aten::unsqueeze,
        aten::where_self>;

    template <one_of<ops<aten::sort, aten::sort_stable>> Op>
    std::tuple<value, value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const sorted s = in_order(e, a.self, a.dim, a.descending);
        return {s.elements, s.positions};
    }
    template <one_of<ops<aten::argsort, aten::argsort_stable>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        return in_order(e, a.self, a.dim, a.descending).positions;
    }
    value operator()(const args<aten::msort>& a, emit<produces>& e) const {
        return in_order(e, a.self, 0, false).elements;
    }

private:
    struct sorted {
        value elements, positions;
    };
    static constexpr std::int64_t max_comparisons = std::int64_t{1} << 24;

    static sorted in_order(emit<produces>& e, value self, std::int64_t dim, bool descending) {
        const dtype type = e.dtype(self);
        const int_list shape = e.shape(self);
        if (type == dtype::uint8)
            return {e.unsupported("TOSA does not compare unsigned integers; cast them"), {}};
        value v = is_boolean(type) ? e.make<aten::_to_copy>({.self = self, .dtype = dtype::int32}) : self;
        if (shape.empty()) v = e.make<aten::reshape>({.self = v, .shape = int_list{1}});
        const std::size_t axis = build::axis_in(e, dim, e.rank(v));
        if (e.failed()) return {};
        const std::int64_t count = e.shape(v)[axis];
        const std::int64_t comparisons = saturating_mul(e.meta(v).elements(), count);
        if (comparisons > max_comparisons) {
            return {e.unsupported({"sorting ", count, " elements takes ", comparisons,
                        " comparisons, as TOSA has no sort; at most 2^24 are made: use topk for a few"}),
                {}};
        }
        const value positions = positions_of(e, places_of(e, v, axis, descending), axis, e.dtype(v));
        const value elements =
            e.make<aten::gather>({.self = v, .dim = static_cast<std::int64_t>(axis), .index = positions});
        return {reshaped(e, cast(e, elements, type), shape), reshaped(e, positions, shape)};
    }

    // Returns the place of each element: the number of elements that precede it. Elements before it on the
    // axis do unless it is less than they are; elements after it do only if they are less.
    static value places_of(emit<produces>& e, value v, std::size_t axis, bool descending) {
        const auto dim = static_cast<std::int64_t>(axis);
        const value one = e.make<aten::unsqueeze>({.self = v, .dim = dim + 1});
        const value other = e.make<aten::unsqueeze>({.self = v, .dim = dim});
        const value other_first = descending ? less(e, one, other) : less(e, other, one);
        const value one_first = descending ? less(e, other, one) : less(e, one, other);
        const value stands_before =
            pairs(e, v, axis, dtype::boolean, [&](std::int64_t i, std::int64_t j) { return scalar(j < i); });
        const value is_before = e.make<aten::where_self>({.condition = stands_before,
            .self = e.make<aten::logical_not>({.self = one_first}),
            .other = other_first});
        const dtype counted = number_type(e.dtype(v));
        const value numbers = e.make<aten::where_self>(
            {.condition = is_before, .self = e.splat(1, counted, 0), .other = e.splat(0, counted, 0)});
        return e.make<aten::sum_dim_intlist>({.self = numbers, .dim = int_list{dim + 1}});
    }
    // Returns, for each place, the position of the element that belongs there.
    static value positions_of(emit<produces>& e, value places, std::size_t axis, dtype sorted_type) {
        if (e.failed()) return {};
        const auto dim = static_cast<std::int64_t>(axis);
        const dtype counted = number_type(sorted_type);
        const auto number = [&](std::int64_t n) {
            return is_floating(counted) ? scalar(static_cast<double>(n)) : scalar(n);
        };
        const value place =
            pairs(e, places, axis, counted, [&](std::int64_t, std::int64_t j) { return number(j); });
        const value position =
            pairs(e, places, axis, counted, [&](std::int64_t i, std::int64_t) { return number(i); });
        const value each = e.make<aten::unsqueeze>({.self = places, .dim = dim + 1});
        const value found = e.make<aten::where_self>({.condition = e.make<aten::eq_tensor>(each, place),
            .self = position,
            .other = e.splat(0, counted, 0)});
        const value sum = e.make<aten::sum_dim_intlist>({.self = found, .dim = int_list{dim}});
        return is_floating(counted) ? e.make<aten::_to_copy>({.self = sum, .dtype = dtype::int64}) : sum;
    }

    // Floats are counted in floats, so that the target does not need integers as well.
    static dtype number_type(dtype sorted_type) {
        return is_floating(sorted_type) ? dtype::float32 : dtype::int64;
    }
    static value less(emit<produces>& e, value a, value b) {
        if (!is_floating(e.dtype(a))) return e.make<aten::gt_tensor>(b, a);
        const value is_number = e.make<aten::eq_tensor>(a, a);
        const value reaches = e.make<aten::ge_tensor>(a, b);
        return e.make<aten::logical_and>(e.make<aten::logical_not>({.self = reaches}), is_number);
    }
    // Returns `number(i, j)` for each pair of positions of the axis, which is expanded to two axes.
    static value pairs(emit<produces>& e, value v, std::size_t axis, dtype type, const auto& number) {
        shape_builder shape = shape_builder::filled(e.rank(v) + 1, 1);
        shape[axis] = shape[axis + 1] = e.shape(v)[axis];
        return build::constant_at(
            e, type, shape, [&](const shape_builder& at) { return number(at[axis], at[axis + 1]); });
    }
};
HEADRACE_COMPILED_PASS(decompose_sort);

}  // namespace headrace

#endif
