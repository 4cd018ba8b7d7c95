// SPDX-License-Identifier: MIT
// Defines headrace::expand_gather.
#ifndef HEADRACE_PASSES_U55_EXPAND_GATHER_HPP
#define HEADRACE_PASSES_U55_EXPAND_GATHER_HPP

#include <memory_resource>
#include <optional>
#include <string>
#include <vector>

#include <headrace/passes/legalize/indexing.hpp>
#include <headrace/passes/support/constants.hpp>
#include <headrace/passes/u55/for_u55.hpp>

namespace headrace {

/// GATHER and SCATTER (TOSA 1.0, 2.10) without either. Rows that are known are slices, joined again. Else
/// each index is compared with all rows, and what that selects is a product with ones and zeros: MATMUL of
/// INT8, or a convolution of one element where the table is constant, MUL and REDUCE_SUM of INT32.
struct expand_gather : pass, for_u55 {
    static constexpr std::string_view summary =
        "GATHER and SCATTER as slices, or as products with ones and zeros";
    using targets = ops<tosa::gather, tosa::scatter>;
    using produces = joined<build::reshape_ops, build::slice_ops, build::concat_ops, build::cast_ops,
                            ops<tosa::equal, tosa::select, tosa::matmul, tosa::conv2d, tosa::rescale,
                                tosa::reduce_sum, tosa::reduce_any, tosa::mul>>;

    value operator()(const args<tosa::gather>& a, emit<produces>& e) const {
        const shape_builder values(e.shape(a.values));
        const std::int64_t count = e.shape(a.indices)[1];
        if (const auto rows = known_rows(a.indices)) return gathered(e, a.values, *rows);
        if (!is_small(e, values[0] * values[1] * count * values[2])) return {};
        const shape_builder one_row{values[0], count, 1};
        const value hits =
            e.make<tosa::equal>(build::reshape(e, a.indices, one_row), build::iota(e, values[1], 1, 2, 3));
        return build::cast(e, product(e, hits, a.values), e.dtype(a.values));
    }

    value operator()(const args<tosa::scatter>& a, emit<produces>& e) const {
        const shape_builder values(e.shape(a.values_in));
        const std::int64_t count = e.shape(a.indices)[1];
        if (const auto rows = known_rows(a.indices)) return scattered(e, a, *rows);
        if (!is_small(e, values[0] * values[1] * count * values[2])) return {};
        const shape_builder one_row{values[0], 1, count};
        const value hits =
            e.make<tosa::equal>(build::reshape(e, a.indices, one_row), build::iota(e, values[1], 1, 1, 3));
        const value written = e.make<tosa::reduce_any>({.input = hits, .axis = 2});
        const value rows = product(e, hits, a.input);
        const dtype type = e.dtype(a.values_in);
        return e.make<tosa::select>(written, build::cast(e, rows, type), a.values_in);
    }

private:
    static constexpr std::int64_t most_products = std::int64_t{1} << 26;
    static constexpr std::size_t most_pieces = 1024;

    // The rows that constant indices name, the same in all batches.
    static std::optional<std::pmr::vector<std::int64_t>> known_rows(value indices) {
        auto rows = constant_integers(indices);
        if (!rows) return std::nullopt;
        const auto count = static_cast<std::size_t>(meta_of(indices)->shape[1]);
        for (std::size_t i = count; i < rows->size(); ++i) {
            if ((*rows)[i] != (*rows)[i - count]) return std::nullopt;
        }
        rows->resize(count);
        return rows;
    }
    static bool is_small(emit<produces>& e, std::int64_t products) {
        if (products <= most_products) return true;
        e.unsupported(
            "Ethos-U55 has no " + std::pmr::string(e.current().op->name.substr(5)) +
            ", and the products that stand for it would be more than 2^26; drop u55 from the target");
        return false;
    }

