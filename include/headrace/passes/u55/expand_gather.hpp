// SPDX-License-Identifier: MIT
// Defines headrace::expand_gather.
#ifndef HEADRACE_PASSES_U55_EXPAND_GATHER_HPP
#define HEADRACE_PASSES_U55_EXPAND_GATHER_HPP

#include <array>
#include <memory_resource>
#include <optional>
#include <string>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/legalize/indexing.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/u55/for_u55.hpp>
#include <headrace/passes/u55/int32.hpp>

namespace headrace {

struct number_booleans;
struct expand_bits;
struct expand_windows;
/// Expands GATHER and SCATTER (TOSA 1.0, 2.10). Known rows are sliced and joined again. Otherwise each index
/// is compared with all rows, and the rows are multiplied by the resulting zeros and ones.
struct expand_gather : pass, for_u55 {
    using phase = expansion;
    using runs_before = pass_list<number_booleans, expand_bits, expand_windows>;
    static constexpr std::string_view summary =
        "lowers GATHER and SCATTER to slices, or to products with 0 and 1";

    using targeted_ops = ops<tosa::gather, tosa::scatter>;
    using produces = joined<build::reshape_ops, build::slice_ops, build::concat_ops,
        ops<tosa::equal, tosa::select, tosa::matmul, tosa::conv2d, tosa::rescale, tosa::cast,
            tosa::reduce_sum, tosa::reduce_any, tosa::mul>>;

    value operator()(const args<tosa::gather>& a, emit<produces>& e) const {
        if (const auto rows = known_rows(a.indices)) return gathered(e, a.values, *rows);
        const std::int64_t rows = e.shape(a.values)[1];
        if (!is_small(e, a.values, a.indices)) return {};
        return selected_rows(e, hits_of(e, a.indices, rows, 2), a.values);
    }

    value operator()(const args<tosa::scatter>& a, emit<produces>& e) const {
        if (const auto rows = known_rows(a.indices)) return scattered(e, a, *rows);
        const std::int64_t rows = e.shape(a.values_in)[1];
        if (!is_small(e, a.values_in, a.indices)) return {};
        const value hits = hits_of(e, a.indices, rows, 1);
        const value written = build::along<tosa::reduce_any>(e, hits, 2);
        return e.make<tosa::select>(written, selected_rows(e, hits, a.input), a.values_in);
    }

private:
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
    static value refuse(emit<produces>& e, const char* reason) {
        return e.unsupported({"Ethos-U55 has no ", e.current().op->name.substr(5), ", and ", reason,
            "; drop u55 from the target"});
    }
    static bool is_small(emit<produces>& e, value values, value indices) {
        constexpr std::int64_t max_products = std::int64_t{1} << 26;
        if (element_count(e.shape(values)) * e.shape(indices)[1] <= max_products) return true;
        refuse(e, "it would take more than 2^26 products");
        return false;
    }

    // --- known rows --------------------------------------------------------------------------

    static bool all_exist(emit<produces>& e, const pmr_vector<std::int64_t>& rows, std::int64_t count) {
        for (const std::int64_t row : rows) {
            if (row >= 0 && row < count) continue;
            e.unsupported("an index is out of range");
            return false;
        }
        return true;
    }
    static value gathered(emit<produces>& e, value values, const pmr_vector<std::int64_t>& rows) {
        if (!all_exist(e, rows, e.shape(values)[1])) return {};
        if (build::count_runs(rows) > max_slices) return refuse(e, too_many_slices);
        return build::pick(e, values, 1, rows);
    }
    // Each row of the result is an original row or a new one.
    static value scattered(
        emit<produces>& e, const args<tosa::scatter>& a, const pmr_vector<std::int64_t>& rows) {
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

    // --- computed rows -----------------------------------------------------------------------

    // Compares each index with each of `rows` rows, along axis 1 or 2.
    static value hits_of(emit<produces>& e, value indices, std::int64_t rows, std::size_t axis) {
        const int_list shape = e.shape(indices);
        const shape_builder apart =
            axis == 2 ? shape_builder{shape[0], shape[1], 1} : shape_builder{shape[0], 1, shape[1]};
        return e.make<tosa::equal>(build::reshape(e, indices, apart), build::iota(e, rows, 1, axis, 3));
    }
    // Multiplies hits [N, R, K] by values [N, K, C], and returns the sums over K, [N, R, C].
    static value selected_rows(emit<produces>& e, value hits, value values) {
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
        emit<produces>& e, value ones, const shape_builder& values, const pmr_vector<std::int64_t>& table) {
        const shape_builder kernel{values[2], 1, 1, values[1]};
        const value weight = build::constant_at(e, dtype::int8, kernel, [&](const shape_builder& at) {
            return table[build::element_index(values, {0, at[3], at[0]})];
        });
        const shape_builder h(e.shape(ones));
        const value image = build::reshape(e, ones, shape_builder{1, h[1], 1, h[2]});
        const value found = e.make<tosa::conv2d>(
            build::unpadded<tosa::conv2d>(e, image, weight, e.splat(0, dtype::int32, std::array{values[2]})));
        return build::reshape(e, build::narrow(e, found, dtype::int8), shape_builder{1, h[1], values[2]});
    }
    static value selected_by_sum(emit<produces>& e, value hits, value values) {
        const dtype type = e.dtype(values);
        const auto as = [&](value v, dtype to) {
            return e.dtype(v) == to ? v : e.make<tosa::cast>({.input = v, .output_type = to});
        };
        const shape_builder h(e.shape(hits));
        const shape_builder v(e.shape(values));
        const value ones = build::reshape(e, as(hits, dtype::int32), shape_builder{h[0], h[1], h[2], 1});
        const value rows = build::reshape(e, as(values, dtype::int32), shape_builder{v[0], 1, v[1], v[2]});
        const value sums = build::along<tosa::reduce_sum>(e, build::multiply(e, ones, rows), 2);
        return as(build::reshape(e, sums, shape_builder{h[0], h[1], v[2]}), type);
    }
};
HEADRACE_COMPILED_PASS(expand_gather);

}  // namespace headrace

#endif
