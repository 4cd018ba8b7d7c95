// SPDX-License-Identifier: MIT
// Defines headrace::lower_quantized, which lowers quantized programs to integers, and its parts for
// arithmetic, reductions and resizing, and for a quantize that meets a dequantize.
#ifndef HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_HPP
#define HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_HPP

#include <algorithm>
#include <cmath>

#include <headrace/infer/aten/reduction.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/quantize/lower_quantized_logarithms.hpp>
#include <headrace/passes/quantize/lower_quantized_pooling.hpp>
#include <headrace/passes/quantize/lower_quantized_products.hpp>
#include <headrace/passes/quantize/quantized_boundaries.hpp>
#include <headrace/passes/quantize/wide_products.hpp>
#include <headrace/passes/support/reducing.hpp>
#include <headrace/passes/support/resizing.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Lowers arithmetic to INT32: dq(a) + dq(b) = dq(a + b). Sums and comparisons bring both operands to one
/// fine scale. The scale of a product is the product of the scales; a factor that is a single positive number
/// only changes the scale.
struct lower_quantized_arithmetic : pass {
    static constexpr std::string_view summary = "dq(a) + dq(b) = dq(a + b), and so on, in INT32";

    static auto rewrites() {
        return rules(on<aten::mul_tensor> = code<multiplied>(), on<aten::abs> = code<of_one<tosa::abs>>(),
            on<aten::neg> = code<of_one<tosa::negate>>(),
            on<aten::add_tensor> = code<at_one_scale<tosa::add>>(),
            on<aten::sub_tensor> = code<at_one_scale<tosa::sub>>(),
            on<aten::maximum> = code<at_one_scale<tosa::maximum>>(),
            on<aten::minimum> = code<at_one_scale<tosa::minimum>>(),
            on<aten::eq_tensor> = code<at_one_scale<tosa::equal>>(),
            on<aten::gt_tensor> = code<at_one_scale<tosa::greater>>(),
            on<aten::ge_tensor> = code<at_one_scale<tosa::greater_equal>>());
    }

private:
    using real_ops = joined<fixed_point_ops, dequantize_ops>;

    static std::optional<value> multiplied(emit<joined<real_ops, wide_multiple_ops>> e, value a, value b) {
        const auto operands = as_fixed_points(e, a, b);
        if (!operands) return std::nullopt;
        const auto& [x, y] = *operands;
        if (const auto scaled = times_number(e, x, y)) return scaled;
        if (const auto scaled = times_number(e, y, x)) return scaled;
        if (const auto wide = wide_multiple(e, x, y, a == b)) return wide;
        const double left = factor_scale(x, y);
        const double right = factor_scale(y, x);
        const value product = build::binary<tosa::mul>(e, at_scale(e, x, left), at_scale(e, y, right));
        const double scale = left * right;
        return dequantize(e, scaled_integers{product, scale, x.reach() * y.reach() / scale});
    }
    template <class Op>
    static std::optional<value> of_one(emit<joined<real_ops, ops<Op>>> e, value v) {
        auto x = as_scaled_integers(e, v);
        if (!x) return std::nullopt;
        if constexpr (std::is_same_v<Op, tosa::negate>) {
            x->integers = build::negate(e, x->integers);
        } else {
            x->integers = e.template make<Op>(x->integers);
        }
        return dequantize(e, *x);
    }
    // Returns dq(op(a, b)), or the booleans of a comparison.
    template <class Op>
    static std::optional<value> at_one_scale(
        emit<joined<real_ops, build::binary_ops<Op>>> e, value a, value b) {
        const auto operands = as_fixed_points(e, a, b);
        if (!operands) return std::nullopt;
        const auto& [x, y] = *operands;
        const double scale = working_scale(e, {&x, &y});
        const value result = build::binary<Op>(e, at_scale(e, x, scale), at_scale(e, y, scale));
        if (e.dtype(result) == dtype::boolean) return result;
        return dequantize(e, scaled_integers{result, scale, (x.reach() + y.reach()) / scale});
    }