    // Consecutive rows are one slice.
    static value gathered(emit<produces>& e, value values, const std::pmr::vector<std::int64_t>& rows) {
        std::pmr::vector<value> pieces;
        for (std::size_t i = 0, end = 0; i != rows.size(); i = end) {
            for (end = i + 1; end != rows.size() && rows[end] == rows[end - 1] + 1;) ++end;
            if (rows[i] < 0 || rows[end - 1] >= e.shape(values)[1])
                return e.unsupported("an index is out of range");
            pieces.push_back(build::slice(e, values, 1, rows[i], static_cast<std::int64_t>(end - i)));
        }
        return joined_rows(e, pieces);
    }
    static value joined_rows(emit<produces>& e, const std::pmr::vector<value>& pieces) {
        if (pieces.size() > most_pieces) {
            return e.unsupported("Ethos-U55 has no " + std::pmr::string(e.current().op->name.substr(5)) +
                                 ", and these rows would be more than 1024 slices; drop u55 from the target");
        }
        return build::concat(e, pieces, 1);
    }
    // Each row of the result is one of the old or of the new ones.
    static value scattered(emit<produces>& e, const args<tosa::scatter>& a,
                           const std::pmr::vector<std::int64_t>& rows) {
        const std::int64_t count = e.shape(a.values_in)[1];
        constexpr std::int64_t kept = -1;
        std::pmr::vector<std::int64_t> from(static_cast<std::size_t>(count), kept);
        for (std::size_t i = 0; i != rows.size(); ++i) {
            if (rows[i] < 0 || rows[i] >= count) return e.unsupported("an index is out of range");
            from[static_cast<std::size_t>(rows[i])] = static_cast<std::int64_t>(i);
        }
        std::pmr::vector<value> pieces;
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
        return joined_rows(e, pieces);
    }

    // hits [N, R, K] of booleans and values [N, K, C]: the sum over K, [N, R, C] in INT32.
    static value product(emit<produces>& e, value hits, value values) {
        if (e.dtype(values) != dtype::int8) return sum(e, hits, build::cast(e, values, dtype::int32));
        const value ones = build::cast(e, hits, dtype::int8);
        const auto zero = [&] { return build::zero_point(e, dtype::int8); };
        const shape_builder h(e.shape(hits));
        const shape_builder v(e.shape(values));
        const auto table = constant_integers(values);
        if (!table || h[0] != 1) {
            return whole(
                e,
                e.make<tosa::matmul>(
                    {.a = ones, .b = values, .a_zp = zero(), .b_zp = zero(), .output_type = dtype::int32}));
        }
        // A convolution's weights are constant, and it costs a hundredth of MATMUL.
        const shape_builder kernel{v[2], 1, 1, v[1]};
        std::pmr::vector<std::int8_t> weight(table->size());
        for (std::size_t k = 0; k != static_cast<std::size_t>(v[1]); ++k) {
            for (std::size_t c = 0; c != static_cast<std::size_t>(v[2]); ++c) {
                weight[c * static_cast<std::size_t>(v[1]) + k] =
                    static_cast<std::int8_t>((*table)[k * static_cast<std::size_t>(v[2]) + c]);
            }
        }
        const value found =
            e.make<tosa::conv2d>({.input = build::reshape(e, ones, shape_builder{1, h[1], 1, h[2]}),
                                  .weight = e.constant<std::int8_t>(dtype::int8, kernel, weight),
                                  .bias = e.splat(0, dtype::int32, std::array{v[2]}),
                                  .input_zp = zero(),
                                  .weight_zp = zero(),
                                  .pad = {0, 0, 0, 0},
                                  .stride = {1, 1},
                                  .dilation = {1, 1},
                                  .acc_type = dtype::int32});
        return build::reshape(e, whole(e, found), shape_builder{1, h[1], v[2]});
    }
    // An accumulator that holds a code of 8 bits, as that.
    static value whole(emit<produces>& e, value v) {
        constexpr int shift = 30;
        return e.make<tosa::rescale>({.input = v,
                                      .multiplier = e.splat(1 << shift, dtype::int32, 1),
                                      .shift = e.splat(shift, dtype::int8, 1),
                                      .input_zp = e.splat(0, dtype::int32, 1),
                                      .output_zp = e.splat(0, dtype::int8, 1)});
    }
    static value sum(emit<produces>& e, value hits, value values) {
        const shape_builder h(e.shape(hits));
        const shape_builder v(e.shape(values));
        const value ones = build::cast(e, hits, dtype::int32);
        const value products =
            e.make<tosa::mul>({.input1 = build::reshape(e, ones, shape_builder{h[0], h[1], h[2], 1}),
                               .input2 = build::reshape(e, values, shape_builder{v[0], 1, v[1], v[2]}),
                               .shift = e.splat(0, dtype::int8, 1)});
        const value sums = e.make<tosa::reduce_sum>({.input = products, .axis = 2});
        return build::reshape(e, sums, shape_builder{h[0], h[1], v[2]});
    }
};

}  // namespace headrace

#endif
