// SPDX-License-Identifier: MIT
// Defines the passes for the dtypes in which quantized values are stored: headrace::canonicalize_quantization
// and headrace::pack_int4_weights.
#ifndef HEADRACE_PASSES_QUANTIZE_QUANTIZED_STORAGE_HPP
#define HEADRACE_PASSES_QUANTIZE_QUANTIZED_STORAGE_HPP

#include <algorithm>
#include <limits>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/infer/ranges/quantized_range.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

struct hoist_casts;

/// Turns per-tensor parameters given as constant tensors into numbers, and uint8 quantized values into int8
/// ones that are 128 lower, since TOSA computes with signed integers only (1.0, 1.9). Values that come from
/// or go to other ops pass through a RESCALE by one with an unsigned input or output. If the target has no
/// floats, a cast from uint8 to real numbers dequantizes likewise, with scale 1.
struct canonicalize_quantization : pass {
    using runs_after = pass_list<constants_in_regions, canonical_variants, canonical_casts, noops_removed,
        unit_alpha, hoist_casts, unsigned_widened>;  // which make casts
    using ensures = pass_list<canonical_quantization>;
    static constexpr std::string_view summary = "quantization parameters as numbers, uint8 as int8";
    using quantize = quantized_decomposed::quantize_per_tensor;
    using dequantize = quantized_decomposed::dequantize_per_tensor;
    using by_tensor = ops<quantized_decomposed::quantize_per_tensor_tensor,
        quantized_decomposed::quantize_per_tensor_tensor2, quantized_decomposed::dequantize_per_tensor_tensor,
        quantized_decomposed::dequantize_per_tensor_tensor2>;
    static constexpr bool in_execution_order = true;

    static auto rewrites() {
        return rules(on_each<by_tensor> = code<made>(
                         [](auto op, emit<made> e, const auto& a) { return with_numbers(op, e, a); }),
            on<quantize> = code<quantize_as_signed>(), on<dequantize> = code<dequantize_as_signed>(),
            on<aten::_to_copy> = code<cast_as_signed>());
    }

private:
    using made = ops<quantize, dequantize, tosa::rescale>;
    static constexpr std::int64_t offset = 128;

    template <class Op>
    static value with_numbers(Op, emit<made> e, const args<Op>& a) {
        const auto scale = constant_reals(a.scale);
        const auto zero = number(a.zero_point);
        const auto lowest = number(a.quant_min);
        const auto highest = number(a.quant_max);
        if (!scale || scale->size() != 1 || !zero || !lowest || !highest)
            return e.unsupported(
                "its scale and zero point are computed, and TOSA scales by constants; quantize statically, "
                "by calibration");
        if (!is_scale(scale->front()))
            return e.unsupported({"its scale is ", number_text(scale->front()),
                ", but must be above 0 and finite in float32"});
        if constexpr (has_trait<Op>(trait::dequantizing)) {
            return dequantized(e, {a.input, scale->front(), *zero, *lowest, *highest, a.dtype, a.out_dtype});
        } else {
            const result<void> fits = require_quantized_range(*lowest, *highest, a.dtype);
            if (!fits) return e.unsupported({"its ", fits.error().message});
            return quantized(e, {a.input, scale->front(), *zero, *lowest, *highest, a.dtype});
        }
    }
    static std::optional<value> quantize_as_signed(emit<made> e, const args<quantize>& a) {
        return a.dtype == dtype::uint8 && (becomes_signed(e, a) || has_rescale(e))
            ? std::optional(quantized(e, a))
            : std::nullopt;
    }
    static std::optional<value> dequantize_as_signed(emit<made> e, const args<dequantize>& a) {
        if (a.dtype != dtype::uint8) return std::nullopt;
        const bool is_signed = is<quantize>(*a.input.producer) && e.dtype(a.input) == dtype::int8;
        return is_signed || has_rescale(e) || is<builtin::constant>(*a.input.producer)
            ? std::optional(dequantized(e, a))
            : std::nullopt;
    }
    static std::optional<value> cast_as_signed(emit<made> e, const args<aten::_to_copy>& a) {
        const dtype type = e.result_meta().dtype;
        if (e.dtype(a.self) != dtype::uint8 || !is_floating(type) ||
            e.target().has(target_feature::profile_fp))
            return std::nullopt;
        args<dequantize> bytes{a.self, 1.0, 0, 0, 255, dtype::uint8};
        if (type != dtype::float32) bytes.out_dtype = type;
        return dequantized(e, bytes);
    }

    static std::optional<std::int64_t> number(std::int64_t n) { return n; }
    static std::optional<std::int64_t> number(value v) { return constant_integer(v); }

    // Only if all readers dequantize. A node that is being retraced has no readers yet.
    static bool becomes_signed(const emitter& e, const args<quantize>& a) {
        const auto dequantizes = [](const edge& use) {
            const op_info& reader = *use.target->op;
            return set_of<joined<by_tensor, ops<dequantize>>>.contains(reader) &&
                reader.has(trait::dequantizing);
        };
        const node& n = e.current();
        return a.dtype == dtype::uint8 && n.first_use != nullptr &&
            std::ranges::all_of(n.uses(), dequantizes);
    }