    // Returns a scale at which a factor has at most 16 bits, so that a product has room: finer factors lose
    // their last bits. A constant has 27 bits less those of the other factor, but at least 15: its smallest
    // element may be far below its largest, and sums of such products have room, too.
    static double factor_scale(const fixed_point& x, const fixed_point& other) {
        if (x.read) return std::max(x.read->parameters.scale(), scale_in(x, 0x1p15));
        const double units = other.reach() / factor_scale(other, x);
        return scale_in(x, std::max(0x1p15, 0x1p27 / std::max(units, 1.0)));
    }
    static double scale_in(const fixed_point& x, double units) {
        return x.reach() == 0 ? 1 : x.reach() / units;
    }

    // Rescales without changing the integers, if the other factor is a single positive number.
    static std::optional<value> times_number(
        emit<joined<build::reshape_ops, dequantize_ops>> e, const fixed_point& x, const fixed_point& number) {
        if (!x.read || number.numbers.size() != 1 || !(number.numbers[0] > 0)) return std::nullopt;
        if (e.meta(x.read->integers).elements() != e.result_meta().elements()) return std::nullopt;
        dequantized product = *x.read;
        product.parameters.scales[0] *= number.numbers[0];
        product.integers = build::reshape(e, product.integers, e.result_meta().shape);
        return dequantize(e, product);
    }
};

/// sum(dq(x)) = dq(sum(x - zero point)), in INT32, and argmax(dq(x)) = argmax(x).
struct lower_quantized_reductions : pass {
    static constexpr std::string_view summary = "sum(dq(x)) = dq(sum(x)) in INT32; argmax(dq(x)) = argmax(x)";
    using sums = ops<aten::sum, aten::sum_dim_intlist>;
    using positions = ops_where<aten::dialect, trait::reduction, trait::locating>;

    static auto rewrites() {
        return rules(on_each<sums> = code<made>([](emit<made> e, const auto& a) { return sum(e, a); }),
            on_each<positions> = code<made>([]<class Op>(Op, emit<made> e, args<Op> a) {
                const auto x = as_dequantized_per_tensor(e, a.self);
                if (x) a.self = x->integers;
                return x ? std::optional(e.make<Op>(a)) : std::nullopt;
            }),
            on<aten::cumsum> = code<running_sum>());
    }

private:
    using made = joined<fixed_point_ops, build::reshape_ops, build::slice_ops, build::pad_ops, positions,
        dequantize_ops, ops<tosa::reduce_sum, tosa::add>>;

    static std::optional<value> sum(emit<made> e, const auto& a) {
        auto x = as_scaled_integers(e, a.self);
        if (!x) return std::nullopt;
        x->integers = build::reduce(e, x->integers, a, [&](value v, std::size_t axis) {
            const auto terms = static_cast<double>(e.shape(v)[axis]);
            x->integers = v;
            make_room(e, *x, terms);
            x->reach *= terms;
            return build::along<tosa::reduce_sum>(e, x->integers, axis);
        });
        return dequantize(e, *x);
    }

    // By doubling, as in legalize_cumsum.
    static std::optional<value> running_sum(emit<made> e, const args<aten::cumsum>& a) {
        auto x = as_scaled_integers(e, a.self);
        if (!x) return std::nullopt;
        value& v = x->integers;
        v = build::with_rank(e, v, std::max<std::size_t>(e.rank(a.self), 1));
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(v));
        if (e.failed()) return value{};
        const std::int64_t size = e.shape(v)[axis];
        for (std::int64_t shift = 1; shift < size; shift *= 2) {
            make_room(e, *x, 2);
            const value moved = build::pad(e, build::slice(e, v, axis, 0, size - shift), axis, shift, 0);
            v = e.make<tosa::add>(v, moved);
            x->reach *= 2;
        }
        v = build::reshape(e, v, e.result_meta().shape);
        return dequantize(e, *x);
    }

    // Brings integers to a coarser scale if `terms` of its elements could add up to more than 2^30.
    static void make_room(emit<build::saturating_rescale_ops> e, scaled_integers& x, double terms) {
        constexpr double room = 1 << 30;
        double factor = 1;
        while (x.reach * factor * terms > room) factor /= 2;
        multiply(e, x, factor);
    }
};

/// resize(dq(x)) = dq(resize(x)): RESIZE returns interpolated integers multiplied by the unit of its weights,
/// so the scale is divided by that unit. If the result is read in the quantization of x, the integers are
/// rounded at once, including the zero point.
struct lower_quantized_resize : pass {
    static constexpr std::string_view summary = "resize(dq(x)) = dq(resize(x)), of INT8 images";

