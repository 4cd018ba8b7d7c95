// SPDX-License-Identifier: MIT
// Defines headrace::wide_product, products of a constant matrix with 32 bits of precision, and
// headrace::wide_multiple, those of two elements.
#ifndef HEADRACE_PASSES_QUANTIZE_WIDE_PRODUCTS_HPP
#define HEADRACE_PASSES_QUANTIZE_WIDE_PRODUCTS_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <headrace/passes/quantize/bias_scales.hpp>
#include <headrace/passes/quantize/fixed_point.hpp>
#include <headrace/passes/support/convolution.hpp>

namespace headrace {

using wide_product_ops = joined<fixed_point_ops, build::reshape_ops, dequantize_ops,
    ops<tosa::conv2d, tosa::add, tosa::sub, tosa::rescale>>;

/// The sum of products of INT16 and a constant matrix of 16 bits, kept in INT32. Convolutions take weights of
/// 8 bits, and RESCALE gives no more than 32: so INT32 is split into a high and a low part of 16 bits, and
/// the matrix into parts of 8. Each pair of parts has a convolution, whose sums fit INT32, and the sums are
/// added at the scale of the result.
class wide_product {
public:
    /// Returns a · b; `short_a` is `a` as integers of 8 or 16 bits, if it has these. Nothing unless `b` is a
    /// constant matrix, and all that reads the result quantizes it to INT32; or, on targets without floats,
    /// `a` is INT32 or there is no MATMUL of INT16.
    static std::optional<value> made(
        emit<wide_product_ops> e, value a, value b, const std::optional<dequantized>& short_a) {
        const auto step = step_of_32_bits(e.current());
        const target_spec& target = e.target();
        const bool is_needed = step || !target.has(target_feature::profile_fp);
        const bool is_refused = short_a && !step && !target.has(target_feature::u55);
        const bool is_short = short_a && e.dtype(short_a->integers) == dtype::int16;
        if (!is_needed || is_refused || (short_a && !is_short)) return std::nullopt;
        const auto matrix = matrix_of(b);
        if (!matrix) return std::nullopt;
        const auto x = short_a ? fixed_point{short_a} : as_fixed_point(e, a).value_or(fixed_point{});
        if (!x.read) return std::nullopt;
        const quantization& q = x.read->parameters;
        const bool is_part = is_short && q.zero_point() == 0 && q.reach() <= INT16_MAX;
        const value integers = is_part ? x.read->integers : at_scale(e, x, q.scale());
        return wide_product(e, *matrix).of({integers, q.scale(), q.reach()}, step);
    }

private:
    struct constant_matrix {
        std::int64_t inner, columns;
        pmr_vector<double> numbers;
    };
    struct part {
        value integers;
        double scale, reach;
    };

    wide_product(emit<wide_product_ops> e, const constant_matrix& matrix) : e_(e), matrix_(matrix) {
        for (const double x : matrix.numbers) weight_scale_ = std::max(weight_scale_, std::abs(x) / most);
        if (weight_scale_ == 0) weight_scale_ = 1;
    }

    // Reads a dequantized constant of one batch, past reshapes.
    static std::optional<constant_matrix> matrix_of(value v) {
        const sizes shape = meta_of(v)->shape;
        if (shape.size() != 3 || shape[0] != 1 || element_count(shape) == 0) return std::nullopt;
        constant_matrix matrix{shape[1], shape[2], {}};
        while (v.producer->op->has(trait::reshaping) && v.producer->operand_count != 0)
            v = v.producer->operand(0);
        if (auto numbers = constant_reals(v)) {
            matrix.numbers = std::move(*numbers);
        } else {
            const auto read = if_per_tensor(match_dequantize(v));
            const auto integers = read ? constant_integers(read->integers) : std::nullopt;
            if (!integers) return std::nullopt;
            for (const std::int64_t n : *integers) matrix.numbers.push_back(read->parameters.real(n, 0));
        }
        const bool is_finite = std::ranges::all_of(matrix.numbers, [](double x) { return std::isfinite(x); });
        return is_finite ? std::optional(std::move(matrix)) : std::nullopt;
    }

    // Returns the scale of the quantize nodes that read a node's result, past ops that select elements;
    // nothing if one of them is not of INT32.
    static std::optional<double> step_of_32_bits(const node& n, int depth = 16) {
        std::optional<double> step;
        for (const edge& use : n.uses()) {
            const node& reader = *use.target;
            const auto* a = args_if<quantized_decomposed::quantize_per_tensor>(reader);
            std::optional<double> found;
            if (a != nullptr && a->dtype == dtype::int32) found = a->scale;
            if (a == nullptr && depth > 0 && is_selecting(reader)) found = step_of_32_bits(reader, depth - 1);
            if (!found) return std::nullopt;
            step = std::min(*found, step.value_or(*found));
        }
        return step;
    }

    value of(scaled_integers x, std::optional<double> step) {
        const int_list shape = e_.shape(x.integers);
        pmr_vector<part> sums;
        for (const part& p : parts_of(x)) {
            for (const int shift : {8, 0}) {
                if (auto sum = sum_of(p, shift)) sums.push_back(*sum);
            }
        }
        double reach = 0;
        for (const part& s : sums) reach += s.scale * s.reach;
        const double scale = step.value_or(std::max(reach / room, 0x1p-100));
        const value total = added(sums, scale);
        const value result = build::reshape(e_, total, shape_builder{1, shape[1], matrix_.columns});
        return dequantize(e_, scaled_integers{result, scale, std::min(std::ceil(reach / scale), room)});
    }

