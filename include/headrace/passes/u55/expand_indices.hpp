// SPDX-License-Identifier: MIT
// Defines headrace::expand_extrema and headrace::expand_gather: positions, and rows at positions.
#ifndef HEADRACE_PASSES_U55_EXPAND_INDICES_HPP
#define HEADRACE_PASSES_U55_EXPAND_INDICES_HPP

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/legalize/indexing.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/support/casting.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/passes/support/slicing.hpp>
#include <headrace/passes/u55/int32.hpp>
#include <headrace/target/u55_verify.hpp>

namespace headrace {

struct expand_bits;
struct expand_moves;
struct expand_windows;
struct number_booleans;

/// Expands extrema. INT32 whose values are known to fit in 16 bits is reduced in 16 bits; otherwise the
/// halves of the axis are compared until one element is left. The position of the largest element is that of
/// the first one equal to it.
struct expand_extrema : for_u55 {
    using runs_before = pass_list<number_booleans, expand_bits, expand_moves>;
    static constexpr std::string_view summary =
        "lowers REDUCE_MAX and REDUCE_MIN of INT32, and ARGMAX except of up to 127 INT8 channels";

    static auto rewrites() {
        return rules(on<tosa::reduce_max> = code<extremum<tosa::reduce_max>>(),
            on<tosa::reduce_min> = code<extremum<tosa::reduce_min>>(), on<tosa::argmax> = code<position>());
    }

private:
    using made = joined<build::slice_ops, build::concat_ops, build::permute_ops,
        ops<tosa::reduce_max, tosa::reduce_min, tosa::argmax, tosa::maximum, tosa::minimum, tosa::rescale,
            tosa::equal, tosa::select, tosa::cast, tosa::sub>>;
    template <class Op>
    static std::optional<value> extremum(emit<made> e, const args<Op>& a) {
        if (e.dtype(a.input) != dtype::int32) return std::nullopt;
        return reduced<Op>(e, a.input, static_cast<std::size_t>(a.axis));
    }

    static std::optional<value> position(emit<made> e, const args<tosa::argmax>& a) {
        if (u55::restriction(e.current()).empty()) return std::nullopt;
        const dtype type = e.dtype(a.input);
        if (type != dtype::int8 && type != dtype::int16) return std::nullopt;
        const auto axis = static_cast<std::size_t>(a.axis);
        const std::int64_t channels = e.shape(a.input)[axis];
        const std::int64_t rows = e.meta(a.input).elements() / channels;
        const bool fits_as_image =
            type == dtype::int8 && channels <= u55::max_argmax && rows <= u55::max_size;
        const value found =
            fits_as_image ? argmax_of_rows(e, a.input, axis) : first_of_largest(e, a.input, axis);
        return build::reshape(e, found, e.result_meta().shape);
    }

