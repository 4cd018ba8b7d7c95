// SPDX-License-Identifier: MIT
// Defines headrace::decompose_extrema and decompose_cumprod.
#ifndef HEADRACE_PASSES_DECOMPOSE_SCANS_HPP
#define HEADRACE_PASSES_DECOMPOSE_SCANS_HPP

#include <cmath>
#include <vector>

#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Decomposes running extrema, and selection by rank. An axis of n elements is expanded to n axes, the i-th
/// with the elements up to i, which takes n² elements: long axes are refused. NaN is the largest number, as
/// in PyTorch.
struct decompose_extrema : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "cummax, cummin, logcumsumexp over all elements up to each; kthvalue, median by sort";

    static auto rewrites() {
        return rules(
            on<aten::kthvalue> = code<ranked>(),
            on<aten::median> = code<made>([](emit<made> e, const auto& a) { return of_all(e, a, false); }),
            on<aten::median_dim> =
                code<made>([](emit<made> e, const auto& a) { return along_axis(e, a, false); }),
            on<aten::nanmedian> = code<made>([](emit<made> e, const auto& a) { return of_all(e, a, true); }),
            on<aten::nanmedian_dim> =
                code<made>([](emit<made> e, const auto& a) { return along_axis(e, a, true); }),
            on<aten::cummax> = [](auto x, const auto& a) { return running<aten::amax>(x, a.dim); },
            on<aten::cummin> = [](auto x, const auto& a) { return running<aten::amin>(x, a.dim); },
            on<aten::logcumsumexp> =
                [](auto x, const auto& a) {
                    const auto rows = last(real(x), a.dim);
                    const auto until = where(triangle(rows), unsqueezed(rows, -2), -HUGE_VAL);
                    const auto sums = call<aten::logsumexp>(until, int_list{-1}, false);
                    return in_result_type(back(sums, x, a.dim));
                });
    }

