// SPDX-License-Identifier: MIT
// Defines headrace::expand_extrema.
#ifndef HEADRACE_PASSES_U55_EXPAND_EXTREMA_HPP
#define HEADRACE_PASSES_U55_EXPAND_EXTREMA_HPP

#include <memory_resource>
#include <optional>

#include <headrace/passes/legalize/indexing.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/passes/support/slicing.hpp>
#include <headrace/passes/u55/for_u55.hpp>
#include <headrace/passes/u55/intervals.hpp>
#include <headrace/target/u55_verify.hpp>

namespace headrace {

/// REDUCE_MAX and REDUCE_MIN of INT32, and ARGMAX of other than up to 127 channels of INT8. What fits in 16
/// bits is reduced there; else halves of the axis are compared until one element is left. The position of
/// the largest is that of the first element which equals it.
struct expand_extrema : pass, for_u55 {
    static constexpr std::string_view summary =
        "reduce 32-bit extrema in 16 bits or by halves, and ARGMAX by comparison";
    using targets = ops<tosa::reduce_max, tosa::reduce_min, tosa::argmax>;
    using produces = joined<build::slice_ops, build::concat_ops, build::permute_ops, build::select_ops,
                            ops<tosa::reduce_max, tosa::reduce_min, tosa::argmax, tosa::maximum,
                                tosa::minimum, tosa::rescale, tosa::equal, tosa::cast, tosa::sub>>;

    template <one_of<ops<tosa::reduce_max, tosa::reduce_min>> Op>
    std::optional<value> operator()(Op, const args<Op>& a, emit<produces>& e) const {
        if (e.dtype(a.input) != dtype::int32) return std::nullopt;
        return reduced<Op>(e, a.input, static_cast<std::size_t>(a.axis));
    }

    std::optional<value> operator()(const args<tosa::argmax>& a, emit<produces>& e) const {
        if (u55::restriction(e.current()).empty()) return std::nullopt;
        const dtype type = e.dtype(a.input);
        if (type != dtype::int8 && type != dtype::int16) return std::nullopt;
        const auto axis = static_cast<std::size_t>(a.axis);
        const std::int64_t channels = e.shape(a.input)[axis];
        const std::int64_t rows = e.meta(a.input).elements() / channels;
        if (type == dtype::int8 && channels <= u55::most_argmax && rows <= u55::most_size) {
            shape_builder last;
            for (std::size_t i = 0; i != e.rank(a.input); ++i) {
                if (i != axis) last.push_back(static_cast<std::int64_t>(i));
            }
            last.push_back(a.axis);
            const value v =
                build::reshape(e, build::permute(e, a.input, last), shape_builder{rows, channels});
            const value found = e.make<tosa::argmax>({.input = v, .axis = 1});
            return build::reshape(e, found, e.result_meta().shape);
        }
        return build::reshape(e, first_of_largest(e, a.input, axis), e.result_meta().shape);
    }

private:
    static value as(emit<produces>& e, value v, dtype type) {
        constexpr int shift = 30;
        return e.make<tosa::rescale>({.input = v,
                                      .multiplier = e.splat(1 << shift, dtype::int32, 1),
                                      .shift = e.splat(shift, dtype::int8, 1),
                                      .input_zp = e.splat(0, dtype::int32, 1),
                                      .output_zp = e.splat(0, type, 1)});
    }
    static value wide(emit<produces>& e, value v) {
        return e.make<tosa::cast>({.input = v, .output_type = dtype::int32});
    }
    template <op_tag Op>
    static value narrow_reduced(emit<produces>& e, value v, std::size_t axis) {
        return wide(e, e.make<Op>({.input = v, .axis = static_cast<std::int64_t>(axis)}));
    }

    template <op_tag Op>
    static value reduced(emit<produces>& e, value v, std::size_t axis) {
        if (const auto* cast = match<tosa::cast>(v)) {
            const dtype type = e.dtype(cast->input);
            if (type == dtype::int8 || type == dtype::int16) return narrow_reduced<Op>(e, cast->input, axis);
        }
        const interval known = interval_of(v);
        for (const dtype type : {dtype::int8, dtype::int16}) {
            const auto [lowest, highest] = range_of(type);
            if (known.lies_in(lowest, highest)) return narrow_reduced<Op>(e, as(e, v, type), axis);
        }
        using best = std::conditional_t<std::is_same_v<Op, tosa::reduce_max>, tosa::maximum, tosa::minimum>;
        for (std::int64_t size = e.shape(v)[axis]; v && size > 1; size = e.shape(v)[axis]) {
            const std::int64_t half = size / 2;
            const value better =
                e.make<best>(build::slice(e, v, axis, 0, half), build::slice(e, v, axis, half, half));
            const value left_over = size % 2 == 0 ? value{} : build::slice(e, v, axis, size - 1, 1);
            v = left_over ? build::concat(e, std::array{better, left_over}, axis) : better;
        }
        return v;
    }

    // The largest of (size - position) over the elements that equal the largest, taken back.
    static value first_of_largest(emit<produces>& e, value v, std::size_t axis) {
        const std::int64_t size = e.shape(v)[axis];
        const value most = narrow_reduced<tosa::reduce_max>(e, v, axis);
        const value hits = e.make<tosa::equal>(wide(e, v), most);
        const value place = build::iota(e, size, 1, axis, e.rank(v));
        const value count = e.splat(size, dtype::int32, e.rank(v));
        std::pmr::vector<std::int32_t> from_end;
        for (std::int64_t i = 0; i != size; ++i) from_end.push_back(static_cast<std::int32_t>(size - i));
        const value key = e.constant<std::int32_t>(dtype::int32, e.shape(place), from_end);
        const value found = e.make<tosa::select>(hits, key, e.splat(0, dtype::int32, e.rank(v)));
        const auto [lowest, highest] = range_of(dtype::int16);
        const value first = size <= highest
                                ? narrow_reduced<tosa::reduce_max>(e, as(e, found, dtype::int16), axis)
                                : reduced<tosa::reduce_max>(e, found, axis);
        return e.make<tosa::sub>(count, first);
    }
};

}  // namespace headrace

#endif
