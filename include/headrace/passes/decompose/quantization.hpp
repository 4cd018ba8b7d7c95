// SPDX-License-Identifier: MIT
// Defines headrace::decompose_quantization.
#ifndef HEADRACE_PASSES_DECOMPOSE_QUANTIZATION_HPP
#define HEADRACE_PASSES_DECOMPOSE_QUANTIZATION_HPP

#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/casting.hpp>

namespace headrace {

/// Decomposes quantize and dequantize nodes between integer and float parts of a graph, by their definitions:
/// q(x) = cast(clamp(x / scale)) + zero point, with CAST's rounding, half to even, and dq(x) = cast(x - zero
/// point) * scale. Needs a target with both profiles.
struct decompose_quantization : pass {
    using runs_after = pass_list<quantized_ops_lowered, interface_quantized>;
    using runs_before = pass_list<narrow_types>;
    using ensures = pass_list<quantization_lowered>;
    using invalidates = pass_list<constants_folded, no_dead_code, nodes_sorted>;
    static constexpr std::string_view summary = "q(x) = clamp(x / scale) + zero, dq(x) = (x - zero) * scale";

    static auto rewrites() {
        return rules(on<quantized_decomposed::quantize_per_tensor> = code<quantized_alike>(),
            on<quantized_decomposed::dequantize_per_tensor> = code<dequantized_alike>(),
            on<quantized_decomposed::quantize_per_channel> = code<quantized_by_channel>(),
            on<quantized_decomposed::dequantize_per_channel> = code<dequantized_by_channel>());
    }

private:
    using made = joined<build::reshape_ops,
        ops<tosa::cast, tosa::add, tosa::sub, tosa::mul, tosa::maximum, tosa::minimum, tosa::reciprocal>>;

    static value quantized_alike(emit<made> e, const args<quantized_decomposed::quantize_per_tensor>& a) {
        const std::size_t rank = e.rank(a.input);
        return quantized(e, a, e.splat(1.0 / a.scale, dtype::float32, rank),
            e.splat(a.zero_point, dtype::int32, rank), e.splat(a.zero_point, dtype::float32, rank));
    }
    static value quantized_by_channel(
        emit<made> e, const args<quantized_decomposed::quantize_per_channel>& a) {
        const value scales = cast(e, along_axis(e, a, a.scales), dtype::float32);
        const value zeros = along_axis(e, a, a.zero_points);
        return quantized(e, a, e.make<tosa::reciprocal>(scales), cast(e, zeros, dtype::int32),
            cast(e, zeros, dtype::float32));
    }
    static value dequantized_alike(emit<made> e, const args<quantized_decomposed::dequantize_per_tensor>& a) {
        const std::size_t rank = e.rank(a.input);
        return dequantized(
            e, a.input, e.splat(a.scale, dtype::float32, rank), e.splat(a.zero_point, dtype::int32, rank));
    }
    static value dequantized_by_channel(
        emit<made> e, const args<quantized_decomposed::dequantize_per_channel>& a) {
        const value zeros = a.zero_points ? cast(e, along_axis(e, a, *a.zero_points), dtype::int32)
                                          : e.splat(0, dtype::int32, e.rank(a.input));
        return dequantized(e, a.input, cast(e, along_axis(e, a, a.scales), dtype::float32), zeros);
    }
    static value cast(emit<made> e, value v, dtype to) { return build::cast_directly(e, v, to); }
    // Reshapes a vector along the axis, ready to broadcast.
    static value along_axis(emit<build::reshape_ops> e, const auto& a, value v) {
        const std::size_t rank = e.rank(a.input);
        const auto axis = normalized_axis(a.axis, rank);
        if (!axis || *axis >= rank) return e.unsupported("the axis of its channels is out of range");
        shape_builder shape = shape_builder::filled(rank, 1);
        shape[*axis] = e.shape(a.input)[*axis];
        return build::reshape(e, v, shape);
    }
    static value quantized(emit<made> e, const auto& a, value inverse, value zeros, value real_zeros) {
        const auto bound = [&](std::int64_t integer) {
            return e.make<tosa::sub>(e.splat(integer, dtype::float32, e.rank(a.input)), real_zeros);
        };
        const value scaled = build::multiply(e, cast(e, a.input, dtype::float32), inverse);
        const value clamped =
            e.make<tosa::minimum>(e.make<tosa::maximum>(scaled, bound(a.quant_min)), bound(a.quant_max));
        return cast(e, e.make<tosa::add>(cast(e, clamped, dtype::int32), zeros), a.dtype);
    }
    static value dequantized(emit<made> e, value integers, value scales, value zeros) {
        const value centered = e.make<tosa::sub>(cast(e, integers, dtype::int32), zeros);
        const value real = build::multiply(e, cast(e, centered, dtype::float32), scales);
        return cast(e, real, e.result_meta().dtype);
    }
};
HEADRACE_COMPILED_PASS(decompose_quantization);

}  // namespace headrace

#endif