private:
    // --- running extrema: the axis is the last of [..., n] -------------------------------------------------

    static auto last(const auto& x, std::int64_t dim) {
        return choose(
            x.rank() == 0, [&] { return viewed(x, int_list{1}); },
            [&] { return call<aten::movedim_int>(x, dim, -1); });
    }
    static auto back(const auto& rows, const auto& x, std::int64_t dim) {
        return choose(
            x.rank() == 0, [&] { return viewed(rows, int_list()); },
            [&] { return call<aten::movedim_int>(rows, -1, dim); });
    }
    // [n, n]: true if j <= i.
    static auto triangle(const auto& rows) {
        const std::int64_t n = rows.size(-1);
        const char* too_long =
            "the axis is too long: all elements up to each are more than 2^24 together, and "
            "all are in memory at once";
        return refuse_if(saturating_mul(rows.meta().elements(), n) > max_comparisons, rows, too_long,
            [&] { return mask_of(rows, 2, n, n, [](auto i, auto j) { return j <= i; }); });
    }
    // Among equal elements, and among NaNs, the position of the last one is returned.
    template <class Extremum>
    static auto running(const auto& x, std::int64_t dim) {
        const dtype type = is_boolean(x.dtype()) ? dtype::int32 : x.dtype();
        const auto rows = last(as(x, type), dim);
        const auto mask = triangle(rows);
        const auto each = unsqueezed(rows, -2);
        const auto own = unsqueezed(rows, -1);
        const auto found = call<Extremum>(where(mask, each, own), int_list{-1}, true);
        const auto is_found = choose(
            is_floating(type),
            [&] { return logical_or(each == found, logical_and(!(each == each), !(found == found))); },
            [&] { return each == found; });
        const dtype counted = counting_type(type);
        const auto places = numbered(rows, counted, shape_builder{rows.size(-1)});
        const auto position = call<aten::amax>(
            where(logical_and(mask, is_found), places, rows.constant(-1, counted)), int_list{-1}, false);
        const auto elements = viewed(found, rows.shape());
        return std::tuple(in_result_type(back(elements, x, dim)), in_result_type(back(position, x, dim), 1));
    }

    // --- selection by rank ---------------------------------------------------------------------------------

    using made = ops<aten::argmax, aten::clamp, aten::eq_tensor, aten::floor, aten::gather, aten::mul_tensor,
        aten::narrow, aten::reshape, aten::sort, aten::sub_tensor, aten::sum_dim_intlist, aten::where_self,
        aten::_to_copy>;
    struct found {
        value element{}, position{};
    };
    struct sorted : found {
        std::int64_t axis = 0;

        // Returns one element of the axis, and its position.
        [[nodiscard]] found at(emit<ops<aten::narrow>> e, std::int64_t i) const {
            const auto along = static_cast<std::size_t>(axis);
            return {narrow(e, element, along, i, 1), narrow(e, position, along, i, 1)};
        }
    };

    static std::tuple<value, value> ranked(emit<made> e, const args<aten::kthvalue>& a) {
        return shaped(e, in_order(e, a.self, a.dim).at(e, a.k - 1));
    }
    static std::tuple<value, value> along_axis(emit<made> e, const auto& a, bool without_nan) {
        return shaped(e, middle(e, a.self, a.dim, without_nan));
    }
    static value of_all(emit<made> e, const auto& a, bool without_nan) {
        const value line = reshaped(e, a.self, int_list{e.meta(a.self).elements()});
        return reshaped(e, middle(e, line, 0, without_nan).element, int_list());
    }
    static std::tuple<value, value> shaped(emit<made> e, const found& f) {
        return {
            reshaped(e, f.element, e.result_meta(0).shape), reshaped(e, f.position, e.result_meta(1).shape)};
    }
    static sorted in_order(emit<made> e, value v, std::int64_t dim) {
        if (e.rank(v) == 0) v = reshaped(e, v, int_list{1});
        const auto axis = static_cast<std::int64_t>(build::axis_in(e, dim, e.rank(v)));
        node* n = e.make_node<aten::sort>({.self = v, .dim = axis});
        return n == nullptr ? sorted{} : sorted{{n->result(0), n->result(1)}, axis};
    }
    // Returns the lower of the two middle elements; a NaN is the median, unless NaNs are left out.
    static found middle(emit<made> e, value self, std::int64_t dim, bool without_nan) {
        if (e.meta(self).elements() == 0)
            return {e.unsupported("the median of nothing: TOSA has no empty tensors"), {}};
        const sorted s = in_order(e, self, dim);
        if (e.failed()) return {};
        const term elements(e, s.element);
        const term positions(e, s.position);
        const std::int64_t count = elements.size(s.axis);
        const std::int64_t half = (count - 1) / 2;
        if (!is_floating(elements.dtype())) return s.at(e, half);
        const auto number = [&](double n) { return term(e, e.splat(n, dtype::float32, 0)); };
        if (without_nan) {
            const term ones = where(elements == elements, number(1), number(0));
            const term numbers = call<aten::sum_dim_intlist>(ones, int_list{s.axis}, true);
            const term at = call<aten::floor>((numbers - number(1)) * number(0.5));
            const term index = as(clamp(at, scalar(0.0), scalar(static_cast<double>(half))), dtype::int64);
            return {call<aten::gather>(elements, s.axis, index).value(),
                call<aten::gather>(positions, s.axis, index).value()};
        }
        // NaN is sorted last; its position is that of the first NaN along the axis.
        const term last = call<aten::narrow>(elements, s.axis, count - 1, std::int64_t{1});
        const term is_sound = last == last;
        const term v(e, e.rank(self) == 0 ? reshaped(e, self, int_list{1}) : self);
        const term first = call<aten::argmax>(where(v == v, number(0), number(1)), s.axis, true);
        const found sound = s.at(e, half);
        return {where(is_sound, term(e, sound.element), last).value(),
            where(is_sound, term(e, sound.position), first).value()};
    }
};
HEADRACE_COMPILED_PASS(decompose_extrema);

/// By doubling, as legalize_cumsum does for sums: for s = 1, 2, 4, …, x[i] *= x[i - s]. Ones are shifted in.
struct decompose_cumprod : pass_in<decomposition> {
    static constexpr std::string_view summary = "cumprod as a logarithmic number of shifted products";

    static auto rewrites() {
        using made =
            ops<aten::constant_pad_nd, aten::mul_tensor, aten::narrow, aten::reshape, aten::_to_copy>;
        return rules(on<aten::cumprod> = code<made>([](emit<made> e, const auto& a) -> value {
            value v = cast(e, a.self, e.result_meta().dtype);
            const std::size_t rank = e.rank(v);
            if (rank == 0) return e.make<aten::reshape>({.self = v, .shape = e.result_meta().shape});
            const std::size_t axis = build::axis_in(e, a.dim, rank);
            if (e.failed()) return {};
            const std::int64_t size = e.shape(v)[axis];
            for (std::int64_t shift = 1; shift < size; shift *= 2) {
                // Pairs of element counts, before and after, with the last axis first.
                std::vector<std::int64_t> padding(2 * (rank - axis), 0);
                padding[padding.size() - 2] = shift;
                const value moved = e.make<aten::constant_pad_nd>(
                    {.self = narrow(e, v, axis, 0, size - shift), .pad = int_list(padding), .value = 1});
                v = e.make<aten::mul_tensor>(v, moved);
            }
            return v;
        }));
    }
};
HEADRACE_COMPILED_PASS(decompose_cumprod);

}  // namespace headrace

#endif
