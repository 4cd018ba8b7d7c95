// SPDX-License-Identifier: MIT
// Defines headrace::decompose_extrema and decompose_cumprod.
#ifndef HEADRACE_PASSES_DECOMPOSE_SCANS_HPP
#define HEADRACE_PASSES_DECOMPOSE_SCANS_HPP

#include <limits>
#include <tuple>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/joining.hpp>
#include <headrace/passes/decompose/reductions.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Decomposes running extrema, and selection by rank. An axis of n elements is expanded to n axes, the i-th
/// with the elements up to i, which takes n² elements: long axes are refused. NaN is the largest number, as
/// in PyTorch.
struct decompose_extrema : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "cummax, cummin, logcumsumexp over all elements up to each; kthvalue, median by sort";
    using targeted_ops =
        ops<aten::kthvalue, aten::median, aten::median_dim, aten::nanmedian, aten::nanmedian_dim>;
    using produces = ops<aten::argmax, aten::clamp, aten::eq_tensor, aten::floor, aten::gather,
        aten::mul_tensor, aten::narrow, aten::reshape, aten::sort, aten::sub_tensor, aten::sum_dim_intlist,
        aten::where_self, aten::_to_copy>;

    static auto rewrites() {
        return rules(
            on<aten::cummax> =
                [](auto x, const auto& a) {
                    return running(x, a.dim, [](const auto& v) { return largest(v, int_list{-1}); });
                },
            on<aten::cummin> =
                [](auto x, const auto& a) {
                    return running(x, a.dim, [](const auto& v) { return smallest(v, int_list{-1}); });
                },
            on<aten::logcumsumexp> =
                [](auto x, const auto& a) {
                    const auto rows = last(as(x, dtype::float32), a.dim);
                    const auto until = where(triangle(rows), call<aten::unsqueeze>(rows, -2), -infinity);
                    const auto sums = call<aten::logsumexp>(until, int_list{-1}, false);
                    return in_result_type(choose(
                        is_large(rows), [&] { return too_large(x); }, [&] { return back(sums, x, a.dim); }));
                });
    }

    std::tuple<value, value> operator()(const args<aten::kthvalue>& a, emit<produces>& e) const {
        const sorted s = in_order(e, a.self, a.dim);
        return {reshaped(e, narrow(e, s.elements, s.axis, a.k - 1), e.result_meta(0).shape),
            reshaped(e, narrow(e, s.positions, s.axis, a.k - 1), e.result_meta(1).shape)};
    }
    template <one_of<ops<aten::median_dim, aten::nanmedian_dim>> Op>
    std::tuple<value, value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const found f = middle(e, a.self, a.dim, __is_same(Op, aten::nanmedian_dim));
        return {
            reshaped(e, f.element, e.result_meta(0).shape), reshaped(e, f.position, e.result_meta(1).shape)};
    }
    template <one_of<ops<aten::median, aten::nanmedian>> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const value flat = reshaped(e, a.self, int_list{e.meta(a.self).elements()});
        return reshaped(e, middle(e, flat, 0, __is_same(Op, aten::nanmedian)).element, int_list());
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr std::int64_t max_elements = std::int64_t{1} << 24;

    // --- running extrema: the axis is the last of [..., n] -------------------------------------------------

    static bool is_large(const auto& rows) {
        return saturating_mul(rows.meta().elements(), rows.size(-1)) > max_elements;
    }
    static auto too_large(const auto& x) {
        return x.unsupported(
            "the axis is too long: all elements up to each are more than 2^24 together, and "
            "all are in memory at once");
    }
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
        pmr_vector<std::uint8_t> mask;
        const std::int64_t count = saturating_mul(n, n);
        const std::int64_t computed = !is_large(rows) && rows.may_compute(count, dtype::boolean) ? count : 0;
        for (std::int64_t i = 0; i < computed; ++i) mask.push_back(i % n <= i / n);
        return choose(
            is_large(rows), [&] { return too_large(rows); },
            [&] {
                return rows.tensor(dtype::boolean, shape_builder{n, n}, mask);
            });
    }
    // Among equal elements, and among NaNs, the position of the last one is returned.
    static auto running(const auto& x, std::int64_t dim, const auto& extremum) {
        const dtype type = is_floating(x.dtype()) ? x.dtype()
            : is_boolean(x.dtype())               ? dtype::int32
                                                  : x.dtype();
        const auto rows = last(as(x, type), dim);
        const auto mask = triangle(rows);
        const auto each = call<aten::unsqueeze>(rows, -2);
        const auto own = call<aten::unsqueeze>(rows, -1);
        const auto found = extremum(where(mask, each, own));
        const auto is_found = choose(
            is_floating(type),
            [&] { return logical_or(each == found, logical_and(!(each == each), !(found == found))); },
            [&] { return each == found; });
        const dtype counted = is_floating(type) ? dtype::float32 : dtype::int64;
        const auto places = line(rows, counted);
        const auto position = call<aten::amax>(
            where(logical_and(mask, is_found), places, rows.constant(-1, counted)), int_list{-1}, false);
        const auto elements = viewed(found, rows.shape());
        return std::tuple(in_result_type(back(elements, x, dim)), in_result_type(back(position, x, dim), 1));
    }
    // 0, 1, …, n - 1.
    static auto line(const auto& rows, dtype type) {
        const std::int64_t n = rows.size(-1);
        return code<ops<>>(
            [n, type](emit<ops<>> e, value) {
                return e.constant_of(type, shape_builder{n}, [&](std::size_t i) {
                    return is_floating(type) ? scalar(static_cast<double>(i))
                                             : scalar(static_cast<std::int64_t>(i));
                });
            },
            rows);
    }

    // --- selection by rank ---------------------------------------------------------------------------------

    struct sorted {
        value elements{}, positions{};
        std::size_t axis = 0;
    };
    struct found {
        value element{}, position{};
    };

    static sorted in_order(emit<produces>& e, value v, std::int64_t dim) {
        if (e.rank(v) == 0) v = reshaped(e, v, int_list{1});
        const std::size_t axis = build::axis_in(e, dim, e.rank(v));
        node* n = e.make_node<aten::sort>({.self = v, .dim = static_cast<std::int64_t>(axis)});
        return n == nullptr ? sorted{} : sorted{n->result(0), n->result(1), axis};
    }
    static value narrow(emit<ops<aten::narrow>> e, value v, std::size_t axis, std::int64_t at) {
        return headrace::narrow(e, v, axis, at, 1);
    }
    // Returns the lower of the two middle elements; a NaN is the median, unless NaNs are left out.
    static found middle(emit<produces>& e, value self, std::int64_t dim, bool without_nan) {
        if (e.meta(self).elements() == 0) {
            return {e.unsupported("the median of nothing: TOSA has no empty tensors"), {}};
        }
        const sorted s = in_order(e, self, dim);
        if (e.failed()) return {};
        const std::int64_t count = e.shape(s.elements)[s.axis];
        const auto axis = static_cast<std::int64_t>(s.axis);
        const std::int64_t half = (count - 1) / 2;
        if (!is_floating(e.dtype(s.elements)))
            return {narrow(e, s.elements, s.axis, half), narrow(e, s.positions, s.axis, half)};
        const value is_number = e.make<aten::eq_tensor>(s.elements, s.elements);
        const value ones = e.make<aten::where_self>({.condition = is_number,
            .self = e.splat(1, dtype::float32, 0),
            .other = e.splat(0, dtype::float32, 0)});
        if (without_nan) {
            const value numbers =
                e.make<aten::sum_dim_intlist>({.self = ones, .dim = int_list{axis}, .keepdim = true});
            const value last =
                e.make<aten::sub_tensor>({.self = numbers, .other = e.splat(1, dtype::float32, 0)});
            const value at = e.make<aten::floor>(
                {.self = e.make<aten::mul_tensor>(last, e.splat(0.5, dtype::float32, 0))});
            const value index = cast(e,
                e.make<aten::clamp>(
                    {.self = at, .min = scalar(0.0), .max = scalar(static_cast<double>(half))}),
                dtype::int64);
            return {e.make<aten::gather>({.self = s.elements, .dim = axis, .index = index}),
                e.make<aten::gather>({.self = s.positions, .dim = axis, .index = index})};
        }
        // NaN is sorted last; its position is that of the first NaN along the axis.
        const value last = narrow(e, s.elements, s.axis, count - 1);
        const value is_sound = e.make<aten::eq_tensor>(last, last);
        const value v = e.rank(self) == 0 ? reshaped(e, self, int_list{1}) : self;
        const value unsound = e.make<aten::where_self>({.condition = e.make<aten::eq_tensor>(v, v),
            .self = e.splat(0, dtype::float32, 0),
            .other = e.splat(1, dtype::float32, 0)});
        const value first = e.make<aten::argmax>({.self = unsound, .dim = axis, .keepdim = true});
        return {e.make<aten::where_self>(
                    {.condition = is_sound, .self = narrow(e, s.elements, s.axis, half), .other = last}),
            e.make<aten::where_self>(
                {.condition = is_sound, .self = narrow(e, s.positions, s.axis, half), .other = first})};
    }
};
HEADRACE_COMPILED_PASS(decompose_extrema);

/// By doubling, as legalize_cumsum does for sums: for s = 1, 2, 4, …, x[i] *= x[i - s]. Ones are shifted in.
struct decompose_cumprod : pass {
    using phase = decomposition;
    static constexpr std::string_view summary = "cumprod as a logarithmic number of shifted products";
    using targeted_ops = ops<aten::cumprod>;
    using produces =
        ops<aten::constant_pad_nd, aten::mul_tensor, aten::narrow, aten::reshape, aten::_to_copy>;

    value operator()(const args<aten::cumprod>& a, emit<produces>& e) const {
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
    }
};
HEADRACE_COMPILED_PASS(decompose_cumprod);

}  // namespace headrace

#endif