    template <class Args>
    static Args as_signed(Args a) {
        a.zero_point = std::max(a.zero_point, std::numeric_limits<std::int64_t>::min() + offset) - offset;
        a.quant_min -= offset;
        a.quant_max -= offset;
        a.dtype = dtype::int8;
        return a;
    }
    static bool has_rescale(const emitter& e) {
        return e.target().features == 0 || e.target().has(target_feature::profile_int);
    }
    // Subtracts the difference of the zero points; the result is signed or unsigned bytes.
    static value rescaled(emit<ops<tosa::rescale>> e, value bytes, dtype to) {
        constexpr int shift = 30;
        const bool is_unsigned = to == dtype::uint8;
        return e.make<tosa::rescale>({.input = bytes,
            .multiplier = e.splat(1 << shift, dtype::int32, 1),
            .shift = e.splat(shift, dtype::int8, 1),
            .input_zp = e.splat(is_unsigned ? -offset : 0, e.dtype(bytes), 1),
            .output_zp = e.splat(is_unsigned ? 0 : -offset, to, 1),
            .input_unsigned = !is_unsigned,
            .output_unsigned = is_unsigned});
    }

    static value quantized(emit<made> e, const args<quantize>& a) {
        if (becomes_signed(e, a)) return e.make<quantize>(as_signed(a));
        if (a.dtype != dtype::uint8 || !has_rescale(e)) return e.make<quantize>(a);
        return rescaled(e, e.make<quantize>(as_signed(a)), dtype::uint8);
    }
    static value dequantized(emit<made> e, args<dequantize> a) {
        if (a.dtype != dtype::uint8) return e.make<dequantize>(a);
        // The quantize was just rewritten to int8 followed by a RESCALE to uint8: reads the int8.
        if (const auto* back = match<tosa::rescale>(a.input); back != nullptr && back->output_unsigned)
            a.input = back->input;
        if (e.dtype(a.input) == dtype::int8) return e.make<dequantize>(as_signed(a));
        if (const auto integers = constant_integers(a.input)) {
            a.input = e.constant_of(
                dtype::int8, e.shape(a.input), [&](std::size_t i) { return (*integers)[i] - offset; });
        } else if (has_rescale(e) && e.dtype(a.input) == dtype::uint8) {
            a.input = rescaled(e, a.input, dtype::int8);
        } else {
            return e.make<dequantize>(a);
        }
        return e.make<dequantize>(as_signed(a));
    }
};
HEADRACE_COMPILED_PASS(canonicalize_quantization);

/// Stores constant weights of INT8 convolutions between -7 and 7 as INT4, two to a byte, if the target has
/// that extension (TOSA 1.0, EXT-INT4). Quantizers store such weights as INT8.
struct pack_int4_weights : pass {
    using runs_after = pass_list<tosa_only, constants_folded, layouts_chosen>;
    using runs_before = pass_list<nodes_sorted>;
    using invalidates = pass_list<nodes_sorted>;
    static constexpr std::string_view summary = "INT8 weights between -7 and 7 as INT4, two to a byte";

    static auto rewrites() {
        return rules(on_each<made> = code<made>([]<class Op>(Op, emit<made> e, args<Op> a) {
            if (!e.target().has(target_feature::int4) || e.dtype(a.input) != dtype::int8)
                return std::optional<value>();
            const auto weight = packed(e, a.weight, a.weight_zp);
            if (!weight) return std::optional<value>();
            a.weight = *weight;
            a.weight_zp = e.constant({dtype::int4, {1}, {}}, [](std::span<std::byte> data) { data[0] = {}; });
            return std::optional(e.make<Op>(a));
        }));
    }

private:
    using made = ops<tosa::conv2d, tosa::conv3d, tosa::depthwise_conv2d, tosa::transpose_conv2d>;
    static std::optional<value> packed(emit<ops<>> e, value weight, value zero) {
        const auto numbers = constant_integers(weight);
        const auto fits = [](std::int64_t n) { return -7 <= n && n <= 7; };
        if (e.dtype(weight) != dtype::int8 || !numbers || constant_integer(zero) != 0 ||
            !std::all_of(numbers->begin(), numbers->end(), fits))
            return std::nullopt;
        return e.constant({dtype::int4, e.shape(weight), {}}, [&](std::span<std::byte> data) {
            for (std::size_t i = 0; i != numbers->size(); ++i) {
                const auto nibble = static_cast<unsigned>((*numbers)[i]) & 0xfU;
                const auto low = i % 2 == 0 ? 0U : std::to_integer<unsigned>(data[i / 2]);
                data[i / 2] = static_cast<std::byte>(low | nibble << (i % 2 * 4));
            }
        });
    }
};
HEADRACE_COMPILED_PASS(pack_int4_weights);

}  // namespace headrace

#endif
