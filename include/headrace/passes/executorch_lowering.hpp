// SPDX-License-Identifier: MIT
// Defines headrace::executorch_lowering, the pipeline from exported programs to the kernels of ExecuTorch's
// runtime.
#ifndef HEADRACE_PASSES_EXECUTORCH_LOWERING_HPP
#define HEADRACE_PASSES_EXECUTORCH_LOWERING_HPP

#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/set.hpp>

#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/pass/algebra.hpp>
#include <headrace/passes/decompose/decompose.hpp>
#include <headrace/passes/executorch/fit_kernels.hpp>
#include <headrace/passes/executorch/scans_to_loops.hpp>
#include <headrace/passes/executorch/select_kernels.hpp>
#include <headrace/passes/executorch/spell_kernel_ops.hpp>
#include <headrace/passes/fold/fold.hpp>
#include <headrace/passes/normalize/normalize.hpp>
#include <headrace/passes/properties.hpp>
#ifdef HEADRACE_DEFINES_PASSES
#include <headrace/passes/finish/finish.hpp>
#endif

namespace headrace {

/// The ops that a program for ExecuTorch's host may consist of: ATen and PT2E's quantization, without ops
/// that neither a kernel nor a pass computes, calls of delegates, kernels of Cortex-M with their buffers, and
/// control flow that instructions have jumps for.
struct executorch_source {
    using without_kernels = ops<aten::_local_scalar_dense, aten::sym_numel, aten::sym_size_int, aten::item,
        aten::_scaled_dot_product_flash_attention_for_cpu, quantized_decomposed::quantize_per_channel_group,
        quantized_decomposed::dequantize_per_channel_group, quantized_decomposed::quantize_per_tensor_tensor2,
        quantized_decomposed::dequantize_per_tensor_tensor2,
        quantized_decomposed::choose_qparams_symmetric_tensor, quantized_decomposed::choose_qparams_per_token,
        quantized_decomposed::fake_quant_per_channel>;
    static constexpr auto set = (every_op<aten::dialect, dim_order_ops::dialect,
                                     quantized_decomposed::dialect, cortex_m::dialect, memory::dialect> -
                                    set_of<without_kernels>) |
        ops_in<higher_order::cond, higher_order::while_loop, higher_order::map_impl, higher_order::scan,
            higher_order::wrap_with_autocast, higher_order::wrap_with_set_grad_enabled,
            executorch::call_delegate>;
};

/// Merges linear maps and folds batch norms before kernels are selected; keeps grouped convolutions, which
/// kernels support.
struct executorch_lowering
    : pipeline_of<from<executorch_source>,
          to<executorch::dialect, cortex_m::dialect, memory::dialect, higher_order::cond,
              higher_order::while_loop, functional, no_dead_code, nodes_sorted>,
          pass_list<inline_regions, scans_to_loops, functionalize, canonicalize_variants, decompose_complex,
              canonicalize_arithmetic, canonicalize_casts, canonicalize_fills, remove_noop,
              canonicalize_convolutions, merge_linear_maps, decompose_batch_norm, store_empty_results,
              remove_dead_code, fold_constants, saturate_quantization, fit_kernels, select_kernels,
              canonicalize_pooling, spell_kernel_ops, fit_kernels, select_kernels, scalars_to_tensors,
              fit_kernels, decompose_add_sub_alpha>,
          composite_passes, pass_list<spell_kernel_ops, fit_kernels, select_kernels>,
          boost::mp11::mp_set_difference<decompose_passes,
              boost::mp11::mp_append<composite_passes,
                  pass_list<merge_linear_maps, decompose_batch_norm, decompose_grouped_convolution>>>,
          pass_list<convolve_slices, remove_dead_code, fold_constants, spell_kernel_ops, store_empty_results,
              fit_kernels, require_kernels, remove_dead_code, sort_topologically>> {};

}  // namespace headrace

#endif