    template <op_tag Op>
    static value reduced(emit<made> e, value v, std::size_t axis) {
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
    static value reduced_as(emit<made> e, value v, std::size_t axis, dtype type) {
        return u55::widen(e, build::along<Op>(e, build::narrow(e, v, type), axis));
    }
    template <op_tag Op>
    static value reduced_by_halves(emit<made> e, value v, std::size_t axis) {
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

    static value argmax_of_rows(emit<made> e, value v, std::size_t axis) {
        const std::int64_t channels = e.shape(v)[axis];
        const std::int64_t rows = e.meta(v).elements() / channels;
        shape_builder last = build::axes_in_order(e.rank(v));
        std::rotate(last.begin() + axis, last.begin() + axis + 1, last.end());
        return build::along<tosa::argmax>(
            e, build::reshape(e, build::permute(e, v, last), shape_builder{rows, channels}), 1);
    }
    // Returns size minus the largest (size - position) of the elements that equal the largest one.
    static value first_of_largest(emit<made> e, value v, std::size_t axis) {
        const std::int64_t size = e.shape(v)[axis];
        const value largest = reduced_as<tosa::reduce_max>(e, v, axis, e.dtype(v));
        const value hits = e.make<tosa::equal>(u55::widen(e, v), largest);
        const shape_builder along_axis = build::with_axis(shape_builder::filled(e.rank(v), 1), axis, size);
        const value key = build::constant_at(
            e, dtype::int32, along_axis, [&](const shape_builder& at) { return size - at[axis]; });
        const value found = e.make<tosa::select>(hits, key, u55::splat(e, 0, v));
        const value first = size <= INT16_MAX ? reduced_as<tosa::reduce_max>(e, found, axis, dtype::int16)
                                              : reduced<tosa::reduce_max>(e, found, axis);
        return e.make<tosa::sub>(u55::splat(e, size, v), first);
    }
};
HEADRACE_COMPILED_PASS(expand_extrema);

/// Expands GATHER and SCATTER (TOSA 1.0, 2.10). Known rows are sliced and joined again. Otherwise each index
/// is compared with all rows, and the rows are multiplied by the resulting zeros and ones.
struct expand_gather : for_u55 {
    using runs_before = pass_list<number_booleans, expand_bits, expand_windows>;
    static constexpr std::string_view summary =
        "lowers GATHER and SCATTER to slices, or to products with 0 and 1";

    static auto rewrites() {
        return rules(on<tosa::gather> = code<gathered>(), on<tosa::scatter> = code<scattered>());
    }

private:
    using made = joined<build::reshape_ops, build::slice_ops, build::concat_ops,
        ops<tosa::equal, tosa::select, tosa::matmul, tosa::conv2d, tosa::rescale, tosa::cast,
            tosa::reduce_sum, tosa::reduce_any, tosa::mul>>;
    static value gathered(emit<made> e, const args<tosa::gather>& a) {
        if (const auto rows = known_rows(a.indices)) return known_gathered(e, a.values, *rows);
        const std::int64_t rows = e.shape(a.values)[1];
        if (!is_small(e, a.values, a.indices)) return {};
        return selected_rows(e, hits_of(e, a.indices, rows, 2), a.values);
    }

    static value scattered(emit<made> e, const args<tosa::scatter>& a) {
        if (const auto rows = known_rows(a.indices)) return known_scattered(e, a, *rows);
        const std::int64_t rows = e.shape(a.values_in)[1];
        if (!is_small(e, a.values_in, a.indices)) return {};
        const value hits = hits_of(e, a.indices, rows, 1);
        const value written = build::along<tosa::reduce_any>(e, hits, 2);
        return e.make<tosa::select>(written, selected_rows(e, hits, a.input), a.values_in);
    }

    static constexpr std::size_t max_slices = 1024;
    static constexpr const char* too_many_slices = "these rows would take more than 1024 slices";

    // Returns the rows that constant indices name, if they are the same in all batches.
    static std::optional<pmr_vector<std::int64_t>> known_rows(value indices) {
        auto rows = constant_integers(indices);
        if (!rows) return std::nullopt;
        const auto count = static_cast<std::size_t>(meta_of(indices)->shape[1]);
        for (std::size_t i = count; i < rows->size(); ++i) {
            if ((*rows)[i] != (*rows)[i - count]) return std::nullopt;
        }
        rows->resize(count);
        return rows;
    }
    static value refuse(emit<made> e, const char* reason) {
        return e.unsupported({"Ethos-U55 has no ", e.current().op->name.substr(5), ", and ", reason,
            "; drop u55 from the target"});
    }
    static bool is_small(emit<made> e, value values, value indices) {
        constexpr std::int64_t max_products = std::int64_t{1} << 26;
        if (element_count(e.shape(values)) * e.shape(indices)[1] <= max_products) return true;
        refuse(e, "it would take more than 2^26 products");
        return false;
    }

    static bool all_exist(emit<made> e, const pmr_vector<std::int64_t>& rows, std::int64_t count) {
        const bool all = std::ranges::all_of(rows, [&](std::int64_t row) { return row >= 0 && row < count; });
        if (!all) e.unsupported("an index is out of range");
        return all;
    }
    static value known_gathered(emit<made> e, value values, const pmr_vector<std::int64_t>& rows) {
        if (!all_exist(e, rows, e.shape(values)[1])) return {};
        if (build::count_runs(rows) > max_slices) return refuse(e, too_many_slices);
        return build::pick(e, values, 1, rows);
    }
    // Each row of the result is an original row or a new one.
    static value known_scattered(
        emit<made> e, const args<tosa::scatter>& a, const pmr_vector<std::int64_t>& rows) {
        const std::int64_t count = e.shape(a.values_in)[1];
        if (!all_exist(e, rows, count)) return {};
        constexpr std::int64_t kept = -1;
        pmr_vector<std::int64_t> from(static_cast<std::size_t>(count), kept);
        for (std::size_t i = 0; i != rows.size(); ++i)
            from[static_cast<std::size_t>(rows[i])] = static_cast<std::int64_t>(i);
        pmr_vector<value> pieces;
        for (std::size_t k = 0, end = 0; k != from.size(); k = end) {
            const auto follows = [&](std::size_t i) {
                return from[k] == kept ? from[i] == kept : from[i] == from[i - 1] + 1;
            };
            for (end = k + 1; end != from.size() && follows(end);) ++end;
            const auto length = static_cast<std::int64_t>(end - k);
            pieces.push_back(from[k] == kept
                    ? build::slice(e, a.values_in, 1, static_cast<std::int64_t>(k), length)
                    : build::slice(e, a.input, 1, from[k], length));
        }
        if (pieces.size() > max_slices) return refuse(e, too_many_slices);
        return build::concat(e, pieces, 1);
    }

    // Compares each index with each of `rows` rows, along axis 1 or 2.
    static value hits_of(emit<made> e, value indices, std::int64_t rows, std::size_t axis) {
        const int_list shape = e.shape(indices);
        const shape_builder apart =
            axis == 2 ? shape_builder{shape[0], shape[1], 1} : shape_builder{shape[0], 1, shape[1]};
        return e.make<tosa::equal>(build::reshape(e, indices, apart), build::iota(e, rows, 1, axis, 3));
    }
    // Multiplies hits [N, R, K] by values [N, K, C], and returns the sums over K, [N, R, C].
    static value selected_rows(emit<made> e, value hits, value values) {
        if (e.dtype(values) != dtype::int8) return selected_by_sum(e, hits, values);
        const value ones = e.make<tosa::cast>({.input = hits, .output_type = dtype::int8});
        const auto table = constant_integers(values);
        if (table && e.shape(hits)[0] == 1) return selected_by_convolution(e, ones, e.shape(values), *table);
        const value product = e.make<tosa::matmul>({.a = ones,
            .b = values,
            .a_zp = build::zero_point(e, dtype::int8),
            .b_zp = build::zero_point(e, dtype::int8),
            .output_type = dtype::int32});
        return build::narrow(e, product, dtype::int8);
    }
    // A convolution costs a hundredth of a MATMUL, but its weights must be constant.
    static value selected_by_convolution(
        emit<made> e, value ones, const shape_builder& values, const pmr_vector<std::int64_t>& table) {
        const shape_builder kernel{values[2], 1, 1, values[1]};
        const value weight = build::constant_at(e, dtype::int8, kernel, [&](const shape_builder& at) {
            return table[build::element_index(values, {0, at[3], at[0]})];
        });
        const shape_builder h(e.shape(ones));
        const value image = build::reshape(e, ones, shape_builder{1, h[1], 1, h[2]});
        const value found =
            build::int8_conv2d(e, image, weight, e.splat(0, dtype::int32, std::array{values[2]}));
        return build::reshape(e, found, shape_builder{1, h[1], values[2]});
    }
    static value selected_by_sum(emit<made> e, value hits, value values) {
        const shape_builder h(e.shape(hits));
        const shape_builder v(e.shape(values));
        const value ones = build::reshape(
            e, build::cast_directly(e, hits, dtype::int32), shape_builder{h[0], h[1], h[2], 1});
        const value rows = build::reshape(
            e, build::cast_directly(e, values, dtype::int32), shape_builder{v[0], 1, v[1], v[2]});
        const value sums = build::along<tosa::reduce_sum>(e, build::multiply(e, ones, rows), 2);
        return build::cast_directly(
            e, build::reshape(e, sums, shape_builder{h[0], h[1], v[2]}), e.dtype(values));
    }
};
HEADRACE_COMPILED_PASS(expand_gather);

}  // namespace headrace

#endif