    static auto rewrites() {
        return rules(on_each<linear_ops> = code<made>([]<class Op>(Op, emit<made> e, const args<Op>& a) {
            const auto x = as_short_integers_per_tensor(e, resized_input(a));
            if (!x || e.dtype(x->integers) != dtype::int8) return std::optional<value>();
            const auto [image, unit] =
                build::resize(e, {x->integers, sampling_mode_of<Op>(a), resize_scales(a)});
            return std::optional(dequantize_image(e, image, static_cast<double>(unit), x->parameters));
        }));
    }

private:
    using made =
        joined<build::resize_ops, reading_as_stored_ops, dequantize_ops, ops<tosa::rescale, tosa::sub>>;
    static value dequantize_image(emit<made> e, value image, double unit, const quantization& q) {
        if (e.dtype(image) == dtype::int8) return dequantize(e, {image, q});  // size is unchanged
        if (is_read_in(e.current(), q))
            return dequantize(e, {build::rescale(e, image, 1 / unit, {.to = dtype::int8}), q});
        const auto zero = q.zero_point() * static_cast<std::int64_t>(unit);
        if (zero != 0) image = e.make<tosa::sub>(image, e.splat(zero, dtype::int32, e.rank(image)));
        const auto reach = static_cast<std::int64_t>(q.reach() * unit);
        return dequantize(e, {image, quantization::symmetric(q.scale() / unit, reach)});
    }
};

/// Rewrites q(dq(x)) to rescale(x), or to x if the parameters are equal. A quantize is hoisted past
/// everything that it commutes with until it meets its dequantize: ops that select elements, including joins
/// of several quantizations, and clamps, whose bounds are quantized.
struct fold_quantization : pass {
    static constexpr std::string_view summary = "q(dq(x)) = rescale(x), past ops that select elements";

    using made = quantizer_ops;
    static auto rewrites() {
        return rules(
            on<quantized_decomposed::quantize_per_tensor> = code<made>([](emit<made> e, const auto& a) {
                const quantization to = quantization_of(a);
                quantizer quantized(e, to, a.dtype);
                return quantized.goes_past(a.input) ? std::optional(quantized(a.input)) : std::nullopt;
            }));
    }
};

/// Sinks every dequantize past the ops that follow it, in execution order, until it meets a quantize: an op
/// on real numbers becomes the same op on integers, followed by a dequantize. Ops whose operands are not
/// dequantized, and functions without an integer form, are left unchanged.
struct lower_quantized : pass {
    using parts = pass_list<lower_quantized_arithmetic, lower_quantized_reductions, lower_quantized_products,
        lower_quantized_pooling, lower_quantized_resize, lower_quantized_logarithms,
        lower_quantized_control_flow, fold_quantization>;
    using runs_after = pass_list<constants_in_regions, canonical_quantization, quantized_constants_folded,
        quantizers_merged, unit_alpha, tensor_operands, canonical_convolutions, canonical_pooling>;
    using runs_before = pass_list<narrow_types>;
    using ensures = pass_list<quantized_ops_lowered>;
    using invalidates = pass_list<constants_folded, no_dead_code, nodes_sorted>;
    static constexpr std::string_view summary = "op(dq(x)) = dq(op(x)), down to q(dq(x)) = rescale(x)";
    static constexpr bool in_execution_order = true;

    static auto rewrites() {
        return []<class... Parts>(pass_list<Parts...>) { return rules(Parts::rewrites()...); }(parts{});
    }

    bool should_run(const graph& g) const {
        if (!g.target().has(target_feature::profile_int)) return g.target().features == 0;
        const bool has_floats = g.target().has(target_feature::profile_fp);
        return !has_floats || is_quantized(g);
    }

private:
    static bool is_quantized(const graph& g) {
        return g.census().count(info_of<quantized_decomposed::dequantize_per_tensor>) != 0 ||
            g.census().count(info_of<quantized_decomposed::dequantize_per_channel>) != 0;
    }
};
HEADRACE_COMPILED_PASS(lower_quantized);

}  // namespace headrace

#endif
