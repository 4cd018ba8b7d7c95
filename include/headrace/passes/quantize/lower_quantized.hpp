// SPDX-License-Identifier: MIT
// Defines headrace::lower_quantized, which lowers quantized programs to integers.
#ifndef HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_HPP
#define HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_HPP

#include <string_view>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/quantize/fold_quantization.hpp>
#include <headrace/passes/quantize/lower_quantized_arithmetic.hpp>
#include <headrace/passes/quantize/lower_quantized_control_flow.hpp>
#include <headrace/passes/quantize/lower_quantized_pooling.hpp>
#include <headrace/passes/quantize/lower_quantized_products.hpp>
#include <headrace/passes/quantize/lower_quantized_reductions.hpp>
#include <headrace/passes/quantize/lower_quantized_resize.hpp>

namespace headrace {

/// Sinks every dequantize past the ops that follow it, in execution order, until it meets a quantize: an op
/// on real numbers becomes the same op on integers, followed by a dequantize. Ops whose operands are not
/// dequantized, and functions without an integer form, are left unchanged.
struct lower_quantized
    : extends<lower_quantized_arithmetic, lower_quantized_reductions, lower_quantized_products,
          lower_quantized_pooling, lower_quantized_resize, lower_quantized_control_flow, fold_quantization> {
    using runs_after = pass_list<constants_in_regions, canonical_quantization, quantized_constants_folded,
        quantizers_merged, unit_alpha, tensor_operands, canonical_convolutions, canonical_pooling>;
    using runs_before = pass_list<narrow_types>;
    using ensures = pass_list<quantized_ops_lowered>;
    using invalidates = pass_list<constants_folded, no_dead_code, nodes_sorted>;
    static constexpr std::string_view summary = "op(dq(x)) = dq(op(x)), down to q(dq(x)) = rescale(x)";
    using produces = joined<lower_quantized_arithmetic::produces, lower_quantized_reductions::produces,
        lower_quantized_products::produces, lower_quantized_pooling::produces,
        lower_quantized_resize::produces, lower_quantized_control_flow::produces,
        fold_quantization::produces>;
    static constexpr bool in_execution_order = true;

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
