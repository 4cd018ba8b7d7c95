// SPDX-License-Identifier: MIT
// Defines headrace::standard_lowering, the standard pipeline from exported programs, float and quantized, to
// TOSA.
#ifndef HEADRACE_PASSES_STANDARD_LOWERING_HPP
#define HEADRACE_PASSES_STANDARD_LOWERING_HPP

#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/pass/algebra.hpp>
#include <headrace/passes/decompose/decompose.hpp>
#include <headrace/passes/fold/fold.hpp>
#include <headrace/passes/layout/layout.hpp>
#include <headrace/passes/legalize/legalize.hpp>
#include <headrace/passes/normalize/normalize.hpp>
#include <headrace/passes/npu/npu.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/quantize/quantize.hpp>
#include <headrace/passes/u55/u55.hpp>
#ifdef HEADRACE_DEFINES_PASSES
#include <headrace/passes/finish/finish.hpp>
#include <headrace/passes/fold/redundancies.hpp>
#include <headrace/passes/normalize/narrow_types.hpp>
#include <headrace/passes/normalize/widen_unsigned.hpp>
#include <headrace/passes/quantize/quantized_storage.hpp>
#endif

namespace headrace {

/// The ops that a program may consist of: ATen as torch.export produces it, in training or core form, float
/// or quantized by PT2E, without the ops that no pass lowers. An op that is added to a dialect must be
/// lowered or named here, or the pipeline does not compile.
struct exported_program {
    using not_lowered =
        ops<aten::_scaled_dot_product_flash_attention_for_cpu,  // returns statistics besides its result
            aten::item, aten::_local_scalar_dense, aten::sym_numel,
            aten::sym_size_int,  // numbers of the host
            higher_order::map_impl, higher_order::scan,
            // parameters that are computed, per token or per group
            quantized_decomposed::quantize_per_channel_group, quantized_decomposed::quantize_per_token,
            quantized_decomposed::dequantize_per_channel_group,

            quantized_decomposed::dequantize_per_token, quantized_decomposed::choose_qparams_per_token,
            quantized_decomposed::choose_qparams_per_token_asymmetric,
            quantized_decomposed::choose_qparams_symmetric_tensor,
            quantized_decomposed::choose_qparams_tensor, quantized_decomposed::fake_quant_per_channel>;
    static constexpr auto set = every_op<aten::dialect, dim_order_ops::dialect, higher_order::dialect,
                                    quantized_decomposed::dialect> -
        set_of<not_lowered>;
};

/// TOSA 1.0, and the properties of a lowered program: no pass that ensures one of them is missing, and none
/// that invalidates it comes later.
using lowered_program = to<tosa::dialect, functional, unit_alpha, quantization_lowered, signed_types,
    narrow_types, layouts_chosen, constants_folded, duplicates_merged, distinct_outputs, nodes_sorted>;

/// From ATen to TOSA 1.0. The context's evaluator computes constants; see headrace::fold_constants.
struct standard_lowering
    : pipeline_of<from<exported_program>, lowered_program, normalize_passes, pass_list<widen_unsigned>,
          tabulate_passes, decompose_passes, quantize_passes, pass_list<store_unsigned, narrow_int64>,
          legalize_passes, layout_passes, npu_passes, cleanup_passes, u55_passes,
          pass_list<merge_equal_constants>, on_chip_passes, pass_list<merge_duplicates>,
          pass_list<pack_int4_weights, ensure_distinct_outputs, sort_topologically>> {};

}  // namespace headrace

#endif