    // Returns INT16, the higher part first. Without INT32 that uses more bits there is one part.
    pmr_vector<part> parts_of(scaled_integers x) {
        if (x.reach <= INT16_MAX) return {{build::narrow(e_, x.integers, dtype::int16), x.scale, x.reach}};
        constexpr double split = 1 << 15;
        double factor = 1;
        while (x.reach * factor > room - split) factor /= 2;
        multiply(e_, x, factor);
        const value high = build::rescale(e_, x.integers, 1 / split, {.to = dtype::int16});
        const value low = e_.make<tosa::sub>(x.integers, build::rescale(e_, high, split, {}));
        return {{high, x.scale * split, x.reach / split + 1},
            {build::narrow(e_, low, dtype::int16), x.scale, split / 2}};
    }

    // Returns the sums of products with the matrix's upper or lower bytes; nothing if the lower are all zero.
    std::optional<part> sum_of(const part& p, int shift) {
        const auto byte_of = [&](double number) -> std::int64_t {
            const auto whole = static_cast<std::int64_t>(std::nearbyint(number / weight_scale_));
            const std::int64_t upper = (whole + 128) >> 8;
            return shift != 0 ? upper : whole - (upper << 8);
        };
        const std::array weight_shape{matrix_.columns, matrix_.inner};
        pmr_vector<double> column_sums(static_cast<std::size_t>(matrix_.columns), 0);
        const value weight = e_.constant_of(dtype::int8, weight_shape, [&](std::size_t i) {
            const auto column = static_cast<std::int64_t>(i) / matrix_.inner;
            const auto row = static_cast<std::int64_t>(i) % matrix_.inner;
            const std::int64_t byte =
                byte_of(matrix_.numbers[static_cast<std::size_t>(row * matrix_.columns + column)]);
            column_sums[static_cast<std::size_t>(column)] += static_cast<double>(std::abs(byte));
            return byte;
        });
        const double largest = *std::ranges::max_element(column_sums);
        if (largest == 0 && shift == 0) return std::nullopt;
        part sum{{}, std::ldexp(p.scale * weight_scale_, shift), p.reach * largest};
        double factor = 1;
        while (sum.reach * factor > INT32_MAX) factor /= 2;
        const std::array columns{matrix_.columns};
        const value accumulated =
            build::linear(e_, {p.integers, weight, {}}, e_.splat(0, dtype::int48, columns));
        sum.integers = build::rescale(e_, accumulated, factor, {});
        sum.scale /= factor;
        sum.reach = std::ceil(sum.reach * factor) + 1;
        return sum;
    }

    // Adds the sums at that scale. What is beyond 2^30 saturates.
    value added(const pmr_vector<part>& sums, double scale) {
        const auto cut = [&](value v) {
            const auto bound = static_cast<std::int64_t>(room);
            return build::cut_off(e_, v, -bound, bound);
        };
        value total{};
        double reach = 0;
        for (const part& s : sums) {
            const double factor = s.scale / scale;
            const value v = build::saturating_rescale(e_, s.integers, factor, s.reach, {});
            const double added = std::min(s.reach * factor + 1, room);
            if (total && reach + added > INT32_MAX) {
                total = cut(total);
                reach = room;
            }
            total = total ? e_.make<tosa::add>(total, v) : v;
            reach += added;
        }
        return reach > room ? cut(total) : total;
    }

    static constexpr double room = (1 << 30) - 1;
    static constexpr double most = 127 * 256 + 127;  // has two parts of 8 bits

    emit<wide_product_ops> e_;
    const constant_matrix& matrix_;
    double weight_scale_ = 0;
};

using wide_multiple_ops =
    joined<fixed_point_ops, dequantize_ops, build::binary_ops<tosa::mul>, ops<tosa::add, tosa::sub>>;

/// Returns the product of two factors of more than 16 bits, which are the same value if `is_square`:
/// x = h + l / 2^8, where h has 16 bits, and x · y = h·h' + (h·l' + l·h') / 2^8. Nothing for other factors.
inline std::optional<value> wide_multiple(
    emit<wide_multiple_ops> e, const fixed_point& x, const fixed_point& y, bool is_square) {
    constexpr double split = 1 << 8;
    constexpr double largest = 23168;  // of a high part: two products can be added at their scale
    struct parts {
        value high, low;
        double scale;
    };
    const auto is_wide = [&](const fixed_point& f) {
        return f.read && e.dtype(f.read->integers) == dtype::int32 && f.read->parameters.reach() > 1 << 16;
    };
    const auto parts_of = [&](const fixed_point& f) -> parts {
        const double scale = f.reach() / largest;
        const value whole = at_scale(e, f, scale / split);
        const value high = build::rescale(e, whole, 1 / split, {});
        return {high, e.make<tosa::sub>(whole, build::rescale(e, high, split, {})), scale};
    };
    if (!is_wide(x) || !is_wide(y)) return std::nullopt;
    const auto times = [&](value a, value b) { return build::binary<tosa::mul>(e, a, b); };
    const parts a = parts_of(x);
    const parts b = is_square ? a : parts_of(y);
    const value mixed = times(a.high, b.low);
    const value rest = is_square
        ? build::rescale(e, mixed, 2 / split, {})
        : build::rescale(e, e.make<tosa::add>(mixed, times(a.low, b.high)), 1 / split, {});
    const value product = e.make<tosa::add>(times(a.high, b.high), rest);
    return dequantize(e, scaled_integers{product, a.scale * b.scale, largest * (largest + 2)});
}

}  // namespace headrace

#endif
