// SPDX-License-Identifier: MIT
// Defines headrace::expand_extrema.
#ifndef HEADRACE_PASSES_U55_EXPAND_EXTREMA_HPP
#define HEADRACE_PASSES_U55_EXPAND_EXTREMA_HPP

#include <array>
#include <optional>
#include <type_traits>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/passes/support/slicing.hpp>
#include <headrace/passes/u55/for_u55.hpp>
#include <headrace/passes/u55/int32.hpp>
#include <headrace/passes/u55/intervals.hpp>
#include <headrace/target/u55_verify.hpp>

namespace headrace {

struct number_booleans;
struct expand_bits;
struct expand_moves;
/// Expands extrema. INT32 whose values are known to fit in 16 bits is reduced in 16 bits; otherwise the
/// halves of the axis are compared until one element is left. The position of the largest element is that of
/// the first one equal to it.
struct expand_extrema : pass, for_u55 {
    using phase = expansion;
    using runs_before = pass_list<number_booleans, expand_bits, expand_moves>;
    static constexpr std::string_view summary =
        "lowers REDUCE_MAX and REDUCE_MIN of INT32, and ARGMAX except of up to 127 INT8 channels";

    using targeted_ops = ops<tosa::reduce_max, tosa::reduce_min, tosa::argmax>;
    using produces = joined<build::slice_ops, build::concat_ops, build::permute_ops,
        ops<tosa::reduce_max, tosa::reduce_min, tosa::argmax, tosa::maximum, tosa::minimum, tosa::rescale,
            tosa::equal, tosa::select, tosa::cast, tosa::sub>>;

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
        const bool fits_as_image =
            type == dtype::int8 && channels <= u55::max_argmax && rows <= u55::max_size;
        const value position =
            fits_as_image ? argmax_of_rows(e, a.input, axis) : first_of_largest(e, a.input, axis);
        return build::reshape(e, position, e.result_meta().shape);
    }

private:
    template <op_tag Op>
    static value reduced(emit<produces>& e, value v, std::size_t axis) {
        if (const auto* cast = match<tosa::cast>(v)) {
            const dtype type = e.dtype(cast->input);
            if (type == dtype::int8 || type == dtype::int16)
                return u55::widen(e, build::along<Op>(e, cast->input, axis));
        }
        const u55::interval known = u55::interval_of(v);
        for (const dtype type : {dtype::int8, dtype::int16}) {
            if (known.fits(type)) return reduced_as<Op>(e, v, axis, type);
        }
        return reduced_by_halves<Op>(e, v, axis);
    }
    template <op_tag Op>
    static value reduced_as(emit<produces>& e, value v, std::size_t axis, dtype type) {
        return u55::widen(e, build::along<Op>(e, build::narrow(e, v, type), axis));
    }
    template <op_tag Op>
    static value reduced_by_halves(emit<produces>& e, value v, std::size_t axis) {
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

    static value argmax_of_rows(emit<produces>& e, value v, std::size_t axis) {
        const std::int64_t channels = e.shape(v)[axis];
        shape_builder last = build::axes_in_order(e.rank(v));
        last.erase(axis);
        last.push_back(static_cast<std::int64_t>(axis));
        const std::int64_t rows = e.meta(v).elements() / channels;
        return build::along<tosa::argmax>(
            e, build::reshape(e, build::permute(e, v, last), shape_builder{rows, channels}), 1);
    }
    // Returns size minus the largest (size - position) of the elements that equal the largest one.
    static value first_of_largest(emit<produces>& e, value v, std::size_t axis) {
        const std::int64_t size = e.shape(v)[axis];
        const value largest = reduced_as<tosa::reduce_max>(e, v, axis, e.dtype(v));
        const value hits = e.make<tosa::equal>(u55::widen(e, v), largest);
        pmr_vector<std::int64_t> from_end;
        for (std::int64_t i = 0; i != size; ++i) from_end.push_back(size - i);
        const shape_builder along_axis = build::with_axis(shape_builder::filled(e.rank(v), 1), axis, size);
        const value key = u55::constant(e, along_axis, from_end);
        const value found = e.make<tosa::select>(hits, key, u55::splat(e, 0, v));
        const value first = size <= INT16_MAX ? reduced_as<tosa::reduce_max>(e, found, axis, dtype::int16)
                                              : reduced<tosa::reduce_max>(e, found, axis);
        return e.make<tosa::sub>(u55::splat(e, size, v), first);
    }
};
HEADRACE_COMPILED_PASS(expand_extrema);

}  // namespace headrace

#endif
